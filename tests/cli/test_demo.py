"""The demo: names that come with Babel, and what is found of those that were hidden."""

import contextlib
import importlib
import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import candgen
from candgen.cli import demo as _command  # noqa: F401
from candgen.cli import main
from candgen.errors import MissingExtraError, ParameterError
from candgen.integrations import cldr
from candgen.storage import index_folder
from candgen.tables.entities import EntityTable

demo = sys.modules["candgen.cli.demo"]


# Names from CLDR


@pytest.mark.parametrize(
    ("language", "entity", "names"),
    [
        ("da", "territory:DK", {"Danmark"}),
        ("fo", "territory:DK", {"Danmark"}),
        ("is", "territory:DK", {"Danmörk"}),
        ("fo", "territory:FO", {"Føroyar"}),
        ("fo", "language:is", {"íslendskt"}),
        ("is", "language:fo", {"færeyska"}),
        ("da", "script:Cyrl", {"kyrillisk"}),
        ("fo", "city:Europe/Copenhagen", {"Keypmannahavn"}),
        ("fo", "currency:DKK", {"donsk króna", "danskar krónur"}),
        ("is", "currency:DKK", {"dönsk króna", "danskar krónur"}),
        ("no", "zone:Azores", {"asorisk tid", "asorisk normaltid", "asorisk sommertid"}),
        ("mr", "territory:IN", {"भारत"}),
    ],
)
def test_names_are_those_of_the_language(language, entity, names):
    assert {name for name, e, _ in cldr.names(language) if e == entity} == names


def test_each_name_of_an_entity_counts_once():
    assert {count for _, _, count in cldr.names("da")} == {1}


def test_nothing_is_inherited():
    from babel import Locale

    merged = Locale.parse("fo").time_zones
    cities = {entity for entity in cldr.names("fo").entities if entity.startswith("city:")}
    # Root calls this city Curaçao for all languages; Faroese says nothing of it.
    assert merged["America/Curacao"]["city"] == "Curaçao"
    assert "city:America/Curacao" not in cities
    assert "city:Europe/Copenhagen" in cities


def test_what_babel_has_loaded_makes_no_difference():
    code = (
        "from candgen.integrations import cldr\n"
        "from babel import Locale\n"
        "before = cldr.names('nn')\n"
        "name = Locale.parse('nn').territories['DE']\n"  # inherited from no
        "assert name == 'Tyskland', name\n"
        "assert 'territory:DE' not in before.entities\n"
        "assert cldr.names('nn') == before\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_neither_codes_nor_patterns_nor_the_unknown_are_names():
    for name, entity, _ in cldr.names("fo"):
        assert name.casefold() != entity.partition(":")[2].casefold()
        assert "{" not in name
    assert not {"territory:ZZ", "language:und", "city:Etc/Unknown"} & set(cldr.names("fo").entities)


def test_patterns_would_not_pass(monkeypatch):
    data = {
        "territories": {"FO": "Føroyar", "DK": "DK", "ZZ": "ókent øki", "SE": "∅∅∅"},
        "currency_names_plural": {"DKK": {"one": "króna", "other": "{0} krónur"}},
        "time_zones": {"Etc/UTC": {"long": {"standard": "heimstíð"}}},
    }
    monkeypatch.setattr(cldr, "_own", lambda _code: data)
    assert list(cldr.names("fo")) == [("Føroyar", "territory:FO", 1), ("króna", "currency:DKK", 1)]


@pytest.mark.parametrize("written", ["pt_PT", "pt-PT", "PT-pt", " pt_pt"])
def test_codes_are_read_as_people_write_them(written):
    assert cldr.locale(written) == "pt_PT"
    assert cldr.names(written) == cldr.names("pt_PT")


def test_unknown_languages_are_told_which_there_are():
    with pytest.raises(ParameterError, match=r"unknown language 'xx': .* af, .*, fo, .*, zu$"):
        cldr.names("xx")


@pytest.mark.parametrize("code", ["nb", "en_US"])
def test_codes_without_names_of_their_own(code):
    with pytest.raises(ParameterError, match=f"'{code}' has no names of its own"):
        cldr.names(code)


def test_languages_have_a_useful_number_of_names():
    codes = cldr.languages()
    assert codes == sorted(codes)
    assert {"fo", "is", "da", "no", "mk", "mr", "zh_Hant"} <= set(codes)
    assert not {"nb", "en_GB", "co"} & set(codes)


def test_labels_are_english():
    shown = map(cldr.label, ["territory:FO", "city:America/Argentina/Rio_Gallegos", "script:Thai"])
    assert list(shown) == ["Faroe Islands", "Rio Gallegos", "Thai"]
    assert cldr.language_name("fo") == "Faroese"
    assert cldr.language_name("sr_Latn") == "sr_Latn"


def test_without_babel_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "babel", None)
    monkeypatch.delitem(sys.modules, "candgen.integrations.cldr")
    with pytest.raises(MissingExtraError, match=r"pip install 'candgen\[demo\]'"):
        importlib.import_module("candgen.integrations.cldr")


# The experiment


@pytest.fixture(scope="module")
def experiment():
    names = {code: cldr.names(code) for code in ("fo", "is", "da", "no")}
    return demo._experiment(names, target="fo", seed=0)


def test_hidden_names_are_nowhere_in_the_training_data(experiment):
    train = {(mention, entity) for mention, entity, _ in experiment.tables["fo"]}
    hidden = {query[:2] for query in experiment.hidden}
    assert not train & hidden
    assert train | hidden == {(mention, entity) for mention, entity, _ in cldr.names("fo")}
    assert 0.27 < len(hidden) / len(train | hidden) < 0.33
    assert set(experiment.generators["joint"].parameters["languages"]) == {"fo", "is", "da", "no"}
    assert experiment.generators["joint"].inputs["fo"]["sha256"] == experiment.tables["fo"].digest


def test_types_follow_from_the_training_data(experiment):
    train = [(mention, entity) for mention, entity, _ in experiment.tables["fo"]]
    for mention, entity, kind in experiment.queries:
        known = any(entity == other for _, other in train)
        expected = "easy" if (mention, entity) in train else "medium" if known else "hard"
        assert kind == expected


def test_recall_counts_all_queries_of_a_type(experiment):
    """Counted by hand, from the candidates of each query."""
    answers = {
        method: generator.candidates([query.mention for query in experiment.queries])
        for method, generator in experiment.generators.items()
    }
    for method, found in answers.items():
        hits = {(kind, k): [] for kind in (*demo.TYPES, "hidden") for k in demo.KS}
        for query, candidates in zip(experiment.queries, found, strict=True):
            for k in demo.KS:
                hit = query.entity in [candidate.entity for candidate in candidates[:k]]
                hits[query.type, k].append(hit)
                if query.type != "easy":
                    hits["hidden", k].append(hit)
        for (kind, k), each in hits.items():
            expected = pytest.approx(100 * sum(each) / len(each))
            if kind == "hidden":
                assert experiment.on_hidden.recall(method, k) == expected
            else:
                assert experiment.on_all.recall(method, k, type=kind) == expected


def test_exact_matching_answers_with_the_entities_of_the_very_name():
    tables = {
        "fo": candgen.MentionTable.from_pairs([("Vín", "Q282"), ("Wien", "Q1741")]),
        "is": candgen.MentionTable.from_pairs([("vín", "Q282"), ("Vin", "Q1741"), ("VÍN", "Q5")]),
    }
    exact = demo.ExactMatch(tables, "fo")
    assert exact.candidates(["vÍn", "Vínið"]) == [[("Q282", 2), ("Q5", 1), ("Q1741", 1)], []]
    assert exact.candidates(["vÍn"], k=1) == [[("Q282", 2)]]


def test_another_seed_hides_other_names(experiment):
    names = {code: cldr.names(code) for code in ("fo", "is")}
    other = demo._experiment(names, target="fo", seed=1)
    assert {query[:2] for query in other.hidden} != {query[:2] for query in experiment.hidden}


def test_indexes_find_what_exact_matching_misses(experiment):
    recall = {method: experiment.on_hidden.recall(method, 30) for method in experiment.generators}
    assert recall["exact matching"] < 50
    assert min(recall["zero-shot"], recall["joint"]) > 90


# The command


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What the demo prints, and where it ran."""
    app = typer.Typer()
    app.command()(demo.demo)
    folder = tmp_path_factory.mktemp("a demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = CliRunner().invoke(app, [], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout, folder


def test_the_demo_prints_recall(printed, experiment):
    text, _ = printed
    assert "Faroese, learned from Icelandic, Danish and Norwegian" in text
    assert f"The {len(experiment.hidden)} hidden names" in text
    for method in ("exact matching", "zero-shot", "joint"):
        row = [f"{experiment.on_hidden.recall(method, k):.1f}" for k in (1, 10, 30)]
        assert re.search(rf"^{method} +{' +'.join(row)} +█", text, re.MULTILINE)
        types = ("easy", "medium", "hard")
        row = [f"{experiment.on_all.recall(method, 1, type=kind):.1f}" for kind in types]
        assert re.search(rf"^{method} +{' +'.join(row)} *$", text, re.MULTILINE)


def test_the_demo_shows_names_that_cannot_be_looked_up(printed, experiment):
    text, _ = printed
    examples = demo._examples(experiment, 0)
    exact = experiment.generators["exact matching"].candidates([each.mention for each in examples])
    assert [query.entity.partition(":")[0] for query in examples] == list(demo.KINDS)
    assert exact == [[]] * len(examples)
    for query in examples:
        assert query.mention in text
        assert query.type != "easy"


def test_the_suggested_commands_work(printed, monkeypatch, capfdbinary):
    text, folder = printed
    monkeypatch.chdir(folder)
    commands = [shlex.split(line) for line in text.partition("Try next:")[2].splitlines() if line]
    assert [command[:2] for command in commands] == [
        ["candgen", "query"],
        ["candgen", "explain"],
        ["candgen", "info"],
        ["candgen", "serve"],
        ["candgen", "demo"],
    ]
    for command in commands:
        if command[1] == "serve":  # it would go on; test_cli_serve.py starts it
            assert command[2:] == ["demo-fo.candgen"]
            continue
        assert main(command[1:]) == 0, command
        assert capfdbinary.readouterr().out
    assert {path.name for path in folder.iterdir()} == {"demo-fo.candgen", "demo-mk.candgen"}


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
def test_on_a_terminal_it_ends_with_a_page_until_control_c(tmp_path):
    pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "candgen", "demo"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=tmp_path,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
    )
    os.close(theirs)
    shown = b""
    try:
        while b"Ctrl-C ends it" not in shown:
            ready, _, _ = select.select([ours], [], [], 120)
            assert ready, shown.decode()
            shown += os.read(ours, 1 << 16)
        (address,) = re.findall(r"Open (http://127\.0\.0\.1:\d+/) in a browser", shown.decode())
        with urllib.request.urlopen(f"{address}readyz", timeout=30) as answer:
            assert json.load(answer) == {"status": "ok", "indexes": 1}
        os.write(ours, b"\x03")
        assert process.wait(60) == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours)


def test_the_index_goes_where_it_is_told(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    output = tmp_path / "an index"
    assert main(["demo", "--target", "mr", "--pivot", "hi", "-o", str(output)]) == 0
    assert f"query '{output}'" in capfd.readouterr().out
    assert candgen.load(output).language == "mr"
    assert list(tmp_path.iterdir()) == [output]


def test_the_saved_index_is_the_one_that_was_measured(printed, experiment):
    _, folder = printed
    index = candgen.load(folder / "demo-fo.candgen")
    mentions = [query.mention for query in experiment.queries]
    expected = experiment.generators["second stage"].candidates(mentions)
    assert index.candidates(mentions) == expected
    shown = EntityTable.from_stored(index_folder.load(folder / "demo-fo.candgen"))
    assert shown.of("city:Europe/Athens") == [("en", "Athens", "")]
    assert shown.types_of("city:Europe/Athens") == ["city"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--target", "xx", "--pivot", "da"], "unknown language 'xx'"),
        (["--pivot", "xx"], "unknown language 'xx'"),
        (["--target", "mk"], "the target 'mk' has no pivots"),
        (["--target", "fo", "--pivot", "FO"], "'fo' is given twice"),
        (["--pivot", "is", "--pivot", "is"], "'is' is given twice"),
        (["--target", "en_GB", "--pivot", "en"], "only 4 names"),
        (["--target", "nb", "--pivot", "da"], "'nb' has no names of its own"),
    ],
)
def test_mistakes_are_one_sentence(options, sentence, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", *options]) == 2
    said = capfd.readouterr()
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("called", "found", "program"),
    [
        ("bin/candgen", None, ["bin/candgen"]),
        ("bin/candgen", "other/candgen", ["bin/candgen"]),
        ("bin/candgen", "bin/candgen", ["candgen"]),
        ("site/candgen/__main__.py", None, [sys.executable, "-m", "candgen"]),
        ("bin/pytest", None, ["candgen"]),
        ("site/pytest/__main__.py", None, ["candgen"]),
    ],
)
def test_commands_name_the_program_as_it_was_called(called, found, program, tmp_path, monkeypatch):
    for path in ("bin/candgen", "other/candgen"):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setattr(demo.shutil, "which", lambda _name: found)
    assert demo._program() == program


def test_what_takes_long_is_said_on_stderr_and_nothing_else_is(monkeypatch, capsys):
    with demo._waiting("soon done"):
        pass
    monkeypatch.setattr(demo, "SECONDS_BEFORE_NOTE", 0.01)
    with demo._waiting("compiling"):
        for _ in range(500):
            if (said := capsys.readouterr().err) != "":
                break
            time.sleep(0.01)
    assert said == "candgen: compiling\n"


def test_importing_the_command_imports_nothing_heavy():
    code = (
        "import sys, candgen.cli.demo\n"
        "print(*{'babel', 'numba', 'numpy', 'pyarrow', 'regex'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""


def test_the_reader_of_names_has_examples_that_work():
    import doctest

    assert doctest.testmod(cldr).failed == 0
    assert Path(cldr.__file__).name == "cldr.py"
