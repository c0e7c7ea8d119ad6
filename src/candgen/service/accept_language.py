"""Which languages a client wants to read: what Accept-Language says."""

from functools import lru_cache


@lru_cache(maxsize=256)
def accepted(header: str) -> tuple[str, ...]:
    """Languages, the most wanted first, each followed by what it is a variety of.

    >>> accepted("da;q=0.5, nn-NO, en;q=0.8, *;q=0.1, de;q=0")
    ('nn-no', 'nn', 'en', 'da')
    """
    wanted: list[tuple[float, str]] = []
    for part in header.split(",")[:20]:
        language, _, parameter = part.strip().partition(";")
        name, _, value = parameter.strip().partition("=")
        try:
            quality = float(value) if name.strip() == "q" else 1.0
        except ValueError:
            continue
        if language and language != "*" and quality > 0:
            wanted.append((-quality, language.strip().lower()))
    found: dict[str, None] = {}
    for _, language in sorted(wanted, key=lambda each: each[0]):
        found[language] = None
        found.setdefault(language.split("-")[0], None)
    return tuple(found)
