"""What the cells of a table are, and how each form of a table writes them."""

import html
import math
import numbers
import re
from collections.abc import Iterable

from candgen.errors import ParameterError

Cell = str | int | float | None
"""What a table holds. None, and a float that is not a number, say that there is no value."""

EMPTY = "–"
"""How people are shown that there is no value."""

_MINUS = "\N{MINUS SIGN}"
_CONTROLS = re.compile("[\x00-\x20\x7f-\x9f\u2028\u2029]+")
_LIKE_A_NUMBER = re.compile("[<>≤≥≈±+−-]? ?[0-9]")
_MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=[#\w])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "∞": r"$\infty$",  # numbers are shown with these, and plain LaTeX has them not
    **{character: f"\\{character}" for character in "{}$&#%_"},
}


class Difference(float):
    """A difference, shown with its sign.

    >>> from candgen.reporting.table import Table
    >>> print(Table("", ("change",), ((Difference(0.31),), (Difference(-1.2),))))
    change
    ------
      +0.3
      −1.2
    """

    __slots__ = ()


class Best(float):
    """A number that stands out: bold where that can be shown, after a star in plain text.

    >>> from candgen.reporting.table import Table
    >>> print(Table("", ("method", "recall"), (("pti", Best(74.4)), ("other", 68.0))))
    method  recall
    ------  ------
    pti      *74.4
    other     68.0
    """

    __slots__ = ()


def checked(cell: object, where: str) -> Cell:
    """A cell of a kind that every form knows; NumPy's numbers become Python's."""
    if cell is None or isinstance(cell, float):
        return cell
    if isinstance(cell, str):
        if any("\ud800" <= character <= "\udfff" for character in cell):
            raise ParameterError(f"{where} has {cell!r}, half a character: UTF-8 cannot hold it")
        return cell
    if isinstance(cell, bool) or not isinstance(cell, numbers.Real):
        raise ParameterError(f"{where} has {cell!r}: expected a string, a number or None")
    return int(cell) if isinstance(cell, numbers.Integral) else float(cell)


def finite(cell: Cell) -> Cell:
    """The cell, or None for what JSON has no number for."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def like_a_number(cell: Cell) -> bool:
    """Whether it is a number, or a string that begins like one: <1."""
    return not isinstance(cell, str) or _LIKE_A_NUMBER.match(cell) is not None


def shown(cell: Cell, decimals: int) -> str:
    """A cell as people are shown it."""
    if isinstance(cell, str):
        return one_line(cell)
    if cell is None or math.isnan(cell):
        return EMPTY
    if isinstance(cell, int):
        return f"{cell:,}".replace("-", _MINUS)
    text = f"{abs(cell):.{decimals}f}" if math.isfinite(cell) else "∞"
    if not text.strip("0."):
        return text  # what is rounded to nothing has no sign
    if cell < 0:
        return _MINUS + text
    return f"+{text}" if isinstance(cell, Difference) else text


def one_line(text: str) -> str:
    """The text without line breaks, nor anything else that would steer a terminal."""
    return _CONTROLS.sub(" ", text).strip(" ")


def csv_field(cell: Cell) -> str:
    """A field of CSV: the value in full, quoted where it has to be."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    text = repr(float(cell)) if isinstance(cell, float) else str(cell)
    # The writer of the csv module does not quote a lone carriage return, and its reader needs it.
    return '"' + text.replace('"', '""') + '"' if re.search('[,"\r\n]', text) else text


def markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _MARKDOWN.sub(r"\\\g<0>", one_line(text))


def markdown_row(cells: Iterable[str]) -> str:
    """A row of a table as GitHub reads it."""
    return f"| {' | '.join(cells)} |"


def latex(text: str) -> str:
    """Text that LaTeX shows as it is."""
    # What LaTeX would draw as one dash or one quotation mark is kept apart.
    apart = re.split(
        r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=[?!])(?=`)|(?<=,)(?=,)", one_line(text)
    )
    return "{}".join("".join(_LATEX.get(c, c) for c in part) for part in apart)


def latex_row(cells: Iterable[str]) -> str:
    """A row of a tabular."""
    row = " & ".join(cells)
    # After the end of a row, a bracket or a star would be taken for an argument of that end.
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def escaped(text: str) -> str:
    """Text that HTML shows as it is."""
    return html.escape(one_line(text))


def html_row(cells: Iterable[str], right: Iterable[bool], *, heading: str) -> str:
    """A row of cells that are HTML already; ``heading`` says what its first cell heads."""
    made = []
    for place, (text, number) in enumerate(zip(cells, right, strict=True)):
        # The corner above the names of rows is often empty, and then heads nothing.
        heads = text and (heading == "col" or place == 0)
        start, end = (f'th scope="{heading}"', "th") if heads else ("td", "td")
        kind = ' class="number"' if number else ""
        made.append(f"<{start}{kind}>{text}</{end}>")
    return f"<tr>{''.join(made)}</tr>"
