"""Small files that unpack to gigabytes: time and memory stay bounded.

Each command runs in a process of its own, whose memory the system measures.
"""

import bz2
import gzip
import subprocess
import sys

import pytest

from tests.support import sql_dumps
from tests.support.commands import command, environment
from tests.support.dumps import END, WrittenPage, dump_xml, header_xml, page_xml

MOST = 1 << 20  # kilobytes of memory; without a bomb a command takes a fifth of a gigabyte
BLOCK = 45_000_000  # bytes that a block of bzip2 holds at most
PAGE = page_xml(WrittenPage("A", "[[b]]"))
ITEM = b'{"type":"item","id":"Q1","labels":{"fo":{"language":"fo","value":"%s"}}}'


def packed(*texts):
    """A bzip2 file with a stream for each text."""
    return b"".join(map(bz2.compress, texts))


MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
print(done.stdout + done.stderr, end="")
sys.exit(done.returncode)
"""


def run(*arguments):
    """The exit status of a command, what it printed, and its memory in kilobytes.

    A small process starts it: a child counts the memory of its parent as its own, until it is
    another program.
    """
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *command(*arguments)],
        capture_output=True,
        text=True,
        env=environment(),
    )
    memory, _, output = done.stdout.partition("\n")
    return done.returncode, output, int(memory)


ZEROS = bz2.compress(bytes(BLOCK)) * 30  # 1.35 GB in 1.5 kB
BLANKS = bz2.compress(b" " * BLOCK) * 30
DUMPS = {
    "between pages": (0, packed(header_xml() + PAGE) + BLANKS + packed(PAGE + END)),
    "in the header": (2, packed(b"<mediawiki><siteinfo>") + ZEROS),
    "before the header": (2, ZEROS + packed(dump_xml([]))),
    "in a page": (0, packed(header_xml() + b"<page><title>A</title>") + ZEROS + packed(PAGE + END)),
    "in a title": (1, packed(header_xml() + b"<page><title>") + ZEROS),
}


@pytest.mark.parametrize("where", DUMPS)
def test_dumps(where, tmp_path, tried):
    tried("dumps")
    status, data = DUMPS[where]
    assert len(data) < 10_000
    (tmp_path / "fo.xml.bz2").write_bytes(data)
    table = tmp_path / "fo.parquet"
    found, said, used = run("extract", "fo", "--dump", tmp_path / "fo.xml.bz2", "-o", table)
    assert found == status, said
    assert "Traceback" not in said
    assert used < MOST
    assert table.exists() == (status < 2)


ITEMS = {
    "between items": b"[\n" + ITEM % b"a" + b",\n",
    "in a name": b"[\n" + ITEM[: ITEM.index(b"%s")],
}


@pytest.mark.parametrize("where", ITEMS)
def test_wikidata(where, tmp_path, tried):
    tried("dumps")
    data = packed(ITEMS[where]) + BLANKS + packed(b'"}}}\n' + ITEM % b"b" + b"\n]\n")
    (tmp_path / "x.json.bz2").write_bytes(data)
    arguments = ("extract-wikidata", tmp_path / "x.json.bz2", "--languages", "fo")
    status, said, used = run(*arguments, "-o", tmp_path / "out")
    assert status in (0, 1), said
    assert used < MOST
    assert (tmp_path / "out" / "fo.parquet").exists()


SIDE_FILES = {
    "--siteinfo": (2, "siteinfo.json.gz", lambda: gzip.compress(b" " * (1 << 29))),
    "--page-props": (2, "page_props.sql.bz2", lambda: packed(b"DROP ") + ZEROS),
    "--redirects": (
        2,
        "redirect.sql.bz2",
        lambda: packed(sql_dumps.REDIRECT[:-2] + b",(1,0,'") + BLANKS,
    ),
}


@pytest.mark.parametrize("option", SIDE_FILES)
def test_side_files(option, tmp_path, tried):
    tried("dumps")
    status, name, made = SIDE_FILES[option]
    (tmp_path / "fo.xml").write_bytes(dump_xml([WrittenPage("A", "[[b]]")]))
    (tmp_path / name).write_bytes(made())
    arguments = ("extract", "fo", "--dump", tmp_path / "fo.xml", option, tmp_path / name)
    found, said, used = run(*arguments, "-o", tmp_path / "fo.parquet")
    assert found == status, said
    assert said.count("\n") == 1
    assert used < MOST
    assert not (tmp_path / "fo.parquet").exists()
