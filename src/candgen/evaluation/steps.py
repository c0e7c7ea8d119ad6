"""The steps of a long run: which one of how many, and how much of the whole is done."""

from collections.abc import Mapping

from candgen.protocols import Progress

NEARLY_DONE = 0.99
"""A bar never stands full while work goes on."""


class Steps:
    """Reports the progress of each step as that of the whole.

    ``shares`` are the steps in their order, each with the part of the time that it is expected to
    take, in any unit.

    >>> steps = Steps(lambda doing, fraction: print(f"{doing}: {fraction:.2f}"),
    ...               {"choosing pivots": 1, "building": 3})
    >>> report = steps.start("choosing pivots", measured=True)
    step 1 of 2, choosing pivots: 0.00
    >>> report("looking at is", 0.5)
    step 1 of 2, choosing pivots (looking at is): 0.12
    >>> report = steps.start("building")
    step 2 of 2, building: 0.25
    >>> report("counting is", 0.5)
    step 2 of 2, building (counting is): 0.25
    """

    def __init__(self, progress: Progress, shares: Mapping[str, float]) -> None:
        self._progress = progress
        self._shares = dict(shares)

    def start(self, name: str, *, measured: bool = False) -> Progress:
        """Begin a step, and return what its work calls.

        ``measured`` says that the fractions which the work reports are those of the whole step;
        those of a step that consists of many parts are not.
        """
        names = list(self._shares)
        number = names.index(name)
        whole = sum(self._shares.values())
        before = sum(self._shares[each] for each in names[:number]) / whole
        title = f"step {number + 1} of {len(names)}, {name}"
        reached = before

        def report(doing: str, fraction: float) -> None:
            nonlocal reached
            if measured:
                part = self._shares[name] / whole * min(max(fraction, 0.0), 1.0)
                reached = max(reached, before + part)
            self._progress(f"{title} ({doing})", min(reached, NEARLY_DONE))

        self._progress(title, before)
        return report
