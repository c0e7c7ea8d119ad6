"""The languages that a client accepts: the header Accept-Language."""

from functools import lru_cache

from starlette.requests import Request


def languages_of(request: Request) -> tuple[str, ...]:
    """Return the languages that the client of a request accepts, the preferred one first."""
    return parse_accept_language(request.headers.get("accept-language", ""))


@lru_cache(maxsize=256)
def parse_accept_language(header: str) -> tuple[str, ...]:
    """Return the languages of the header, each followed by its primary language.

    >>> parse_accept_language("da;q=0.5, nn-NO, en;q=0.8, *;q=0.1, de;q=0")
    ('nn-no', 'nn', 'en', 'da')
    """
    weighted: list[tuple[float, str]] = []
    for part in header.split(",")[:20]:
        language, _, parameter = part.strip().partition(";")
        name, _, value = parameter.strip().partition("=")
        try:
            quality = float(value) if name.strip() == "q" else 1.0
        except ValueError:
            continue
        if language and language != "*" and quality > 0:
            weighted.append((-quality, language.strip().lower()))
    languages: dict[str, None] = {}
    for _, language in sorted(weighted, key=lambda each: each[0]):
        languages[language] = None
        languages.setdefault(language.split("-")[0], None)
    return tuple(languages)
