"""A table of results, and the forms in which people want it."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from candgen.errors import ParameterError
from candgen.reporting.cells import (
    EMPTY,
    Best,
    Cell,
    checked,
    csv_field,
    escaped,
    finite,
    html_row,
    latex,
    latex_row,
    like_a_number,
    markdown,
    markdown_row,
    one_line,
    shown,
)
from candgen.storage.atomic import write_text

if TYPE_CHECKING:
    import rich.table

_DOCUMENT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title></head>
<body>\n{body}\n</body>
</html>"""


@dataclass(frozen=True)
class Table:
    """A title, columns and rows of cells, and perhaps a note.

    Data forms (CSV, JSON) have the values, forms for people have floats with so many ``decimals``,
    and mark those that are ``Best``.

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
            if not isinstance(checked(text, f"the table {self.title!r}"), str):
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
        return tuple(checked(cell, f"row {number} of {self.title!r}") for cell in row)

    def to_csv(self) -> str:
        """A header and the values in full, as RFC 4180 quotes them; an empty field for no value."""
        lines = [self.columns, *self.rows]
        return "".join(",".join(csv_field(cell) for cell in line) + "\n" for line in lines)

    def to_json(self) -> str:
        """Title, note, columns, and an object for each row; null for no value."""
        rows = [
            {name: finite(cell) for name, cell in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]
        made = {"title": self.title, "note": self.note, "columns": self.columns, "rows": rows}
        return json.dumps(made, ensure_ascii=False, indent=2)

    def to_markdown(self) -> str:
        """A table as GitHub reads it."""
        marks = ["---:" if right else ":---" for right in self._right()]
        lines = [markdown_row(map(markdown, self.columns)), f"|{'|'.join(marks)}|"]
        lines += map(markdown_row, self._shown(markdown, best="**{}**"))
        title = markdown(self.title)
        # A note must not begin a list, a heading or a quotation.
        note = re.sub(r"^([0-9]*)(?=[#>+.)=-])", r"\1\\", markdown(self.note))
        return "\n\n".join(filter(None, [title and f"**{title}**", "\n".join(lines), note]))

    def to_latex(self) -> str:
        """A LaTeX table that needs the package booktabs, and no other."""
        rows = [latex_row(map(latex, self.columns)), r"\midrule"]
        rows += map(latex_row, self._shown(latex, best=r"\textbf{{{}}}"))
        alignment = "".join("r" if right else "l" for right in self._right())
        body = "\n".join(f"    {row}" for row in [r"\toprule", *rows, r"\bottomrule"])
        caption, note = latex(self.title), latex(self.note)
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
        right, columns = self._right(), map(escaped, self.columns)
        rows = self._shown(escaped, best="<strong>{}</strong>")
        caption, note = escaped(self.title), escaped(self.note)
        lines = [
            "<table>",
            *([f"<caption>{caption}</caption>"] if caption else []),
            f"<thead>\n{html_row(columns, right, heading='col')}\n</thead>\n<tbody>",
            *(html_row(row, right, heading="row") for row in rows),
            "</tbody>\n</table>",
            *([f'<p class="note">{note}</p>'] if note else []),
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        """Plain text, in columns that are aligned where every character is as wide as it says."""
        from rich.cells import cell_len  # noqa: PLC0415

        lines = [[one_line(name) for name in self.columns], *self._shown()]
        widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["-" * width for width in widths])
        text = [one_line(self.title)]
        for line in lines:
            cells = []
            for cell, width, right in zip(line, widths, self._right(), strict=True):
                gap = " " * (width - cell_len(cell))
                cells.append(gap + cell if right else cell + gap)
            text.append("  ".join(cells).rstrip())
        return "\n".join([*text, one_line(self.note)]).strip("\n")

    def __rich__(self) -> "rich.table.Table":
        """A table for a terminal; nothing in it is read as markup."""
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415
        from rich.cells import cell_len  # noqa: PLC0415
        from rich.table import Table as Shown  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        made = Shown(
            title=Text(one_line(self.title)) if self.title else None,
            title_style="bold",
            title_justify="left",
            caption=Text(one_line(self.note)) if self.note else None,
            caption_justify="left",
            box=SIMPLE_HEAD,
            pad_edge=False,
        )
        rows = self._shown()
        for place, (name, right) in enumerate(zip(self.columns, self._right(), strict=True)):
            # A number that is cut is another number: rather a table that is too wide.
            least = max((cell_len(row[place]) for row in rows), default=0) if right else None
            made.add_column(
                Text(one_line(name)),
                justify="right" if right else "left",
                min_width=least,
                overflow="fold",
            )
        for row in rows:
            made.add_row(*map(Text, row))
        return made

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the whole table, or nothing, in the form that the suffix says."""
        forms = {
            ".csv": self.to_csv,
            ".json": self.to_json,
            ".md": self.to_markdown,
            ".tex": self.to_latex,
            ".html": self._document,
            ".txt": self.__str__,
        }
        suffix = Path(path).suffix
        if suffix not in forms:
            raise ParameterError(
                f"{path} has the suffix {suffix!r}: expected one of {', '.join(forms)}"
            )
        text = forms[suffix]()
        write_text(Path(path), text if text.endswith("\n") else f"{text}\n")

    def _document(self) -> str:
        return _DOCUMENT.format(title=escaped(self.title), body=self.to_html())

    def _shown(
        self, escape: Callable[[str], str] = one_line, *, best: str = "*{}"
    ) -> list[list[str]]:
        """Every cell as people are shown it, in a form that escapes text and marks the best."""
        return [
            [
                best.format(text) if isinstance(cell, Best) else text
                for cell in row
                for text in [escape(shown(cell, self.decimals))]
            ]
            for row in self.rows
        ]

    def _right(self) -> list[bool]:
        """Which columns are aligned on the right: those of numbers."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        filled = [[cell for cell in column if cell not in (None, "", EMPTY)] for column in columns]
        return [bool(cells) and all(map(like_a_number, cells)) for cells in filled]
