"""The script that tells expected skips from others."""

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PASSED = '<testcase classname="tests.test_a" name="test_one" time="0.1"/>'
REASON = (
    "('tests/spark/test_extract.py', 39, 'Skipped: PySpark is not installed: make test-extras')"
)
MODULE = (
    '<testcase classname="" name="tests.spark.test_extract">'
    f'<skipped type="pytest.skip" message="{REASON}">x</skipped></testcase>'
)
WITH_XDIST = (
    '<testcase classname="" name="tests.spark.test_extract">'
    f'<skipped message="collection skipped">{REASON}</skipped></testcase>'
)


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("check_skips", ROOT / ".ci" / "check_skips.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def skipped(reason, *, kind="pytest.skip"):
    element = f'<skipped type="{kind}" message="{reason}">tests/test_a.py:1: {reason}</skipped>'
    return f'<testcase classname="tests.test_a" name="test_two" time="0">{element}</testcase>'


def written(path, *cases):
    text = f'<testsuites><testsuite name="pytest">{"".join(cases)}</testsuite></testsuites>'
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("module", [MODULE, WITH_XDIST])
def test_expected_skips_are_counted_by_reason(script, tmp_path, capsys, module):
    first = written(tmp_path / "a.xml", PASSED, skipped("there is no GPU here"), module)
    second = written(tmp_path / "b.xml", skipped("there is no GPU here"), PASSED)
    assert script.main([first, second]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "3 of 5 tests were skipped",
        "    2  there is no GPU here",
        "    1  PySpark is not installed: make test-extras",
    ]


def test_a_reason_that_is_not_listed_fails(script, tmp_path, capsys):
    path = written(tmp_path / "a.xml", PASSED, skipped("matplotlib is not installed"))
    assert script.main([path]) == 1
    error = capsys.readouterr().err
    assert error == "not expected: tests.test_a::test_two: matplotlib is not installed\n"


def test_more_than_the_expected_number_fails(script, tmp_path, capsys):
    path = written(tmp_path / "a.xml", MODULE, MODULE)
    assert script.main([path]) == 1
    assert capsys.readouterr().err.count("not expected: ") == 1


def test_expected_failures_are_not_skips(script, tmp_path, capsys):
    path = written(tmp_path / "a.xml", PASSED, skipped("a known bug", kind="pytest.xfail"))
    assert script.main([path]) == 0
    assert capsys.readouterr().out == "0 of 2 tests were skipped\n"


def test_a_run_without_tests_fails(script, tmp_path, capsys):
    assert script.main([written(tmp_path / "a.xml")]) == 1
    assert capsys.readouterr().err == "no test was run\n"


@pytest.mark.parametrize(
    ("reason", "there"),
    [
        ("needs a Chromium: chromium, chromium-browser or google-chrome", "has_chromium"),
        ("needs nginx: Debian's package nginx-light", "has_nginx"),
        ("Java, which Spark needs, is not on this machine", "has_java"),
        ("../shared/data is not here: x (CANDGEN_SHARED_DATA names another)", "has_shared"),
    ],
)
def test_what_a_machine_has_must_be_tested(script, monkeypatch, tmp_path, reason, there):
    path = written(tmp_path / "a.xml", *[skipped(reason)] * 9)
    monkeypatch.setattr(script, there, lambda: True)
    assert script.main([path]) == 1
    monkeypatch.setattr(script, there, lambda: False)
    assert script.main([path]) == 0


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs a Unix")
def test_permissions_are_tested_unless_the_user_is_root(script, monkeypatch, tmp_path):
    path = written(tmp_path / "a.xml", skipped("this user may write everywhere"))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert script.main([path]) == 1
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert script.main([path]) == 0


def test_every_reason_is_one_of_a_test(script):
    """A reason that no test has any more would be left here for ever."""
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "tests").rglob("*.py")
        if path.resolve() != Path(__file__).resolve()
    )
    for expected in script.EXPECTED:
        for reason in expected.reason.split("|"):
            assert reason in sources, reason
