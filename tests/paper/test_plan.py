"""What a plan measures, and what it measures again."""

from dataclasses import replace

import pytest

from candgen import MentionTable
from candgen.paper import measurements
from candgen.paper.cache import ResultCache
from candgen.paper.corpus import Corpus
from candgen.paper.plan import Step
from tests.support.paper_world import PTI, TABLES, TOY_PAIRS, study


def _grid(**values):
    return {"methods": {"pti": replace(PTI, grid={**PTI.grid, **values})}}


def _rewritten(language):
    def change(folder, _patch):
        MentionTable.from_pairs([*TABLES[language], ("new", "Q1")]).write(
            folder / f"{language}.tsv"
        )
        return {}

    return change


CHANGES = {
    "the target's file": _rewritten("fo"),
    "the pivot's file": _rewritten("is"),
    "the English file": _rewritten("en"),
    "per_type": lambda folder, _: {"corpus": Corpus(folder, per_type=4)},
    "seed": lambda folder, _: {"corpus": Corpus(folder, per_type=5, seed=1)},
    "normalizer": lambda folder, _: {"corpus": Corpus(folder, per_type=5, normalizer="none")},
    "bad rows": lambda folder, _: {"corpus": Corpus(folder, per_type=5, skip_bad_rows=True)},
    "options": lambda *_: {"options": {"threshold": 0.5}},
    "grid": lambda *_: _grid(lam=(0.3, 0.6)),
    "zero-shot only": lambda *_: {"pairs": (TOY_PAIRS[0]._replace(zero_shot_only=True),)},
    "version": lambda _, patch: patch.setattr(
        "candgen.paper.plan.version", lambda package="candgen": f"{package} 2"
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_is_measured_anew(what, tmp_path, monkeypatch):
    for language in ("fo", "is", "en"):
        TABLES[language].write(tmp_path / f"{language}.tsv")
    calls = []

    def measured(case, *_rest):
        calls.append(case)
        return {"settings": {name: {"parameters": {}} for name in ("zero-shot", "joint")}}

    monkeypatch.setattr(measurements, "ranks", measured)
    monkeypatch.setattr(measurements, "thresholds", lambda case, *_: measured(case))
    output = tmp_path / "out"

    def measure(**changes):
        made = study(tmp_path, output, **{"pairs": TOY_PAIRS[:1], **changes})
        made.measure(["thresholding"], lambda *_: None)
        return len(calls)

    assert measure() == 2
    assert measure() == 2
    changes = CHANGES[what](tmp_path, monkeypatch) or {}
    assert measure(**changes) == 4
    assert measure(**changes) == 4


def test_a_language_alone_depends_on_english_names(tmp_path, monkeypatch):
    for language in ("fo", "is", "de", "en"):
        TABLES[language].write(tmp_path / f"{language}.tsv")
    calls = []
    monkeypatch.setattr(measurements, "high_resource", lambda *_: calls.append(1) or {})

    def measure():
        made = study(tmp_path, tmp_path / "out", pairs=TOY_PAIRS[:1])
        made.measure(["high-resource"], lambda *_: None)
        return len(calls)

    assert (measure(), measure()) == (1, 1)
    _rewritten("en")(tmp_path, None)
    assert (measure(), measure()) == (2, 2)
    _rewritten("is")(tmp_path, None)
    assert measure() == 2


def test_another_choice_on_dev_is_measured_anew(folder, tmp_path, monkeypatch):
    calls = []
    chosen = {"lam": 1.0}

    def ranks(case, *_rest):
        return {"settings": {name: {"parameters": chosen} for name in ("zero-shot", "joint")}}

    monkeypatch.setattr(measurements, "ranks", ranks)
    monkeypatch.setattr(measurements, "thresholds", lambda *_: calls.append(1) or {})
    for lam in (1.0, 1.0, 0.2):
        chosen["lam"] = lam
        made = study(folder, tmp_path / str(lam), pairs=TOY_PAIRS[:1])
        made = replace(made, cache=ResultCache(tmp_path / "records"))
        for path in (tmp_path / "records").glob("fo-is-ranks*"):
            path.unlink()
        made.measure(["thresholding"], lambda *_: None)
    assert len(calls) == 2


def test_steps_read_well():
    assert str(Step("ranks", "fo-is", "pti")) == "fo-is: ranks, pti"
    assert str(Step("ceilings", "fo-is")) == "fo-is: ceilings"
