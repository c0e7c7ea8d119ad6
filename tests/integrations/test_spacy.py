"""spaCy's entity linker over an index; what docs/spacy.md shows is what happens."""

import contextlib
import io
import math
import random
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import candgen
from candgen.errors import MissingExtraError, ParameterError, StorageError
from candgen.generators.calibration import Calibration, Weights
from candgen.storage import index_folder
from tests.support import toy

spacy = pytest.importorskip("spacy", reason="spaCy is optional")

from spacy.tokens import Span  # noqa: E402
from spacy.training import Example  # noqa: E402

from candgen.integrations.spacy import (  # noqa: E402
    CandgenKB,
    EntityVectors,
    _distinct,
    candidate_batch_generator,
    candidate_generator,
    knowledge_base,
)

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "spacy.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
KB = "candgen.KnowledgeBase.v1"

ICELANDIC = candgen.MentionTable.from_pairs(toy.ICELANDIC)
FAROESE = candgen.MentionTable.from_pairs(toy.FAROESE)
INDEX = candgen.PivotTokenIndex.build({"is": ICELANDIC}, FAROESE, language="fo")


@pytest.fixture
def path(tmp_path):
    INDEX.save(tmp_path / "fo.candgen")
    return str(tmp_path / "fo.candgen")


@pytest.fixture
def nlp():
    made = spacy.blank("fo")
    made.add_pipe("sentencizer")
    return made


def marked(nlp, *names):
    """A document in which every word is a name."""
    doc = spacy.tokens.Doc(nlp.vocab, words=list(names))
    doc.ents = [Span(doc, at, at + 1, "NAME") for at in range(len(names))]
    return doc


def add_linker(nlp, *, vectors=None, **settings):
    """An entity linker of the pipeline, with the knowledge base of a config."""
    kb = {"@misc": KB, "path": settings.pop("path", None), "vectors": vectors}
    config = {"generate_empty_kb": kb, "incl_context": False, **settings}
    return nlp.add_pipe("entity_linker", config=config)


def linked(nlp, *names):
    """What the pipeline says that each name means."""
    return [ent.kb_id_ for ent in nlp(marked(nlp, *names)).ents]


def values(candidates):
    return [(each.entity_, each.alias_, each.prior_prob) for each in candidates]


# ---------------------------------------------------------------- the page


def test_the_page_shows_what_happens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, printed, compared = {}, "", 0
    for language, text in BLOCKS:
        if language == "ini":
            Path("linker.cfg").write_text(text, encoding="utf-8")
        elif language == "python":
            assert not printed, "the page does not show what this prints"
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "spacy.md", "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert printed == text
            printed, compared = "", compared + 1
    assert not printed
    assert compared >= 6


def test_the_config_of_the_page_is_found_without_an_import(tmp_path, path):
    (config,) = (text for language, text in BLOCKS if language == "ini")
    (tmp_path / "linker.cfg").write_text(config, encoding="utf-8")
    code = (
        "from spacy.util import load_config, load_model_from_config\n"
        "nlp = load_model_from_config(load_config('linker.cfg'), auto_fill=True)\n"
        "nlp.get_pipe('entity_ruler').add_patterns([{'label': 'NAME', 'pattern': 'Wien'}])\n"
        "print(nlp('Wien er ein býur.').ents[0].kb_id_)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.strip() == "Q1741", done.stderr


def test_the_page_names_all_that_is_registered():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entry_points = project["entry-points"]["spacy_misc"]
    assert set(re.findall(r"^\| `(candgen\.\w+\.v1)`", TEXT, re.MULTILINE)) == set(entry_points)
    for name, target in entry_points.items():
        module, _, function = target.partition(":")
        assert spacy.registry.misc.get(name) is getattr(sys.modules[module], function)


# ---------------------------------------------------------------- candidates


def test_candidates_are_those_of_the_index(nlp, path):
    kb = CandgenKB(nlp.vocab, path)
    found = kb.get_candidates(nlp.make_doc("Vín")[:])
    answer = INDEX.candidates(["Vín"])[0]
    expected = Calibration.load(path).probabilities("Vín", answer)
    assert [each.entity_ for each in found] == [each.entity for each in answer]
    assert [each.prior_prob for each in found] == pytest.approx(expected, abs=1e-6)
    assert [each.entity for each in found] == [nlp.vocab.strings[each.entity_] for each in found]
    assert {each.alias_ for each in found} == {"Vín"}
    assert kb.generator.candidates(["Vín"]) == [answer]


def test_few_candidates_have_the_probabilities_of_many(nlp, path):
    span = nlp.make_doc("Vín")[:]
    many = values(CandgenKB(nlp.vocab, path).get_candidates(span))
    few = CandgenKB(nlp.vocab, path, k=2)
    assert values(few.get_candidates(span)) == many[:2]
    assert values(candidate_generator(k=1)(few, span)) == many[:1]
    assert values(candidate_batch_generator(k=3)(few, [span])[0]) == many


def test_a_batch_asks_the_index_once(nlp, path, monkeypatch):
    kb = CandgenKB(nlp.vocab, path)
    asked = []

    class Counting:
        def candidates(self, mentions, k):
            asked.append(mentions)
            return INDEX.candidates(mentions, k)

        probabilities = staticmethod(INDEX.probabilities)

    monkeypatch.setattr(kb, "_loaded", replace(kb._index(), generator=Counting()))
    doc = nlp.make_doc("Vín")
    spans = [nlp.make_doc(text)[:] for text in ("Vín", "   ", "Oslo", "Vín", "Wien", "\n")]
    found = kb.get_candidates_batch(iter([*spans, doc[0:0]]))
    assert asked == [["Vín", "Oslo", "Wien"]]
    assert [len(each) for each in found] == [3, 0, 0, 3, 3, 0, 0]
    assert [values(each) for each in found] == [
        values(kb.get_candidates(span)) for span in [*spans, doc[0:0]]
    ]
    del asked[:]
    assert kb.get_candidates_batch([]) == []
    assert not asked


def test_the_linker_asks_in_batches_and_sets_the_ids(nlp, path):
    add_linker(nlp, path=path, candidates_batch_size=2)
    names = ["Vín", "Oslo", "Wien", "Rín", "Vínið"]
    expected = ["Q282", "NIL", "Q1741", "Q584", "Q282"]
    assert linked(nlp, *names) == expected
    nlp.get_pipe("entity_linker").candidates_batch_size = 1
    assert linked(nlp, *names) == expected


def test_the_functions_of_the_config_give_the_same_as_those_of_spacy(nlp, path):
    one = {"@misc": "candgen.CandidateGenerator.v1"}
    many = {"@misc": "candgen.CandidateBatchGenerator.v1"}
    linker = add_linker(nlp, path=path, get_candidates=one, get_candidates_batch=many)
    span = nlp.make_doc("Vín")[:]
    assert values(linker.get_candidates(linker.kb, span)) == values(linker.kb.get_candidates(span))
    assert linked(nlp, "Vín") == ["Q282"]


def test_equal_candidates_are_not_drawn_by_lot(nlp, tmp_path):
    table = candgen.MentionTable.from_pairs([("Vík", f"Q{number}") for number in range(1, 9)])
    candgen.PivotTokenIndex.build(target=table).save(tmp_path / "ties")
    scores = {each.score for each in candgen.load(tmp_path / "ties").candidates(["Vík"])[0]}
    assert len(scores) == 1
    add_linker(nlp, path=str(tmp_path / "ties"))
    for seed in range(20):
        random.seed(seed)
        assert linked(nlp, "Vík") == ["Q1"]


@given(st.lists(st.floats(0, 1), max_size=40))
def test_probabilities_fall(given):
    given.sort(reverse=True)
    made = _distinct(given)
    assert made == [float(np.float32(each)) for each in made]
    assert all(first > second for first, second in pairwise(made))
    assert made == pytest.approx(given, abs=1e-5)


def test_a_threshold_is_a_probability(nlp, path):
    best = CandgenKB(nlp.vocab, path).get_candidates(nlp.make_doc("Vín")[:])[0].prior_prob
    assert 0.5 < best < 0.99
    linker = add_linker(nlp, path=path, threshold=best - 0.01)
    assert linked(nlp, "Vín") == ["Q282"]
    linker.threshold = best + 0.01
    assert linked(nlp, "Vín") == ["NIL"]


def test_a_stored_calibration_counts(nlp, path):
    def first():
        return CandgenKB(nlp.vocab, path).get_candidates(nlp.make_doc("Vín")[:])[0].prior_prob

    before = first()
    Calibration("log", Weights(1.0, 50.0, 0.0), 9).store(path)
    assert first() < 1e-6 < before
    linker = add_linker(nlp, path=path)
    assert (
        linker.kb.from_bytes(linker.kb.to_bytes())
        .get_candidates(nlp.make_doc("Vín")[:])[0]
        .prior_prob
        == first()
    )


@pytest.mark.parametrize(
    "generator",
    [
        candgen.Rerank(INDEX),
        candgen.WikiPriors.build({"is": ICELANDIC}, FAROESE, language="fo"),
        candgen.Cascade(candgen.WikiPriors.build(target=FAROESE, language="fo"), INDEX),
    ],
    ids=["rerank", "wikipriors", "cascade"],
)
def test_any_generator_will_do(nlp, tmp_path, generator):
    generator.save(tmp_path / "any")
    kb = CandgenKB(nlp.vocab, tmp_path / "any")
    kb.to_disk(tmp_path / "copy")
    span = nlp.make_doc("Wien")[:]
    expected = [each.entity for each in generator.candidates(["Wien"])[0]]
    assert [each.entity_ for each in kb.get_candidates(span)] == expected
    copy = CandgenKB(nlp.vocab).from_disk(tmp_path / "copy")
    assert values(copy.get_candidates(span)) == values(kb.get_candidates(span))


# ---------------------------------------------------------------- vectors


def test_entities_without_a_vector_share_one(nlp, path):
    kb = CandgenKB(nlp.vocab, path, vectors={"Q282": [0.0, 3.0], "Q584": [0, 0], "Q9": [1, 2]})
    assert kb.entity_vector_length == 2
    shared = pytest.approx([math.sqrt(0.5)] * 2)
    assert kb.get_vector("Q282") == [0.0, 3.0]
    assert kb.get_vectors(iter(["Q9", "Q584", "unknown"])) == [[1.0, 2.0], shared, shared]
    found = {each.entity_: each.entity_vector for each in kb.get_candidates(nlp.make_doc("Vín")[:])}
    assert found == {"Q282": [0.0, 3.0], "Q1741": shared, "Q584": shared}
    assert CandgenKB(nlp.vocab, path, entity_vector_length=5).entity_vector_length == 5


def test_without_vectors_the_most_probable_one_is_taken_in_any_context(nlp, path):
    add_linker(nlp, path=path, incl_context=True)
    nlp.initialize()
    for seed in range(5):
        random.seed(seed)
        assert linked(nlp, "Vín", "er", "ikki", "Rín")[::3] == ["Q282", "Q584"]


@pytest.mark.parametrize("loader", [False, True], ids=["settings", "kb_loader"])
def test_training_learns_from_the_context(nlp, path, tmp_path, loader):
    np.savez(tmp_path / "v.npz", entities=["Q282", "Q1741"], vectors=np.eye(2))
    kb = {"path": path, "vectors": str(tmp_path / "v.npz")}
    linker = add_linker(nlp, incl_context=True, **({} if loader else kb))
    if loader:
        nlp.config["initialize"]["components"]["entity_linker"] = {"kb_loader": {"@misc": KB, **kb}}
    meant = {"Vín er býur": "Q1741", "Vín er drykkur": "Q282"}
    examples = [
        Example.from_dict(
            nlp.make_doc(text), {"entities": [(0, 3, "NAME")], "links": {(0, 3): {entity: 1.0}}}
        )
        for text, entity in meant.items()
    ]
    spacy.util.fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    losses = [nlp.update(examples, sgd=optimizer)["entity_linker"] for _ in range(25)]
    assert losses[-1] < losses[0] / 10
    assert linker.model.get_dim("nO") == linker.kb.entity_vector_length == 2

    def answers(trained):
        docs = [trained.make_doc(text) for text in meant]
        for doc in docs:
            doc.ents = [Span(doc, 0, 1, "NAME")]
        return [trained(doc).ents[0].kb_id_ for doc in docs]

    assert answers(nlp) == list(meant.values())
    assert nlp.evaluate(examples)["nel_micro_f"] == 1.0
    nlp.to_disk(tmp_path / "trained")
    assert answers(spacy.load(tmp_path / "trained")) == list(meant.values())


@pytest.mark.parametrize(
    ("entities", "vectors", "message"),
    [
        (["Q1", "Q2"], [[1.0], [2.0, 3.0]], "expected a row of numbers for each"),
        (["Q1", "Q2"], [[1.0]], "expected a row of numbers for each"),
        (["Q1"], [1.0], "expected a row of numbers for each"),
        (["Q1"], [[]], "expected a row of numbers for each"),
        (["Q1"], [["one"]], "expected a row of numbers for each"),
        (["Q1"], [[{}]], "expected a row of numbers for each"),
        (["Q1"], [[1e300]], "the vector of Q1 is not finite"),
        (["Q1", "Q2"], [[1.0], [math.nan]], "the vector of Q2 is not finite"),
        (["Q2", "Q1", "Q2"], [[1.0], [2.0], [3.0]], "Q2 has two vectors"),
    ],
)
def test_vectors_that_are_none(entities, vectors, message):
    with pytest.raises(ParameterError, match=message):
        EntityVectors.of(entities, vectors)


@pytest.mark.parametrize(
    "write",
    [
        lambda file: file.write_text("entity\tvector\n", encoding="utf-8"),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(b"PK\x03\x04 and no more"),
        lambda file: np.savez(file, entities=["Q1"]),
        lambda file: np.savez(file, entities=np.array(["Q1"], object), vectors=[[1.0]]),
        lambda file: file.with_suffix(".npy").rename(file),
    ],
    ids=["text", "empty", "damaged", "no vectors", "pickle", "npy"],
)
def test_files_that_have_no_vectors(nlp, path, tmp_path, write):
    np.save(tmp_path / "v.npy", np.eye(2))
    write(tmp_path / "v.npz")
    with pytest.raises(StorageError, match=r"v\.npz is not a file with vectors: write one with"):
        knowledge_base(path, vectors=tmp_path / "v.npz")(nlp.vocab)


def test_a_file_with_vectors_that_are_wrong(nlp, path, tmp_path):
    np.savez(tmp_path / "v.npz", entities=["Q1", "Q1"], vectors=np.eye(2))
    with pytest.raises(ParameterError, match="Q1 has two vectors"):
        knowledge_base(path, vectors=tmp_path / "v.npz")(nlp.vocab)
    with pytest.raises(StorageError, match=r"none\.npz does not exist"):
        knowledge_base(path, vectors="none.npz")(nlp.vocab)


# ---------------------------------------------------------------- saved and loaded


def test_a_saved_pipeline_needs_nothing_else(nlp, path, tmp_path):
    linker = add_linker(nlp, path=path)
    linker.set_kb(lambda vocab: CandgenKB(vocab, path, k=2, vectors={"Q282": [0.5, 2.0, 0.0]}))
    span = nlp.make_doc("Vín")[:]
    before = values(linker.kb.get_candidates(span))
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(path)
    (tmp_path / "saved").rename(tmp_path / "moved")
    moved = spacy.load(tmp_path / "moved")
    kb = moved.get_pipe("entity_linker").kb
    assert values(kb.get_candidates(span)) == before
    assert len(before) == 2
    assert kb.get_vector("Q282") == [0.5, 2.0, 0.0]
    assert linked(moved, "Vín", "Wien", "Oslo") == ["Q282", "Q1741", "NIL"]
    moved.to_disk(tmp_path / "moved")  # over what it reads
    again = spacy.load(tmp_path / "moved")
    assert values(again.get_pipe("entity_linker").kb.get_candidates(span)) == before
    folder = tmp_path / "moved" / "entity_linker" / "kb"
    assert candgen.load(folder).candidates(["Vín"]) == INDEX.candidates(["Vín"])
    assert values(CandgenKB(nlp.vocab, folder).get_candidates(span)) == before
    assert len(CandgenKB(nlp.vocab, folder, k=3).get_candidates(span)) == 3


def test_a_length_without_vectors_is_kept(nlp, path, tmp_path):
    CandgenKB(nlp.vocab, path, entity_vector_length=7).to_disk(tmp_path / "kb")
    assert CandgenKB(nlp.vocab).from_disk(tmp_path / "kb").entity_vector_length == 7


def test_the_folder_of_something_else_is_left_alone(nlp, path, tmp_path):
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "contents").write_bytes(b"of spaCy's own knowledge base")
    with pytest.raises(StorageError, match="not a candgen index"):
        CandgenKB(nlp.vocab, path).to_disk(tmp_path / "kb")
    assert [file.name for file in (tmp_path / "kb").iterdir()] == ["contents"]


def test_a_linker_with_another_kind_of_knowledge_base_cannot_load_it(nlp, path, tmp_path):
    nlp.add_pipe("entity_linker", config={"incl_context": False}).set_kb(knowledge_base(path))
    assert linked(nlp, "Vín") == ["Q282"]
    nlp.to_disk(tmp_path / "saved")
    with pytest.raises(ValueError, match="Can't read file"):
        spacy.load(tmp_path / "saved")


def test_bytes_hold_everything(nlp, path):
    linker = add_linker(nlp, path=path)
    linker.set_kb(lambda vocab: CandgenKB(vocab, path, k=2, vectors={"Q282": [0.5, 2.0]}))
    span = nlp.make_doc("Vín")[:]
    other = spacy.blank("fo")
    other.add_pipe("sentencizer")
    copy = add_linker(other)
    packed = linker.to_bytes()
    expected = values(linker.kb.get_candidates(span))
    shutil.rmtree(path)
    copy.from_bytes(packed)
    assert values(copy.kb.get_candidates(span)) == expected
    assert copy.kb.get_vector("Q282") == [0.5, 2.0]
    assert linked(other, "Vín") == ["Q282"]
    assert copy.kb.to_bytes() == linker.kb.to_bytes()


@pytest.mark.parametrize(
    ("name", "forged"),
    [
        ("spacy.k", np.array([0])),
        ("spacy.k", np.array([1.5])),
        ("spacy.vectors", np.zeros((1, 2), np.float32)),
        ("spacy.vectors", np.full((2, 2), np.nan, np.float32)),
        ("spacy.entities.offsets", np.array([0, 10**9, 9])),
        ("spacy.entities.bytes", np.full(9, 0xFF, np.uint8)),
    ],
)
def test_forged_vectors_are_refused(nlp, path, tmp_path, name, forged):
    vectors = {"Q1741": [1.0, 0.0], "Q282": [0.0, 1.0]}
    CandgenKB(nlp.vocab, path, vectors=vectors).to_disk(tmp_path / "kb")
    stored = index_folder.load(tmp_path / "kb")
    assert {"spacy.k", "spacy.vectors", "spacy.entities.bytes"} <= set(stored.arrays)
    arrays = {**stored.arrays, name: forged}
    described = {"kind": stored.kind, "parameters": stored.parameters, "inputs": stored.inputs}
    index_folder.save(tmp_path / "forged", **described, arrays=arrays)
    with pytest.raises(StorageError, match="save the pipeline again"):
        CandgenKB(nlp.vocab).from_disk(tmp_path / "forged")


def test_bytes_cannot_write_elsewhere(nlp, path, tmp_path):
    import srsly

    files = srsly.msgpack_loads(CandgenKB(nlp.vocab, path).to_bytes())
    files[str(tmp_path / "planted")] = b"code"
    kb = CandgenKB(nlp.vocab).from_bytes(srsly.msgpack_dumps(files))
    assert kb.get_candidates(nlp.make_doc("Vín")[:])
    assert not (tmp_path / "planted").exists()


# ---------------------------------------------------------------- mistakes


def test_a_path_that_leads_nowhere(nlp, tmp_path):
    missing = str(tmp_path / "none.candgen")
    with pytest.raises(StorageError, match=r"none\.candgen does not exist"):
        nlp.add_pipe("entity_linker").set_kb(knowledge_base(missing))
    nlp.remove_pipe("entity_linker")
    add_linker(nlp, path=missing)  # may be that of another machine
    with pytest.raises(StorageError, match=r"none\.candgen does not exist"):
        linked(nlp, "Vín")


def test_no_index(nlp):
    add_linker(nlp)
    with pytest.raises(ParameterError, match=r"has no index: name a folder, as in linker\.set_kb"):
        linked(nlp, "Vín")
    with pytest.raises(ParameterError, match="has no index"):
        nlp.initialize()


@pytest.mark.parametrize("make", [candidate_generator, candidate_batch_generator])
def test_a_knowledge_base_of_another_kind(nlp, make):
    kb = spacy.kb.InMemoryLookupKB(nlp.vocab, 3)
    with pytest.raises(ParameterError, match=r"of class InMemoryLookupKB, .*linker\.set_kb"):
        make()(kb, [])


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_a_k_that_is_none(nlp, path, k):
    with pytest.raises(ParameterError, match="k is"):
        CandgenKB(nlp.vocab, path, k=k)
    with pytest.raises(ParameterError, match="k is"):
        candidate_generator(k)(CandgenKB(nlp.vocab, path), nlp.make_doc("Vín")[:])


def test_without_spacy():
    code = (
        "import sys; sys.modules['spacy'] = None; sys.modules['spacy.kb'] = None\n"
        "import candgen.integrations.spacy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert MissingExtraError.__name__ in done.stderr
    assert "pip install 'candgen[spacy]'" in done.stderr
