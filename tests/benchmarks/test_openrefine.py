"""The script that reconciles with a real OpenRefine; the whole of it where one may be started."""

import gzip
import importlib.util
import os
import shutil
import subprocess
import sys

import pytest

import candgen
from tests.support.documents import ROOT

SCRIPT = ROOT / "benchmarks" / "openrefine.py"
SERVICE = "http://127.0.0.1:9/reconcile"
ALL = {
    "mode": "row-based",
    "rows": [
        {"starred": False, "flagged": False, "cells": [{"v": "Tórshavn", "r": "28699"}], "i": 0},
        {"starred": False, "flagged": False, "cells": [{"v": "Havnin", "r": "19544"}], "i": 1},
        {"starred": False, "flagged": False, "cells": [{"v": "Zzqx", "r": "-8997"}], "i": 2},
        {"starred": False, "flagged": False, "cells": [{"v": "Noreg"}], "i": 3},
        {"starred": False, "flagged": False, "cells": [None], "i": 4},
    ],
    "filtered": 5,
    "total": 5,
    "start": 0,
    "limit": 5,
    "pool": {
        "recons": {
            "28699": {
                "id": 28699,
                "j": "matched",
                "m": {"id": "Q10704", "name": "Tórshavn", "types": ["Q35120"], "score": 99.9722},
                "service": SERVICE,
                "identifierSpace": "http://www.wikidata.org/entity/",
                "schemaSpace": "http://www.wikidata.org/prop/direct/",
            },
            "19544": {
                "id": 19544,
                "j": "none",
                "c": [
                    {"id": "Q1119", "name": "hafnium", "types": ["Q35120"], "score": 59.5946},
                    {"id": "Q44782", "name": "havn", "types": ["Q35120"], "score": 1.7836},
                ],
                "service": SERVICE,
                "identifierSpace": "http://www.wikidata.org/entity/",
                "schemaSpace": "http://www.wikidata.org/prop/direct/",
            },
            "-8997": {"id": -8997, "j": "none", "service": SERVICE},
        }
    },
}
"""What OpenRefine 3.6.2 answers to get-rows, with fewer candidates and shorter numbers."""
LOG = """Using /etc/openrefine/refine.ini for configuration
log4j:WARN No appenders could be found for logger (org.eclipse.jetty.util.log).
WARN [refine-standard-recon] Service error for text: Noreg
  Job code: {"query":"Noreg","type":"Q35120","type_strict":"should"}
ERROR [refine-standard-recon] Failed to parse string as JSON: <html>
WARN [FileProjectManager] Failed to load workspace from any attempted alternatives.
"""


@pytest.fixture(scope="module")
def script():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("openrefine_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


# ---------------------------------------------------------------- what a person may get wrong


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["localhost:8000"], "'localhost:8000' is no address: expected one such as http://"),
        ([SERVICE], f"{SERVICE} does not answer: "),
        ([SERVICE, "nowhere.tsv"], "nowhere.tsv cannot be read: No such file or directory"),
        ([SERVICE, "empty.txt"], "empty.txt has no names"),
        ([SERVICE, "latin.txt"], "latin.txt cannot be read: expected text in UTF-8"),
        ([SERVICE, "short.tsv"], "short.tsv line 3: expected 2 columns, found 1"),
        ([SERVICE, "bare.tsv"], "bare.tsv has tabs, but no header: expected the columns mention"),
        ([SERVICE, "broken.txt.gz"], "broken.txt.gz cannot be read: "),
    ],
)
def test_mistakes_are_told_in_a_sentence(script, capsys, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "empty.txt", "\n \n")
    (tmp_path / "latin.txt").write_bytes("Tórshavn\n".encode("latin-1"))
    (tmp_path / "broken.txt.gz").write_bytes(gzip.compress(b"Noreg\n" * 999)[:20])
    written(tmp_path / "short.tsv", "mention\tentity\nNoreg\tQ20\nHavnin\n")
    written(tmp_path / "bare.tsv", "Noreg\tQ20\n")
    assert script.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"openrefine: {said}")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("wrong", [["--most", "0"], ["--show", "-1"], ["--wait", "soon"], []])
def test_what_is_not_an_argument_is_refused(script, capsys, wrong):
    with pytest.raises(SystemExit, match="2"):
        script.main([SERVICE, *wrong] if wrong else [])
    assert "is no whole number above 0" in capsys.readouterr().err or not wrong


def test_a_program_that_is_missing_is_named(script):
    with (
        pytest.raises(script.Failed, match="no program 'no-such-program': install OpenRefine"),
        script._openrefine(None, "no-such-program"),
    ):
        pass


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_program_that_ends_at_once_is_not_waited_for(script, tmp_path):
    program = written(tmp_path / "refine", "#!/bin/sh\necho Error: no Java\nexit 1\n")
    program.chmod(0o755)
    with (
        pytest.raises(script.Failed, match="the last it said is 'Error: no Java'"),
        script._openrefine(None, str(program)),
    ):
        pass


# ---------------------------------------------------------------- what it reads


def test_names_come_from_lists_and_from_tables(script, tmp_path):
    plain = written(tmp_path / "names.txt", "\ufeffTórshavn\r\n\r\n Noreg \r\n")
    assert script.read_names(plain) == [script.Asked("Tórshavn"), script.Asked("Noreg")]
    table = "entity\tmention\ttype\nQ10704\tTórshavn\teasy\n\nQ20\tNoreg\thard\n"
    packed = tmp_path / "names.tsv.gz"
    packed.write_bytes(gzip.compress(table.encode()))
    assert script.read_names(packed) == [
        script.Asked("Tórshavn", "Q10704", "easy"),
        script.Asked("Noreg", "Q20", "hard"),
    ]
    assert [each.name for each in script.read_names(None)] == list(script.SOME)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/reconcile"),
        ("http://127.0.0.1:8000/reconcile/", "http://127.0.0.1:8000/reconcile"),
        ("https://example.org/names", "https://example.org/names/reconcile"),
        ("https://example.org/names/reconcile/fo", "https://example.org/names/reconcile/fo"),
    ],
)
def test_a_service_may_be_named_with_or_without_its_path(script, given, address):
    assert script.service_address(given) == address


def test_cells_are_read_with_what_openrefine_decided(script):
    cells = script.read_cells(ALL)
    assert [(cell.name, cell.judgment) for cell in cells] == [
        ("Tórshavn", "matched"),
        ("Havnin", "none"),
        ("Zzqx", "none"),
        ("Noreg", ""),
        ("", ""),
    ]
    assert cells[0].candidates == (script.Candidate("Q10704", "Tórshavn", 99.9722),)
    assert [each.entity for each in cells[1].candidates] == ["Q1119", "Q44782"]
    assert [cell.candidates for cell in cells[2:]] == [(), (), ()]


def test_the_type_is_the_one_that_the_dialog_would_choose(script):
    manifest = {"defaultTypes": [{"id": "Q35120", "name": "entity"}]}
    guessed = [{"id": "Q515", "name": "city", "count": 9, "score": 7.5}]
    city, entity = {"id": "Q515", "name": "city"}, {"id": "Q35120", "name": "entity"}
    assert script.choose_type(guessed, manifest, None) == city
    assert script.choose_type([], manifest, None) == entity
    assert script.choose_type([], {}, None) is None
    assert script.choose_type(guessed, manifest, "none") is None
    assert script.choose_type(guessed, manifest, "Q35120") == entity
    assert script.choose_type(guessed, manifest, "Q6256") == {"id": "Q6256", "name": "Q6256"}


def test_complaints_are_those_about_the_service(script):
    assert script.find_complaints(LOG) == [
        "WARN [refine-standard-recon] Service error for text: Noreg",
        "ERROR [refine-standard-recon] Failed to parse string as JSON: <html>",
    ]
    assert script.find_complaints(LOG.replace("refine-standard-recon", "refine")) == []


@pytest.mark.parametrize(
    ("policy", "may"),
    [
        (None, True),
        ("default-src 'none'", True),
        ("default-src 'none'; frame-ancestors *", True),
        ("default-src 'none'; frame-ancestors 'none'", False),
        ("frame-ancestors 'self'", False),
    ],
)
def test_frames(script, policy, may):
    assert script.may_be_framed(policy) is may


# ---------------------------------------------------------------- what it tells


def test_matches_are_counted_and_judged(script, capsys):
    cells = script.read_cells(ALL)[:4]
    golds = ["Q10704", "Q44782", "Q1", "Q20"]
    asked = [
        script.Asked(cell.name, gold, "easy" if gold == "Q10704" else "hard")
        for cell, gold in zip(cells, golds, strict=True)
    ]
    assert script.count(asked, cells) == script.Counts(4, matched=1, right=1, first=1, offered=2)
    wrong = [asked[0]._replace(entity="Q1748"), *asked[1:]]
    assert script.count(wrong, cells) == script.Counts(4, matched=1, right=0, first=0, offered=1)
    script.tell_counts(asked, cells)
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[0] == "4 names: 1 matched, 1 with candidates to choose from, 2 without"
    assert lines[2].split() == ["all", "4", "1", "1", "100.0", "25.0", "25.0", "50.0", "39.9"]
    assert lines[4].split() == ["hard", "3", "0", "0", "-", "0.0", "0.0", "33.3", "19.9"]


def test_the_table_shows_the_best_candidate_and_what_would_be_right(script, capsys):
    cells = script.read_cells(ALL)[:4]
    asked = [script.Asked("Tórshavn", "Q10704"), script.Asked("Havnin", "Q44782")]
    asked += [script.Asked("Zzqx"), script.Asked("Noreg")]
    script.show(asked, cells, most=3)
    printed = capsys.readouterr().out.strip().splitlines()
    assert [line.split() for line in printed[1:3]] == [
        ["Tórshavn", "matched", "Q10704", "Tórshavn", "100.0", "yes"],
        ["Havnin", "none", "Q1119", "hafnium", "59.6", "Q44782"],
    ]
    assert printed[3:] == ["Zzqx      none", "... and 1 more"]


# ---------------------------------------------------------------- all of it


@pytest.mark.skipif(
    os.environ.get("CANDGEN_OPENREFINE") != "1" or shutil.which("openrefine") is None,
    reason="starts OpenRefine, which takes half a minute and a GB: where the program openrefine is "
    "installed, set CANDGEN_OPENREFINE=1",
)
def test_openrefine_reconciles_a_column(tmp_path):
    table = candgen.MentionTable.from_pairs(
        [("Tórshavn", "Q10704"), ("Føroyar", "Q4628"), ("Noreg", "Q20"), ("Ísland", "Q189")]
    )
    candgen.PivotTokenIndex.build(target=table, language="fo").save(tmp_path / "fo.candgen")
    written(
        tmp_path / "types.tsv",
        "entity\tname\ttype\nQ4628\tFøroyar\tQ6256\nQ20\tNoreg\tQ6256\nQ189\tÍsland\tQ6256\n"
        "Q6256\tland\t\n",
    )
    names = written(tmp_path / "names.tsv", "mention\tentity\nTórshavn\tQ10704\nNoreg\tQ20\n")
    command = [
        sys.executable,
        "-m",
        "candgen",
        "serve",
        str(tmp_path / "fo.candgen"),
        "--port",
        "0",
        "--quiet",
        "--entities",
        str(tmp_path / "types.tsv"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as serving:
        try:
            address = serving.stdout.readline().strip()
            done = subprocess.run(
                [sys.executable, SCRIPT, address, names, "--type", "Q6256"],
                cwd=tmp_path,
                capture_output=True,
                encoding="utf-8",
                timeout=300,
            )
        finally:
            serving.terminate()
    assert done.returncode == 0, done.stderr
    assert "type: Q6256 (land)" in done.stdout
    assert "2 names: " in done.stdout
    assert "search for match 'Tórshavn': Q10704 Tórshavn" in done.stdout
    assert "may be shown in a frame" in done.stdout
    assert "complains" not in done.stdout
