"""Tables: each form, exactly, and whatever text people put into them."""

import csv
import io
import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from candgen.errors import ParameterError, StorageError
from candgen.reporting.table import Best, Difference, Table

SMALL = Table(
    "Recall@30 & size",
    ("method", "recall", "change", "entries", "removed"),
    (
        ("PTI|joint", 89.533, Difference(0.31), 1500000, "<1"),
        ("a_b <i>", None, Difference(-1.25), -3, ""),
        (None, math.nan, Difference(-0.04), 0, "12"),
    ),
    note="Percent, of 1,500 queries.",
)

text = st.text(st.characters(codec="utf-8"), max_size=12)
awkward = st.text(st.sampled_from("ab \\|&%$#_{}~^<>[]*`'\"-,;\n\r\t1"), max_size=12)
words = text | awkward
cells = words | st.integers() | st.floats() | st.floats().map(Difference) | st.none()


@st.composite
def tables(draw):
    columns = draw(st.lists(words, min_size=1, max_size=4, unique=True))
    row = st.tuples(*[cells] * len(columns))
    rows = draw(st.lists(row, max_size=4))
    return Table(draw(words), tuple(columns), tuple(rows), draw(words), draw(st.integers(0, 3)))


# Each form, exactly


def test_csv():
    assert SMALL.to_csv() == (
        "method,recall,change,entries,removed\n"
        "PTI|joint,89.533,0.31,1500000,<1\n"
        "a_b <i>,,-1.25,-3,\n"
        ",,-0.04,0,12\n"
    )


def test_csv_quotes_what_needs_it():
    table = Table("", ("a,b", 'say "x"'), (("one\ntwo", "\r"),))
    assert table.to_csv() == '"a,b","say ""x"""\n"one\ntwo","\r"\n'


def test_json():
    assert json.loads(SMALL.to_json()) == {
        "title": "Recall@30 & size",
        "note": "Percent, of 1,500 queries.",
        "columns": ["method", "recall", "change", "entries", "removed"],
        "rows": [
            {
                "method": "PTI|joint",
                "recall": 89.533,
                "change": 0.31,
                "entries": 1500000,
                "removed": "<1",
            },
            {"method": "a_b <i>", "recall": None, "change": -1.25, "entries": -3, "removed": ""},
            {"method": None, "recall": None, "change": -0.04, "entries": 0, "removed": "12"},
        ],
    }
    assert Table("Føroyar", ("k",), ((1,),)).to_json() == (
        '{\n  "title": "Føroyar",\n  "note": "",\n  "columns": [\n    "k"\n  ],\n'
        '  "rows": [\n    {\n      "k": 1\n    }\n  ]\n}'
    )


def test_markdown():
    assert SMALL.to_markdown() == (
        "**Recall@30 & size**\n\n"
        "| method | recall | change | entries | removed |\n"
        "|:---|---:|---:|---:|---:|\n"
        "| PTI\\|joint | 89.5 | +0.3 | 1,500,000 | <1 |\n"
        "| a_b \\<i> | – | −1.2 | −3 |  |\n"
        "| – | – | 0.0 | 0 | 12 |\n\n"
        "Percent, of 1,500 queries."
    )


@pytest.mark.parametrize(
    ("note", "written"),
    [("1. one", "1\\. one"), ("- one", "\\- one"), ("# one", "\\# one"), ("of 3", "of 3")],
)
def test_a_note_is_a_paragraph_of_markdown(note, written):
    assert Table("", ("k",), (), note=note).to_markdown() == f"| k |\n|:---|\n\n{written}"


def test_latex():
    assert SMALL.to_latex() == (
        "\\begin{table}\n"
        "  \\centering\n"
        "  \\caption{Recall@30 \\& size}\n"
        "  \\begin{tabular}{lrrrr}\n"
        "    \\toprule\n"
        "    method & recall & change & entries & removed \\\\\n"
        "    \\midrule\n"
        "    PTI\\textbar{}joint & 89.5 & +0.3 & 1,500,000 & \\textless{}1 \\\\\n"
        "    a\\_b \\textless{}i\\textgreater{} & – & $-$1.2 & $-$3 &  \\\\\n"
        "    – & – & 0.0 & 0 & 12 \\\\\n"
        "    \\bottomrule\n"
        "  \\end{tabular}\n"
        "  \\par\\smallskip{\\footnotesize Percent, of 1,500 queries.\\par}\n"
        "\\end{table}"
    )


def test_latex_keeps_apart_what_it_would_join():
    rows = (("[1, 2] --lam",), ("*``",), ("Føroyar मराठी",))
    lines = Table("", ("k",), rows).to_latex().splitlines()
    assert "    {}[1, 2] -{}-lam \\\\" in lines  # no length for the end of the row above
    assert "    {}*`{}` \\\\" in lines
    assert "    Føroyar मराठी \\\\" in lines
    assert not any("caption" in line or "footnotesize" in line for line in lines)


def test_html():
    assert SMALL.to_html() == (
        "<table>\n"
        "<caption>Recall@30 &amp; size</caption>\n"
        "<thead>\n"
        '<tr><th scope="col">method</th><th scope="col" class="number">recall</th>'
        '<th scope="col" class="number">change</th><th scope="col" class="number">entries</th>'
        '<th scope="col" class="number">removed</th></tr>\n'
        "</thead>\n"
        "<tbody>\n"
        '<tr><th scope="row">PTI|joint</th><td class="number">89.5</td>'
        '<td class="number">+0.3</td><td class="number">1,500,000</td>'
        '<td class="number">&lt;1</td></tr>\n'
        '<tr><th scope="row">a_b &lt;i&gt;</th><td class="number">–</td>'
        '<td class="number">−1.2</td><td class="number">−3</td><td class="number"></td></tr>\n'
        '<tr><th scope="row">–</th><td class="number">–</td><td class="number">0.0</td>'
        '<td class="number">0</td><td class="number">12</td></tr>\n'
        "</tbody>\n"
        "</table>\n"
        '<p class="note">Percent, of 1,500 queries.</p>'
    )


def test_an_empty_corner_heads_nothing():
    assert "<tr><td></td>" in Table("", ("", "fo"), (("PTI", 1),)).to_html()


def test_plain_text():
    assert str(SMALL) == (
        "Recall@30 & size\n"
        "method     recall  change    entries  removed\n"
        "---------  ------  ------  ---------  -------\n"
        "PTI|joint    89.5    +0.3  1,500,000       <1\n"
        "a_b <i>         –    −1.2         −3\n"
        "–               –     0.0          0       12\n"
        "Percent, of 1,500 queries."
    )


def test_plain_text_is_aligned_in_other_scripts():
    table = Table("", ("mention", "k"), (("मुंबई", 1), ("東京", 2), ("x", 3)))
    widths = {cell_len(line) for line in str(table).splitlines()}
    assert widths == {len("mention  k")}


def test_rich_shows_text_as_it_is():
    table = Table("[red]t[/]", ("[b]m", "n"), (("[link]", 1500),), note=":smile: [i]n")
    console = Console(file=io.StringIO(), width=60)
    console.print(table)
    shown = console.file.getvalue()
    for piece in ("[red]t[/]", "[b]m", "[link]", "1,500", ":smile: [i]n"):
        assert piece in shown


HTML_BEST = '<td class="number"><strong>89.5</strong></td><td class="number">7.0</td>'
MARKED = Table("", ("method", "fo", "is"), (("a_b", Best(89.533), 7.0), ("c", 89.0, Best(-1.25))))


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        (Table.to_csv, ["a_b,89.533,7.0", "c,89.0,-1.25"]),
        (Table.to_markdown, ["| a_b | **89.5** | 7.0 |", "| c | 89.0 | **−1.2** |"]),
        (
            Table.to_latex,
            [r"    a\_b & \textbf{89.5} & 7.0 \\", r"    c & 89.0 & \textbf{$-$1.2} \\"],
        ),
        (Table.to_html, [f'<tr><th scope="row">a_b</th>{HTML_BEST}</tr>']),
        (str, ["a_b     *89.5    7.0", "c        89.0  *−1.2"]),
    ],
)
def test_the_best_stand_out_in_every_form_for_people(form, lines):
    for line in lines:
        assert line in form(MARKED).splitlines()


def test_the_best_are_plain_numbers_in_data():
    rows = json.loads(MARKED.to_json())["rows"]
    assert [row["fo"] for row in rows] == [89.533, 89.0]
    assert MARKED.to_markdown().splitlines()[1] == "|:---|---:|---:|"
    console = Console(file=io.StringIO(), width=60)
    console.print(MARKED)
    assert "*89.5" in console.file.getvalue()


# Cells


@pytest.mark.parametrize(
    ("cell", "decimals", "shown"),
    [
        (0.05, 2, "0.05"),
        (1234.5, 0, "1234"),
        (-0.001, 2, "0.00"),
        (-2.5, 1, "−2.5"),
        (math.inf, 1, "∞"),
        (-math.inf, 1, "−∞"),
        (math.nan, 1, "–"),
        (None, 1, "–"),
        (1234567, 1, "1,234,567"),
        (-1234, 1, "−1,234"),
        ("a\n b\x1b", 1, "a b"),
        (Difference(2), 1, "+2.0"),
        (Difference(-2), 0, "−2"),
        (Difference(0.0), 1, "0.0"),
        (Difference(-0.0), 1, "0.0"),
        (Difference(0.04), 1, "0.0"),
        (Difference(math.nan), 1, "–"),
        (np.int64(7), 1, "7"),
        (np.float32(0.5), 1, "0.5"),
        (np.float64(0.25), 2, "0.25"),
    ],
)
def test_cells_as_they_are_shown(cell, decimals, shown):
    table = Table("", ("x",), ((cell,),), decimals=decimals)
    assert str(table).splitlines()[2].strip() == shown


@pytest.mark.parametrize(
    ("column", "mark"),
    [
        ((1, 2.5, None), "---:"),
        (("<1", "+2", "−3", "12 s", ""), "---:"),
        ((Difference(1), "≈ 2", "–"), "---:"),
        ((1, "many"), ":---"),
        (("a", None), ":---"),
        ((None, None), ":---"),
        (("-x",), ":---"),
        ((), ":---"),
        ((math.nan,), "---:"),
    ],
)
def test_columns_of_numbers_are_aligned_on_the_right(column, mark):
    table = Table("", ("x",), tuple((cell,) for cell in column))
    assert table.to_markdown().splitlines()[1] == f"|{mark}|"


def test_numbers_of_numpy_become_ours():
    table = Table("", ["n", "x"], [[np.int32(3), np.float64(0.5)]])
    assert table.to_csv() == "n,x\n3,0.5\n"
    assert json.loads(table.to_json())["rows"] == [{"n": 3, "x": 0.5}]
    assert table == Table("", ("n", "x"), ((3, 0.5),))
    assert hash(table) == hash(Table("", ("n", "x"), ((3, 0.5),)))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("t", ("a", "b"), ((1, 2), (1,))), "row 2 of 't' has 1 cells: expected 2"),
        (("t", (), ()), "expected names that differ"),
        (("t", ("a", "a"), ()), "expected names that differ"),
        (("t", ("a",), (([],),)), r"row 1 of 't' has \[\]: expected a string, a number or None"),
        (("t", ("a",), ((True,),)), "row 1 of 't' has True"),
        (("t", ("a",), (("\ud800",),)), "half a surrogate pair"),
        (("t", (1,), ()), "1 is a title, note or column: expected a string"),
        ((None, ("a",), ()), "None is a title"),
        (("t", ("a",), (), "", -1), "decimals is -1"),
        (("t", ("a",), (), "", 1.0), "decimals is 1.0"),
    ],
)
def test_what_is_no_table_is_refused(arguments, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Table(*arguments)


# Files


@pytest.mark.parametrize(
    ("suffix", "form"),
    [
        ("csv", Table.to_csv),
        ("json", Table.to_json),
        ("md", Table.to_markdown),
        ("tex", Table.to_latex),
        ("txt", str),
    ],
)
def test_files_by_suffix(suffix, form, tmp_path):
    path = tmp_path / f"table.{suffix}"
    SMALL.write(path)
    assert path.read_bytes().decode("utf-8") == form(SMALL).rstrip("\n") + "\n"
    SMALL.write(str(path))
    assert list(tmp_path.iterdir()) == [path]


def test_an_html_file_is_a_document(tmp_path):
    SMALL.write(tmp_path / "table.html")
    written = (tmp_path / "table.html").read_text(encoding="utf-8")
    assert written.startswith("<!doctype html>\n")
    assert '<meta charset="utf-8"><title>Recall@30 &amp; size</title>' in written
    assert SMALL.to_html() in written


@pytest.mark.parametrize("name", ["table.xlsx", "table", "csv"])
def test_other_suffixes_are_refused(name, tmp_path):
    with pytest.raises(ParameterError, match=r"\.csv, \.json, \.md, \.tex, \.html, \.txt"):
        SMALL.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_not_there(tmp_path):
    with pytest.raises(StorageError, match="choose another place"):
        SMALL.write(tmp_path / "no" / "table.csv")


# Whatever text there is


def as_csv(cell):
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return repr(float(cell)) if isinstance(cell, float) else str(cell)


@given(tables())
def test_csv_reads_back(table):
    read = list(csv.reader(io.StringIO(table.to_csv(), newline="")))
    expected = [list(table.columns), *([as_csv(cell) for cell in row] for row in table.rows)]
    # One empty field and an empty line are the same in CSV.
    assert [row or [""] for row in read] == expected


@given(tables())
def test_json_reads_back(table):
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    read = json.loads(table.to_json(), parse_constant=refuse)
    assert (read["title"], read["note"]) == (table.title, table.note)
    assert tuple(read["columns"]) == table.columns
    for row, cells in zip(read["rows"], table.rows, strict=True):
        known = [None if isinstance(c, float) and not math.isfinite(c) else c for c in cells]
        assert list(row.values()) == known


class Cells(HTMLParser):
    """The text of every cell, and of the caption and the note."""

    def __init__(self):
        super().__init__()
        self.open, self.cells, self.rest = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data
        elif self.open and self.open[-1] in ("caption", "p"):
            self.rest += data
        else:
            assert data.strip("\n") == ""


def folded(written):
    return re.sub("[\x00-\x20\x7f-\x9f\u2028\u2029]+", " ", written).strip(" ")


@given(tables())
def test_html_shows_every_text_as_it_is(table):
    parser = Cells()
    parser.feed(table.to_html())
    parser.close()
    assert parser.open == []
    assert parser.rest == folded(table.title) + folded(table.note)
    assert len(parser.cells) == len(table.columns) * (len(table.rows) + 1)
    given_cells = [*table.columns, *(cell for row in table.rows for cell in row)]
    for shown, cell in zip(parser.cells, given_cells, strict=True):
        if isinstance(cell, str):
            assert shown == folded(cell)


@given(tables())
def test_markdown_has_as_many_pipes_as_columns(table):
    bare = Table("", table.columns, table.rows, decimals=table.decimals)
    lines = bare.to_markdown().split("\n")
    assert len(lines) == len(table.rows) + 2
    for line in lines:
        unescaped = re.sub(r"\\.", ".", line)
        assert unescaped.count("|") == len(table.columns) + 1
        assert not re.search(r"[`*\[\]~$]|<[A-Za-z/!?]|&[#\w]", unescaped)


@given(tables())
def test_latex_has_no_special_character_left(table):
    lines = table.to_latex().split("\n")
    rows = lines[lines.index("    \\toprule") + 1 : lines.index("    \\bottomrule")]
    del rows[1]
    assert len(rows) == len(table.rows) + 1
    for row in rows:
        content = row[4:].removesuffix(" \\\\")
        assert not content.lstrip(" ").startswith(("[", "*"))
        assert content.count(" & ") >= len(table.columns) - 1
        known = r"\\text(?:backslash|ascii(?:tilde|circum)|less|greater|bar)\{\}"
        known += r"|\\[{}$&#%_]|\$-\$|\$\\infty\$|\{\}"
        rest = re.sub(known, "", content)
        assert not re.search(r"[\\{}$#%_~^<>|]", rest)
        assert rest.count("&") == len(table.columns) - 1
        assert not re.search("--|``|''|,,|[?!]`", content)


@given(tables())
def test_plain_text_has_a_line_for_each_row_and_steers_no_terminal(table):
    framed = Table("title", table.columns, table.rows, "note", table.decimals)
    lines = str(framed).split("\n")
    assert len(lines) == len(table.rows) + 4
    assert (lines[0], lines[-1]) == ("title", "note")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", str(table))
