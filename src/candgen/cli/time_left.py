"""How long the rest of a long command takes, beside its progress bar."""

import math

from rich.progress import ProgressColumn, Task
from rich.text import Text

MIN_FRACTION = 0.05
"""Before so much is done, the rest cannot be estimated."""


class TimeLeftColumn(ProgressColumn):
    """How long the rest takes if it goes on as fast as until now."""

    def render(self, task: Task) -> Text:
        """Return the time left, in words; nothing at the beginning."""
        if task.completed < MIN_FRACTION or task.elapsed is None:
            return Text("")
        return Text(f"about {_in_words(task.elapsed * (1 / task.completed - 1))} left")


def _in_words(seconds: float) -> str:
    """Return a duration, as exact as an estimate can be.

    >>> _in_words(7), _in_words(48), _in_words(200)
    ('10 s', '50 s', '4 min')
    """
    if seconds <= 90:
        return f"{10 * math.ceil(seconds / 10)} s"
    return f"{math.ceil(seconds / 60)} min"
