"""JSON values as lines for people: what ``candgen info`` shows of a generator."""

from typing import Any

LISTED = 12
"""The most members of a list or an object that are shown; --format json has all."""
POINTS = 40
"""The most points of a curve."""
LINE = 80
DEPTH = 8
"""The deepest members of members that are shown."""
_HEIGHTS = "▁▂▃▄▅▆▇█"


def facts_of(name: str, value: Any, depth: int = 0) -> list[tuple[str, str]]:  # noqa: ANN401
    """Return a value as rows of a name and a text; members of a long value are indented below.

    >>> facts_of("released", False), facts_of("dev_recall", [20.0, 30.0, 61.0, 58.0])
    ([('released', 'no')], [('dev recall', '▁▃█▇ 20 to 58, highest 61')])
    >>> facts_of("tiers", [{"name": "words", "languages": ["fo", "is"]}])
    [('tiers', ''), ('  words', 'languages fo, is')]
    >>> facts_of("parts", [{"kind": "pti", "parameters": {"lam": 0.4}}])
    [('parts', ''), ('  part0: pti', 'lam 0.4')]
    """
    label = "  " * depth + name.replace("_", " ")
    if (text := in_words(value)) is not None:
        return [(label, text)]
    if depth == DEPTH:
        return [(label, "(--format json has all)")]
    rows = [(label, "")]
    members = _members(name, value)
    for inner, member in members[:LISTED]:
        rows += facts_of(inner, member, depth + 1)
    if (more := len(members) - LISTED) > 0:
        rows.append(("  " * (depth + 1) + f"{more:,} more", "(--format json has all)"))
    return rows


def in_words(value: Any, depth: int = 0) -> str | None:  # noqa: ANN401
    """Return a value in one line, or None if it does not fit, or is nested deep.

    >>> in_words({"tokenizer": {"kind": "words"}, "languages": ["fo"], "fill": True})
    'tokenizer (kind words), languages fo, fill yes'
    """
    text: str | None = _scalar(value) if not isinstance(value, dict | list) else None
    if isinstance(value, dict) and depth < DEPTH:
        inside = [
            (key, in_words(each, depth + 1), isinstance(each, dict)) for key, each in value.items()
        ]
        if not any(each is None for _, each, _ in inside):
            text = ", ".join(
                f"{key} ({each})" if deep else f"{key} {each}" for key, each, deep in inside
            )
    elif isinstance(value, list) and len(value) > 3 and all(map(_is_number, value)):
        text = sparkline(value)
    elif isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
        text = ", ".join(map(_scalar, value))
    if text is None or (len(text) > LINE and isinstance(value, dict | list)):
        return None
    return text or "none"


def _members(name: str, value: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    """Return the members of a value; those of a list have names of their own, or numbers."""
    if isinstance(value, dict):
        return sorted(value.items())
    return [_named(f"{name.removesuffix('s')}{number}", each) for number, each in enumerate(value)]


def _named(name: str, member: Any) -> tuple[str, Any]:  # noqa: ANN401
    """Return a member and its name; a tier has a name, a nested generator has a kind."""
    if isinstance(member, dict) and isinstance(member.get("name"), str):
        return member["name"], {key: each for key, each in member.items() if key != "name"}
    if isinstance(member, dict) and member.keys() == {"kind", "parameters"}:
        return f"{name}: {member['kind']}", member["parameters"]
    return name, member


def _scalar(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def sparkline(values: list[float]) -> str:
    """Return numbers as a small curve, with its ends and its highest point.

    >>> sparkline([1, 2, 3, 2])
    '▁▅█▅ 1 to 2, highest 3'
    """
    low, high = min(values), max(values)
    width = (high - low) or 1
    top = len(_HEIGHTS) - 1
    every = -(-len(values) // POINTS)
    curve = "".join(_HEIGHTS[round((value - low) / width * top)] for value in values[::every])
    return f"{curve} {values[0]:.4g} to {values[-1]:.4g}, highest {high:.4g}"
