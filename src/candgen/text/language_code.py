"""Codes of languages, as Wikipedia has them."""

import re


def base_language(language: str | None) -> str:
    """Return a code without script, region or variant; an empty string for None.

    >>> base_language("az-Latn"), base_language("BE_tarask"), base_language(None)
    ('az', 'be', '')
    """
    return re.split("[-_]", language.lower())[0] if language else ""
