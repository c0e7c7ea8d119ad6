"""Examples of the pages in docs/ work: all that can be run here are, on small tables."""

import contextlib
import re
from itertools import pairwise

import pytest
from typer.main import get_command

import candgen
from candgen.cli import app
from candgen.errors import MissingExtraError
from candgen.evaluation.dataset import write_dataset
from candgen.integrations import cldr
from tests.support import wikidata_world
from tests.support.documents import (
    DOCS,
    PAGES,
    ROOT,
    SHELL,
    Shell,
    blocks,
    commands,
    needs_bash,
    programs,
    run_python,
)
from tests.support.dumps import write_dump
from tests.support.faroese_wiki import PAGES as WIKI_PAGES
from tests.support.wikidata_files import compressed
from tests.wikipedia.test_extract import PAGE_PROPS, REDIRECT, zipped

ELSEWHERE = {
    "methods.md": "docs/test_methods.py",
    "service.md": "docs/test_service.py",
    "spacy.md": "integrations/test_spacy.py",
    "tutorial.md": "docs/test_tutorial.py",
}
"""Pages whose examples another file runs."""
NOT_RUN = {
    "candgen download": "needs the network: tests/cli/test_download.py has a mirror",
    "candgen extract is": "writes into names, which the commands after it read",
    "candgen extract --engine spark": "needs Java: wikipedia/spark/test_extract",
    "candgen extract-wikidata latest-all.json.gz": "writes into names, which others read",
    "candgen info mentions/language=fo": "needs what Spark wrote: wikipedia/spark/test_extract",
    "candgen reproduce": "takes minutes: test_reproduce.py",
    "candgen serve": "answers until it is stopped",
    "candgen tune mk.dataset --pivot bg=bg.tsv.gz --method charagram": "learns for a while",
    "curl -sG http://127.0.0.1:8000": "asks what candgen serve began: test_docs_service.py",
    "from candgen import MentionTable\nfrom candgen.wikipedia": "needs Java",
    "pip install": "installs",
    "python benchmarks/": "measures for minutes, on data that are not in the repository",
    "python3 -m pip install": "installs",
}
"""What cannot be run here, by how it begins, and why not."""
SHOWN = ("bibtex", "dockerfile", "ini", "json", "text")
"""Blocks in these languages are to be read."""
COMMANDS = get_command(app).commands
OF_OTHERS = {"--py-files", "--size"}
"""Options of other programs that the pages name."""


def reason_not_to_run(text):
    return next((why for start, why in NOT_RUN.items() if text.startswith(start)), None)


def of_the_shell(path):
    return [
        command for block in blocks(path) if block.language in SHELL for command in commands(block)
    ]


def options_of(name):
    """How the options of a command are written."""
    parameters = COMMANDS[name].params
    return {"--help", *(each for one in parameters for each in (*one.opts, *one.secondary_opts))}


ANY_OPTION = {option for name in COMMANDS for option in options_of(name)}


def names(language):
    """Names of countries, and of Copenhagen, which pages ask for as an item of Wikidata."""
    ids = {"city:Europe/Copenhagen": "Q1748"}
    return candgen.MentionTable.from_pairs(
        (mention, ids.get(entity, entity))
        for mention, entity, _ in cldr.names(language)
        if entity.startswith("territory:") or entity in ids
    )


@pytest.fixture(scope="module")
def tables():
    return {code: names(code) for code in ("bg", "da", "en", "fo", "hr", "is", "mk", "no", "sv")}


@pytest.fixture
def folder(tmp_path, monkeypatch, tables):
    """A folder with what the pages suppose to be there, under the names that they give it."""
    monkeypatch.chdir(tmp_path)
    for each in ("dumps", "names"):
        (tmp_path / each).mkdir()
    for language, table in tables.items():
        table.write(tmp_path / f"{language}.tsv.gz")
        table.write(tmp_path / "names" / f"{language}.tsv.gz")
    known = "".join(f"{mention}\n" for mention in tables["fo"].mentions[:40])
    for name in ("fo.txt", "names.txt"):
        (tmp_path / name).write_text(known, encoding="utf-8")
    (tmp_path / "queries.tsv").write_text("mention\tentity\nHavn\tterritory:FO\n", encoding="utf-8")
    split = candgen.split(tables["fo"], normalizer="default", language="fo")
    write_dataset(tmp_path / "fo.dataset", split)
    candgen.PivotTokenIndex.build({"bg": tables["bg"]}, language="mk").save("other.candgen")
    dumps = tmp_path / "dumps"
    write_dump(dumps / "fowiki-DATE-pages-articles-multistream.xml.bz2", WIKI_PAGES, together=2)
    zipped(dumps / "fowiki-DATE-page_props.sql.gz", PAGE_PROPS)
    zipped(dumps / "fowiki-DATE-redirect.sql.gz", REDIRECT)
    items = wikidata_world.dump_of(wikidata_world.FULL)
    (tmp_path / "latest-all.json.bz2").write_bytes(compressed(items, "bz2"))
    return tmp_path


@needs_bash
@pytest.mark.parametrize("page", [path.name for path in PAGES if path.name not in ELSEWHERE])
def test_the_examples_work(page, folder, tables, cli):
    shell = Shell(folder)
    index = candgen.PivotTokenIndex.build({"is": tables["is"]}, language="fo")
    known = {
        "candgen": candgen,
        "index": index,
        "anything_with_candidates": index,
        "made": candgen.split(tables["fo"], per_type=20),
    }
    for block in blocks(DOCS / page):
        if block.language == "python" and not reason_not_to_run(block.text):
            with contextlib.suppress(MissingExtraError):
                run_python(block, known)
        for command in commands(block) if block.language in SHELL else ():
            if reason_not_to_run(command.text):
                continue
            first, *others = programs(command)
            if first[0] == "candgen" and not others:  # a process of its own takes longer to start
                done = cli(*first[1:])
                assert done.status == 0, f"{command.text}\n{done.err}"
            else:
                shell.run(command)


def test_the_first_page_shows_what_its_example_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    every = blocks(DOCS / "index.md")
    ((code, shown),) = (pair for pair in pairwise(every) if pair[0].language == "python")
    assert shown.language == "text"
    assert run_python(code, {}) == shown.text


def test_all_that_is_not_run_is_still_there():
    written = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    for start in NOT_RUN:
        assert start in written


def test_python_that_is_not_run_is_python():
    for path in PAGES:
        for block in blocks(path):
            if block.language == "python":
                compile(block.text, block.page, "exec")


def test_pages_that_others_run_are_run_by_them():
    for page, test in ELSEWHERE.items():
        assert f'"{page}"' in (ROOT / "tests" / test).read_text(encoding="utf-8")
    for command in of_the_shell(DOCS / "methods.md"):
        assert command.text.startswith("candgen build "), command  # what that file looks for


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_block_is_overlooked(path):
    fences = re.findall(r"^ *(?:```|~~~)+ *(\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    written = [fence for fence in fences if not fence.startswith("{")]
    assert written == [block.language for block in blocks(path)]
    assert set(written) <= {"python", *SHELL, *SHOWN}


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: path.name)
def test_commands_have_the_options_that_are_given_to_them(path):
    for command in of_the_shell(path):
        for program, *arguments in filter(None, programs(command)):
            if program == "candgen" and arguments != ["--help"]:
                name, *options = arguments
                assert name in COMMANDS, command
                COMMANDS[name].make_context(name, options)  # refuses what it does not know


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: path.name)
def test_options_that_the_text_names_exist(path):
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    for code in re.findall(r"`([^`]+)`", text):
        called = re.match(r"candgen ([a-z][a-z-]*)", code)
        if called:
            assert called[1] in COMMANDS, code
        known = options_of(called[1]) if called else {*ANY_OPTION, *OF_OTHERS}
        if called or code.startswith("--"):
            assert set(re.findall(r"(?<!\S)--[a-z][a-z-]*", code)) <= known, code
