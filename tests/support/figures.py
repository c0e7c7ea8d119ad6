"""Figures for tests."""

from candgen.reporting.figure import Figure, Panel, Series

TYPES = ("easy", "medium", "hard")


def figure(kind="lines", *panels, **options):
    defaults = {"name": "recall", "title": "Recall", "x_label": "k", "y_label": "recall@k, %"}
    return Figure(kind=kind, panels=panels or (panel("fo"),), **{**defaults, **options})


def panel(title, *series):
    return Panel(title, series or (Series("PTI", (10, 30), (65.2, 81.0)),))


def many(count, x=TYPES):
    return [
        Series(f"method {n}", x, tuple(10.0 * n + i for i in range(len(x)))) for n in range(count)
    ]
