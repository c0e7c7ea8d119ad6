"""Examples in docstrings are true, and help() explains every parameter of what is public."""

import doctest
import importlib.util
import inspect
import pkgutil
import re
from importlib import metadata
from operator import attrgetter

import pytest

import candgen
import candgen.kernels

LEFT_OUT = ["candgen.__main__"]
if importlib.util.find_spec("torch") is None:
    LEFT_OUT.append("candgen.generators.neural.encoders")  # it needs PyTorch, which is optional
if importlib.util.find_spec("spacy") is None:
    LEFT_OUT.append("candgen.integrations.spacy")  # it needs spaCy, which is optional
if importlib.util.find_spec("pyspark") is None:
    LEFT_OUT.append("candgen.wikipedia.spark.extract")  # it needs PySpark, which is optional
MODULES = [
    module.name
    for module in pkgutil.walk_packages(candgen.__path__, "candgen.")
    if not module.name.startswith("candgen.kernels") and module.name not in LEFT_OUT
]


def prompts_in(module):
    """How many examples a module has: each begins with a prompt in its source."""
    lines = inspect.getsource(module).splitlines()
    return sum(line.lstrip().startswith(">>> ") for line in lines)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    """All examples are true, and doctest finds every one that is written."""
    module = importlib.import_module(name)
    found = doctest.testmod(module)
    assert (found.failed, found.attempted) == (0, prompts_in(module))


def test_kernels_have_no_examples():
    """They are left out above, because doctest cannot look into compiled functions."""
    for module in pkgutil.walk_packages(candgen.kernels.__path__, "candgen.kernels."):
        assert prompts_in(importlib.import_module(module.name)) == 0


METHODS = (
    "build",
    "candidates",
    "explain",
    "probabilities",
    "save",
    "with_first_stage",
    "with_weights",
)
GENERATORS = ("Cascade", "Charagram", "PivotTokenIndex", "Rerank", "Translation", "WikiPriors")
CALLABLES = [
    *("Candidate", "Cascade", "Explanation", "Rerank", "check_generator", "load"),
    *("CharNgrams", "Query", "WholeMention", "Words"),
    *("MentionTable.from_pairs", "MentionTable.read", "MentionTable.write"),
    *("Auto", "PivotRanking", "Report", "Split", "build_auto", "evaluate", "rank_pivots", "split"),
    *("Report.recall", "Report.mrr", "Report.compare", "Report.interval", "Report.write_results"),
    *(
        f"{name}.{method}"
        for name in GENERATORS
        for method in METHODS
        if hasattr(getattr(candgen, name), method)
    ),
]


def test_every_public_name_is_listed():
    assert {name.split(".")[0] for name in CALLABLES} == {*candgen.__all__} - {"CandgenError"}


@pytest.mark.parametrize("name", CALLABLES)
def test_every_parameter_is_explained(name):
    """help() of what candgen offers names every parameter, and says what comes back."""
    function = attrgetter(name)(candgen)
    text = inspect.getdoc(function)
    parameters = inspect.signature(function).parameters
    missing = [each for each in parameters if each != "self" and not explains(text, each)]
    assert not missing
    if name.endswith(".build") or name == "load":
        assert "\nReturns:\n" in text


def explains(text, parameter):
    """Whether a docstring has a line for a parameter, or mentions it as code."""
    return re.search(rf"^ +{parameter}: \S|``{parameter}\b", text, re.MULTILINE) is not None


def test_the_check_of_parameters_can_fail():
    assert not explains("Args:\n    mentions: What to ask for.", "mention")
    assert not explains("Build from a target.", "target")
    assert explains("Args:\n    mentions: What to ask for.", "mentions")


def test_completion_offers_the_public_names():
    assert {*candgen.__all__} < {*dir(candgen)}
    others = {name for name in dir(candgen) if not name.startswith("__")} - {*candgen.__all__}
    assert others == set()


def test_there_is_a_version():
    assert re.fullmatch(r"\d+\.\d+.*", candgen.__version__)
    assert candgen.__version__ == metadata.version("candgen")
    with pytest.raises(AttributeError, match="has no attribute 'versoin'"):
        candgen.versoin  # noqa: B018
