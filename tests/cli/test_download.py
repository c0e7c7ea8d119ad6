"""The command that downloads dumps."""

import importlib

import pytest

from candgen.dumps.download import Kind
from tests.support.faulty_mirror import CONTACT, DATE, JOBS, PIECES, PROPS, here


@pytest.fixture
def run(cli):
    def call(*arguments):
        return cli("download", *arguments)

    return call


def test_the_kinds_of_the_command_are_those_of_the_library():
    from candgen.dumps.download import WIKIMEDIA

    command = importlib.import_module("candgen.cli.download")
    assert [each.value for each in command.Files] == [each.value for each in Kind]
    assert command.WIKIMEDIA == WIKIMEDIA


def test_the_command_tells_what_it_did_and_what_to_do_next(mirror, run, tmp_path, monkeypatch):
    monkeypatch.setenv("CANDGEN_CONTACT", "https://example.org/me")
    folder = tmp_path / "my dumps"
    result = run("fowiki", "-o", folder, "--mirror", mirror.url)
    lines = result.out.splitlines()
    assert lines[0].split() == ["file", "bytes", "state"]
    assert len(lines) == 6
    assert lines[1].endswith("fetched")
    assert "(https://example.org/me)" in mirror.requests[0].headers["User-Agent"]
    names = [f"'{folder}/fowiki-{DATE}-{file}'" for job in JOBS for file in JOBS[job]]
    assert result.err == (
        f"next: candgen extract fo --dump {names[0]} --page-props {names[2]} "
        f"--redirects {names[3]} --siteinfo {names[4]} -o fo.parquet\n"
    )
    again = run("fo", "-o", folder, "--mirror", mirror.url)
    assert again.out.count("there already") == 5


def test_the_command_for_some_files(mirror, run, tmp_path):
    options = ("--files", "page-props", "--files", "langlinks", "--contact", CONTACT)
    result = run("fo", "-o", tmp_path, "--mirror", mirror.url, *options)
    assert here(tmp_path) == {PROPS, f"fowiki-{DATE}-langlinks.sql.gz"}
    assert result.err == ""


def test_the_command_for_several_pieces_and_wikis(mirror, run, tmp_path):
    mirror.add_run(
        "zh_min_nanwiki", jobs=PIECES, status={"articlesmultistreamdumprecombine": "waiting"}
    )
    options = ("--mirror", mirror.url, "--contact", CONTACT, "--files", "articles")
    result = run("nan", "fo", "-o", tmp_path, *options)
    first, second = result.err.splitlines()
    assert first.startswith("next: candgen extract nan --dump ")
    assert first.count("--dump") == 2
    assert "-index" not in result.err
    assert second.startswith("next: candgen extract fo --dump ")


def test_the_command_says_mistakes(run, tmp_path):
    result = run("f", "-o", tmp_path)
    assert result.status == 2
    assert "expected a code such as fo" in result.err
