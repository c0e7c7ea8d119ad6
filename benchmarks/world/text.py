"""Columns of text."""

import unicodedata

import pyarrow as pa
import pyarrow.compute as pc

TEXT = pa.large_string()


def scalar(text: str) -> pa.Scalar:
    """A string that Arrow repeats in every row."""
    return pa.scalar(text, TEXT)


def join(*parts: pa.Array | str) -> pa.Array:
    """Join columns of text row by row."""
    columns = [scalar(part) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*columns, scalar(""))


def initial(text: pa.Array) -> pa.Array:
    """The first letter of each row."""
    return pc.utf8_slice_codeunits(text, 0, 1)


def fold(text: str) -> str:
    """What every normalizer leaves as it is: casefolded, no combining marks, NFKC."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(c for c in decomposed if not unicodedata.combining(c))
    return unicodedata.normalize("NFKC", kept)
