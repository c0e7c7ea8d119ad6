"""A table of results, and its forms: plain text, terminal, CSV, JSON, Markdown, LaTeX and HTML."""

import html
import json
import math
import numbers
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from candgen.errors import ParameterError, check_whole_number
from candgen.storage.atomic import write_text

if TYPE_CHECKING:
    import rich.table

Cell = str | int | float | None
"""A value of a table. None and a float that is not a number mean: no value."""
Record = TypeVar("Record")

_EMPTY = "–"  # what is shown where there is no value
_MINUS = "\N{MINUS SIGN}"
_CONTROLS = re.compile("[\x00-\x20\x7f-\x9f\u2028\u2029]+")
_NUMBER = re.compile("[<>≤≥≈±+−-]? ?[0-9]")
_MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=[#\w])")
# LaTeX draws each of these pairs as one dash or one quotation mark, unless {} is between them.
_LIGATURE = re.compile(r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=[?!])(?=`)|(?<=,)(?=,)")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "−": "$-$",  # numbers are shown with this one and the next, which plain LaTeX lacks
        "∞": r"$\infty$",
        **{character: f"\\{character}" for character in "{}$&#%_"},
    }
)
_DOCUMENT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title></head>
<body>\n{body}\n</body>
</html>"""


def _one_line(text: str) -> str:
    """Return the text without line breaks and other control characters."""
    return _CONTROLS.sub(" ", text).strip(" ")


class Difference(float):
    """A difference, shown with its sign.

    >>> print(Table("", ("change",), ((Difference(0.31),), (Difference(-1.2),))))
    change
    ------
      +0.3
      −1.2
    """

    __slots__ = ()


class Best(float):
    """A number that is emphasised: bold where possible, with a star in plain text.

    >>> print(Table("", ("method", "recall"), (("pti", Best(74.4)), ("other", 68.0))))
    method  recall
    ------  ------
    pti      *74.4
    other     68.0
    """

    __slots__ = ()


@dataclass(frozen=True)
class Table:
    """A title, columns, rows of cells, and a note that may be empty.

    Data forms (CSV, JSON) have the values in full. Forms for people show floats with ``decimals``
    digits after the point, and emphasise those that are ``Best``.

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
        """Check every field, and turn sequences into tuples and NumPy's numbers into Python's."""
        names = tuple(self.columns)
        if not names or len(set(names)) < len(names):
            raise ParameterError(
                f"the columns of {self.title!r} are {self.columns!r}: expected names that differ"
            )
        check_whole_number("decimals", self.decimals, minimum=0)
        for text in (self.title, self.note, *names):
            if not isinstance(_check_cell(text, f"the table {self.title!r}"), str):
                raise ParameterError(f"{text!r} is a title, note or column: expected a string")
        object.__setattr__(self, "columns", names)
        rows = tuple(self._check_row(number, row) for number, row in enumerate(self.rows, start=1))
        object.__setattr__(self, "rows", rows)

    def _check_row(self, number: int, row: tuple[Cell, ...]) -> tuple[Cell, ...]:
        if len(row) != len(self.columns):
            raise ParameterError(
                f"row {number} of {self.title!r} has {len(row)} cells: "
                f"expected {len(self.columns)}, one for each column"
            )
        return tuple(_check_cell(cell, f"row {number} of {self.title!r}") for cell in row)

    @classmethod
    def of(
        cls,
        title: str,
        columns: Mapping[str, Callable[[Record], Cell]],
        records: Iterable[Record],
        *,
        note: str = "",
        decimals: int = 1,
    ) -> "Table":
        """Return a table with a row for each record; each column is a function of a record.

        >>> print(Table.of("", {"name": str, "length": len}, ["Vín", "Wien"]))
        name  length
        ----  ------
        Vín        3
        Wien       4
        """
        rows = tuple(tuple(cell(each) for cell in columns.values()) for each in records)
        return cls(title, tuple(columns), rows, note, decimals)

    def to_csv(self) -> str:
        """Return a header and the values in full, quoted as in RFC 4180; empty for no value."""
        lines = [self.columns, *self.rows]
        return "".join(",".join(map(_csv_field, line)) + "\n" for line in lines)

    def to_json(self) -> str:
        """Return title, note, columns, and an object for each row; null for no value."""
        rows = [dict(zip(self.columns, map(_json_value, row), strict=True)) for row in self.rows]
        made = {"title": self.title, "note": self.note, "columns": self.columns, "rows": rows}
        return json.dumps(made, ensure_ascii=False, indent=2)

    def to_markdown(self) -> str:
        """Return a table in GitHub's Markdown."""
        header, *rows = self._texts(_escape_markdown, best="**{}**")
        marks = "|".join("---:" if right else ":---" for right in self._right())
        lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
        lines.insert(1, f"|{marks}|")
        title = _escape_markdown(self.title)
        # A note must not begin a list, a heading or a quotation.
        note = re.sub(r"^([0-9]*)(?=[#>+.)=-])", r"\1\\", _escape_markdown(self.note))
        return "\n\n".join(filter(None, [title and f"**{title}**", "\n".join(lines), note]))

    def to_latex(self) -> str:
        """Return a LaTeX table that needs the package booktabs and no other."""
        header, *rows = map(_latex_row, self._texts(_escape_latex, best=r"\textbf{{{}}}"))
        alignment = "".join("r" if right else "l" for right in self._right())
        body = [r"\toprule", header, r"\midrule", *rows, r"\bottomrule"]
        caption, note = _escape_latex(self.title), _escape_latex(self.note)
        lines = [
            "\\begin{table}\n  \\centering",
            *([f"  \\caption{{{caption}}}"] if caption else []),
            f"  \\begin{{tabular}}{{{alignment}}}",
            *(f"    {row}" for row in body),
            r"  \end{tabular}",
            *([f"  \\par\\smallskip{{\\footnotesize {note}\\par}}"] if note else []),
            r"\end{table}",
        ]
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return a table element, with the note in a paragraph after it; not a whole document."""
        right = self._right()
        header, *rows = self._texts(_escape_html, best="<strong>{}</strong>")
        caption, note = _escape_html(self.title), _escape_html(self.note)
        lines = [
            "<table>",
            *([f"<caption>{caption}</caption>"] if caption else []),
            f"<thead>\n{_html_row(header, right, scope='col')}\n</thead>\n<tbody>",
            *(_html_row(row, right, scope="row") for row in rows),
            "</tbody>\n</table>",
            *([f'<p class="note">{note}</p>'] if note else []),
        ]
        return "\n".join(lines)

    def to_document(self) -> str:
        """Return an HTML document that holds the table."""
        return _DOCUMENT.format(title=_escape_html(self.title), body=self.to_html())

    def __str__(self) -> str:
        """Return plain text in columns that are aligned in a monospaced font."""
        from rich.cells import cell_len  # noqa: PLC0415

        lines = self._texts()
        widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["-" * width for width in widths])
        text = [_one_line(self.title)]
        for line in lines:
            padded = []
            for cell, width, right in zip(line, widths, self._right(), strict=True):
                gap = " " * (width - cell_len(cell))
                padded.append(gap + cell if right else cell + gap)
            text.append("  ".join(padded).rstrip())
        return "\n".join([*text, _one_line(self.note)]).strip("\n")

    def __rich__(self) -> "rich.table.Table":
        """Return a table for a terminal; nothing in it is read as markup."""
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415
        from rich.cells import cell_len  # noqa: PLC0415
        from rich.table import Table as RichTable  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        made = RichTable(
            title=Text(_one_line(self.title)) if self.title else None,
            title_style="bold",
            title_justify="left",
            caption=Text(_one_line(self.note)) if self.note else None,
            caption_justify="left",
            box=SIMPLE_HEAD,
            pad_edge=False,
        )
        header, *rows = self._texts()
        for place, (name, right) in enumerate(zip(header, self._right(), strict=True)):
            # A number that is cut is another number: the table becomes too wide instead.
            width = max((cell_len(row[place]) for row in rows), default=0) if right else None
            justify = "right" if right else "left"
            made.add_column(Text(name), justify=justify, min_width=width, overflow="fold")  # type: ignore[arg-type]
        for row in rows:
            made.add_row(*map(Text, row))
        return made

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table atomically, in the form that the suffix names."""
        forms = {
            ".csv": self.to_csv,
            ".json": self.to_json,
            ".md": self.to_markdown,
            ".tex": self.to_latex,
            ".html": self.to_document,
            ".txt": self.__str__,
        }
        suffix = Path(path).suffix
        if suffix not in forms:
            raise ParameterError(
                f"{path} has the suffix {suffix!r}: expected one of {', '.join(forms)}"
            )
        write_text(Path(path), forms[suffix]().removesuffix("\n") + "\n")

    def _texts(
        self, escape: Callable[[str], str] = _one_line, *, best: str = "*{}"
    ) -> list[list[str]]:
        """Return the header and all rows as people see them, in a form that escapes text."""
        return [
            [escape(name) for name in self.columns],
            *(
                [
                    best.format(text) if isinstance(cell, Best) else text
                    for cell in row
                    for text in [escape(_format_cell(cell, self.decimals))]
                ]
                for row in self.rows
            ),
        ]

    def _right(self) -> list[bool]:
        """Return which columns are aligned on the right: those of numbers."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        filled = [[cell for cell in column if cell not in (None, "", _EMPTY)] for column in columns]
        return [bool(cells) and all(map(_is_numeric, cells)) for cells in filled]


def _check_cell(cell: object, where: str) -> Cell:
    """Return a cell of a type that every form knows; NumPy's numbers become Python's."""
    if cell is None or isinstance(cell, float):
        return cell
    if isinstance(cell, str):
        if any("\ud800" <= character <= "\udfff" for character in cell):
            raise ParameterError(
                f"{where} has {cell!r}, with half a surrogate pair: expected valid Unicode"
            )
        return cell
    if isinstance(cell, bool) or not isinstance(cell, numbers.Real):
        raise ParameterError(f"{where} has {cell!r}: expected a string, a number or None")
    return int(cell) if isinstance(cell, numbers.Integral) else float(cell)


def _is_numeric(cell: Cell) -> bool:
    """Return whether a cell is a number, or a string that begins like one: <1."""
    return not isinstance(cell, str) or _NUMBER.match(cell) is not None


def _format_cell(cell: Cell, decimals: int) -> str:
    """Return a cell as people see it."""
    if isinstance(cell, str):
        return _one_line(cell)
    if cell is None or math.isnan(cell):
        return _EMPTY
    if isinstance(cell, int):
        return f"{cell:,}".replace("-", _MINUS)
    text = f"{abs(cell):.{decimals}f}" if math.isfinite(cell) else "∞"
    if not text.strip("0."):
        return text  # what is rounded to 0 has no sign
    if cell < 0:
        return _MINUS + text
    return f"+{text}" if isinstance(cell, Difference) else text


def _json_value(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _csv_field(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    text = repr(float(cell)) if isinstance(cell, float) else str(cell)
    # The writer of the csv module does not quote a lone carriage return, and its reader needs it.
    return '"' + text.replace('"', '""') + '"' if re.search('[,"\r\n]', text) else text


def _escape_markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", _one_line(text))


def _escape_latex(text: str) -> str:
    return "{}".join(part.translate(_LATEX) for part in _LIGATURE.split(_one_line(text)))


def _latex_row(cells: Iterable[str]) -> str:
    row = " & ".join(cells)
    # After the end of a row, LaTeX would read a bracket or a star as an argument of that end.
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def _escape_html(text: str) -> str:
    return html.escape(_one_line(text))


def _html_row(cells: Iterable[str], right: Iterable[bool], *, scope: str) -> str:
    """Return a row of cells that are HTML already; ``scope`` is what its first cell heads."""
    made = []
    for place, (text, number) in enumerate(zip(cells, right, strict=True)):
        # The corner above the names of rows is often empty: then it is not a heading.
        heads = text and (scope == "col" or place == 0)
        start, end = (f'th scope="{scope}"', "th") if heads else ("td", "td")
        style = ' class="number"' if number else ""
        made.append(f"<{start}{style}>{text}</{end}>")
    return f"<tr>{''.join(made)}</tr>"
