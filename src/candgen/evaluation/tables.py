"""A table of results, and the forms in which people want it."""

import html
import json
import math
import numbers
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from candgen.errors import ParameterError
from candgen.files import write_text

if TYPE_CHECKING:
    import rich.table

Cell = str | int | float | None
"""What a table holds. None, and a float that is not a number, say that there is no value."""

EMPTY = "–"
"""How people are shown that there is no value."""

_MINUS = "\N{MINUS SIGN}"
_CONTROLS = re.compile("[\x00-\x20\x7f-\x9f\u2028\u2029]+")
_LIKE_A_NUMBER = re.compile("[<>≤≥≈±+−-]? ?[0-9]")
_MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=[#\w])")
_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "−": "$-$", "∞": r"$\infty$",  # numbers are shown with these, and plain LaTeX has them not
    **{character: f"\\{character}" for character in "{}$&#%_"},
}  # fmt: skip
_DOCUMENT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title></head>
<body>\n{body}\n</body>
</html>"""


class Difference(float):
    """A difference, shown with its sign.

    >>> print(Table("", ("change",), ((Difference(0.31),), (Difference(-1.2),))))
    change
    ------
      +0.3
      −1.2
    """

    __slots__ = ()


@dataclass(frozen=True)
class Table:
    """A title, columns and rows of cells, and perhaps a note.

    Data forms (CSV, JSON) have the values, forms for people have floats with so many ``decimals``.

    >>> print(Table("Recall@30", ("method", "recall", "queries"), (("PTI", 89.533, 1500),)))
    Recall@30
    method  recall  queries
    ------  ------  -------
    PTI       89.5    1,500
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    decimals: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no table, and turn other kinds of sequences and numbers into ours."""
        names = tuple(self.columns)
        if not names or len(set(names)) < len(names):
            raise ParameterError(
                f"the columns of {self.title!r} are {self.columns!r}: expected names that differ"
            )
        if not isinstance(self.decimals, int) or self.decimals < 0:
            raise ParameterError(
                f"decimals is {self.decimals!r}: expected a whole number of at least 0"
            )
        for text in (self.title, self.note, *names):
            if not isinstance(_checked(text, f"the table {self.title!r}"), str):
                raise ParameterError(f"{text!r} is a title, note or column: expected a string")
        object.__setattr__(self, "columns", names)
        rows = tuple(self._row(number, row) for number, row in enumerate(self.rows, start=1))
        object.__setattr__(self, "rows", rows)

    def _row(self, number: int, row: tuple[Cell, ...]) -> tuple[Cell, ...]:
        if len(row) != len(self.columns):
            raise ParameterError(
                f"row {number} of {self.title!r} has {len(row)} cells: "
                f"expected {len(self.columns)}, one for each column"
            )
        return tuple(_checked(cell, f"row {number} of {self.title!r}") for cell in row)

    def to_csv(self) -> str:
        """A header and the values in full, as RFC 4180 quotes them; an empty field for no value."""
        lines = [self.columns, *self.rows]
        return "".join(",".join(_csv(cell) for cell in line) + "\n" for line in lines)

    def to_json(self) -> str:
        """Title, note, columns, and an object for each row; null for no value."""
        rows = [
            {name: _finite(cell) for name, cell in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]
        made = {"title": self.title, "note": self.note, "columns": self.columns, "rows": rows}
        return json.dumps(made, ensure_ascii=False, indent=2)

    def to_markdown(self) -> str:
        """A table as GitHub reads it."""
        marks = ["---:" if right else ":---" for right in self._right()]
        lines = [_markdown_row(map(_markdown, self.columns)), f"|{'|'.join(marks)}|"]
        lines += [_markdown_row(map(_markdown, row)) for row in self._shown()]
        title = _markdown(self.title)
        # A note must not begin a list, a heading or a quotation.
        note = re.sub(r"^([0-9]*)(?=[#>+.)=-])", r"\1\\", _markdown(self.note))
        return "\n\n".join(filter(None, [title and f"**{title}**", "\n".join(lines), note]))

    def to_latex(self) -> str:
        """A LaTeX table that needs the package booktabs, and no other."""
        rows = [_latex_row(map(_latex, self.columns)), r"\midrule"]
        rows += [_latex_row(map(_latex, row)) for row in self._shown()]
        alignment = "".join("r" if right else "l" for right in self._right())
        body = "\n".join(f"    {row}" for row in [r"\toprule", *rows, r"\bottomrule"])
        caption, note = _latex(self.title), _latex(self.note)
        lines = [
            "\\begin{table}\n  \\centering",
            *([f"  \\caption{{{caption}}}"] if caption else []),
            f"  \\begin{{tabular}}{{{alignment}}}",
            body,
            r"  \end{tabular}",
            *([f"  \\par\\smallskip{{\\footnotesize {note}\\par}}"] if note else []),
            r"\end{table}",
        ]
        return "\n".join(lines)

    def to_html(self) -> str:
        """A table element, with the note in a paragraph after it; not yet a document."""
        right = self._right()
        caption, note = html.escape(_one_line(self.title)), html.escape(_one_line(self.note))
        lines = [
            "<table>",
            *([f"<caption>{caption}</caption>"] if caption else []),
            f"<thead>\n{_html_row(self.columns, right, heading='col')}\n</thead>\n<tbody>",
            *(_html_row(row, right, heading="row") for row in self._shown()),
            "</tbody>\n</table>",
            *([f'<p class="note">{note}</p>'] if note else []),
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        """Plain text, in columns that are aligned where every character is as wide as it says."""
        from rich.cells import cell_len  # noqa: PLC0415 (who wants CSV need not wait for it)

        lines = [[_one_line(name) for name in self.columns], *self._shown()]
        widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["-" * width for width in widths])
        text = [_one_line(self.title)]
        for line in lines:
            cells = []
            for cell, width, right in zip(line, widths, self._right(), strict=True):
                gap = " " * (width - cell_len(cell))
                cells.append(gap + cell if right else cell + gap)
            text.append("  ".join(cells).rstrip())
        return "\n".join([*text, _one_line(self.note)]).strip("\n")

    def __rich__(self) -> "rich.table.Table":
        """A table for a terminal; nothing in it is read as markup."""
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415
        from rich.cells import cell_len  # noqa: PLC0415
        from rich.table import Table as Shown  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        made = Shown(
            title=Text(_one_line(self.title)) if self.title else None, title_style="bold",
            title_justify="left", caption=Text(_one_line(self.note)) if self.note else None,
            caption_justify="left", box=SIMPLE_HEAD, pad_edge=False,
        )  # fmt: skip
        rows = self._shown()
        for place, (name, right) in enumerate(zip(self.columns, self._right(), strict=True)):
            # A number that is cut is another number: rather a table that is too wide.
            least = max((cell_len(row[place]) for row in rows), default=0) if right else None
            made.add_column(
                Text(_one_line(name)), justify="right" if right else "left", min_width=least,
                overflow="fold",
            )  # fmt: skip
        for row in rows:
            made.add_row(*map(Text, row))
        return made

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the whole table, or nothing, in the form that the suffix says."""
        forms = {
            ".csv": self.to_csv, ".json": self.to_json, ".md": self.to_markdown,
            ".tex": self.to_latex, ".html": self._document, ".txt": self.__str__,
        }  # fmt: skip
        suffix = Path(path).suffix
        if suffix not in forms:
            raise ParameterError(
                f"{path} has the suffix {suffix!r}: expected one of {', '.join(forms)}"
            )
        text = forms[suffix]()
        write_text(Path(path), text if text.endswith("\n") else f"{text}\n")

    def _document(self) -> str:
        return _DOCUMENT.format(title=html.escape(_one_line(self.title)), body=self.to_html())

    def _shown(self) -> list[list[str]]:
        return [[_shown(cell, self.decimals) for cell in row] for row in self.rows]

    def _right(self) -> list[bool]:
        """Which columns are aligned on the right: those of numbers."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        filled = [[cell for cell in column if cell not in (None, "", EMPTY)] for column in columns]
        return [bool(cells) and all(map(_like_a_number, cells)) for cells in filled]


def _checked(cell: object, where: str) -> Cell:
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


def _finite(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _like_a_number(cell: Cell) -> bool:
    return not isinstance(cell, str) or _LIKE_A_NUMBER.match(cell) is not None


def _shown(cell: Cell, decimals: int) -> str:
    """A cell as people are shown it."""
    if isinstance(cell, str):
        return _one_line(cell)
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


def _one_line(text: str) -> str:
    """The text without line breaks, nor anything else that would steer a terminal."""
    return _CONTROLS.sub(" ", text).strip(" ")


def _csv(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    text = repr(float(cell)) if isinstance(cell, float) else str(cell)
    # The writer of the csv module does not quote a lone carriage return, and its reader needs it.
    return '"' + text.replace('"', '""') + '"' if re.search('[,"\r\n]', text) else text


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", _one_line(text))


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex(text: str) -> str:
    # What LaTeX would draw as one dash or one quotation mark is kept apart.
    apart = re.split(
        r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=[?!])(?=`)|(?<=,)(?=,)", _one_line(text)
    )
    return "{}".join("".join(_LATEX.get(c, c) for c in part) for part in apart)


def _latex_row(cells: Iterable[str]) -> str:
    row = " & ".join(cells)
    # After the end of a row, a bracket or a star would be taken for an argument of that end.
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def _html_row(cells: Iterable[str], right: Iterable[bool], *, heading: str) -> str:
    made = []
    for place, (cell, number) in enumerate(zip(cells, right, strict=True)):
        text = html.escape(_one_line(cell))
        # The corner above the names of rows is often empty, and then heads nothing.
        heads = text and (heading == "col" or place == 0)
        start, end = (f'th scope="{heading}"', "th") if heads else ("td", "td")
        kind = ' class="number"' if number else ""
        made.append(f"<{start}{kind}>{text}</{end}>")
    return f"<tr>{''.join(made)}</tr>"
