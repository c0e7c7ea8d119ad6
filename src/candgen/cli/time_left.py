"""How long the rest of a long command takes, beside its progress bar."""

import math

from rich.progress import ProgressColumn, Task
from rich.table import Column
from rich.text import Text

MIN_FRACTION = 0.1
"""Before so much is done, the rest cannot be estimated."""


class TimeLeftColumn(ProgressColumn):
    """How long the rest takes, estimated whenever something more is done, and counted down.

    A step that takes longer than expected slows the clock down: it never reaches zero.
    """

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))
        self._done, self._since = 0.0, 0.0

    def render(self, task: Task) -> Text:
        """Return the time left, in words; nothing at the beginning."""
        if task.completed < MIN_FRACTION or task.elapsed is None:
            return Text("")
        if task.completed != self._done:
            self._done, self._since = task.completed, task.elapsed
        estimate = self._since * (1 / self._done - 1)
        return Text(f"about {_in_words(_count_down(estimate, task.elapsed - self._since))} left")


def _count_down(estimate: float, passed: float) -> float:
    """Return the seconds left when some have passed since they were estimated.

    >>> [round(_count_down(60, passed)) for passed in (0, 6, 60, 120)]
    [60, 54, 22, 8]
    """
    return estimate * math.exp(-passed / max(estimate, 1e-9))


def _in_words(seconds: float) -> str:
    """Return a duration, as exact as an estimate can be.

    >>> _in_words(7), _in_words(48), _in_words(200)
    ('10 s', '50 s', '4 min')
    """
    if seconds <= 90:
        return f"{10 * math.ceil(seconds / 10)} s"
    return f"{math.ceil(seconds / 60)} min"
