"""What the README shows is what happens."""

import re
import tomllib

import candgen
from tests.support import toy
from tests.support.documents import ROOT, Shell, blocks, commands, lines, needs_bash, run_python

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = blocks(ROOT / "README.md")
REPOSITORY = "candgen/candgen"
ADDRESSES = (
    f"https://github.com/{REPOSITORY}/blob/main",
    f"https://raw.githubusercontent.com/{REPOSITORY}/main",
)
"""Where the files of this repository are for a reader who has no checkout."""


def shown_after(language):
    """The blocks of this language, each with the block after it."""
    return [(block, BLOCKS[i + 1]) for i, block in enumerate(BLOCKS) if block.language == language]


def test_the_first_screen_installs_and_shows_ten_lines():
    first = README[: README.index("\n## ")]
    assert first.count("```python") == 1
    ((code, _),) = shown_after("python")
    assert len([line for line in code.text.splitlines() if line.strip()]) <= 10
    assert "pip install" in first


def test_the_python_works_and_prints_what_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for code, expected in shown_after("python"):
        assert expected.language == "text"
        assert run_python(code, {}) == expected.text
    index = candgen.load(tmp_path / "fo.candgen")
    assert index.candidates(["Vínið"], k=1)[0][0].entity == "Q282"


def test_the_tables_are_those_of_the_toy_world():
    ((code, _),) = shown_after("python")
    for mention, entity, count in [*toy.ICELANDIC, *toy.FAROESE]:
        assert f'("{mention}", "{entity}"{f", {count}" if count > 1 else ""})' in code.text


@needs_bash
def test_the_commands_work_and_print_what_is_shown(tmp_path):
    shell = Shell(tmp_path)
    (console,) = (block for block in BLOCKS if block.language == "console")
    for command in commands(console):
        assert lines(shell.run(command).stdout) == lines(command.shown)


def test_every_command_named_exists():
    from typer.main import get_command

    from candgen.cli import app

    named = set(re.findall(r"(?:[`$|] ?|^)candgen ([a-z]+(?:-[a-z]+)?)", README, re.MULTILINE))
    assert named == set(get_command(app).commands)


def test_links_work_outside_the_repository_and_lead_somewhere():
    targets = re.findall(r"\]\(([^)\s]+)\)", README)
    files = [re.fullmatch(f"(?:{'|'.join(ADDRESSES)})/([^#]+)", target) for target in targets]
    assert targets
    assert all(files), targets
    for found in files:
        assert (ROOT / found[1]).is_file(), found[0]


def test_the_picture_is_there_and_small():
    (picture,) = re.findall(r"^!\[[^]]+\]\(.*/main/(\S+\.png)\)$", README, re.MULTILINE)
    assert 10_000 < (ROOT / picture).stat().st_size < 150_000


def test_every_figure_has_a_command():
    _, _, after = README.partition("\n## Figures\n")
    rows = [line for line in after.partition("\n## ")[0].splitlines() if line.startswith("|")]
    assert len(rows) > 2
    for row in rows[2:]:
        assert re.search(r"\| `(?:candgen demo|benchmarks/\w+\.py)` \|$", row), row


def test_every_package_is_in_the_list():
    _, _, after = README.partition("\n## Packages\n")
    listed = set(re.findall(r"`([a-z]+)`", after.partition("\n## ")[0]))
    there = {path.parent.name for path in (ROOT / "src/candgen").glob("*/__init__.py")}
    assert there <= listed


def test_every_make_target_named_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for named in re.findall(r"^\|? *`?make ([a-z-]+)", README + contributing, re.MULTILINE):
        assert named in targets


def test_the_citation_has_the_version_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {project['version']}\n" in citation
    assert f"\nlicense: {project['license']}\n" in citation
