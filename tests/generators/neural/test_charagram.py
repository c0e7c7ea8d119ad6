"""Charagram: what it learns, its options, its refusals, and its files."""

import inspect
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import candgen
from candgen import CharNgrams
from candgen.errors import CandgenError, MissingExtraError
from candgen.generators.neural.charagram import Charagram
from candgen.generators.neural.method import CHARAGRAM
from candgen.generators.neural.training import TOKENIZERS
from candgen.storage import index_folder
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from tests.support import neural_oracle, oracle

torch = pytest.importorskip("torch", reason="PyTorch is not installed: candgen[neural]")

LETTERS = dict(zip("abdegiklmnoprstuvz", "абдегиклмнопрстувз", strict=True))
FAST = {"dimensions": 12, "epochs": 2, "seed": 3}


def transliterated(name):
    return "".join(LETTERS[letter] for letter in name)


def made_up_names(number, seed=0):
    rng = random.Random(seed)
    names = set()
    while len(names) < number:
        syllables = rng.choice([2, 3, 3])
        names.add(
            "".join(rng.choice("bdgklmnprstvz") + rng.choice("aeiou") for _ in range(syllables))
        )
    return sorted(names)


NAMES = made_up_names(400)
ENGLISH = MentionTable.from_pairs([(name.title(), f"Q{at}") for at, name in enumerate(NAMES)])
PIVOT = MentionTable.from_pairs(
    [(transliterated(name), f"Q{at}") for at, name in enumerate(NAMES) if at % 5]
)
TARGET = MentionTable.from_pairs(
    [(transliterated(name) + "а", f"Q{at}") for at, name in enumerate(NAMES[:60]) if at % 5]
)
SMALL_ENGLISH = MentionTable.from_pairs([("One", "Q1"), ("Two", "Q2"), ("Three", "Q3")])
UNSEEN = [Query(transliterated(name), f"Q{at}") for at, name in enumerate(NAMES) if at % 5 == 0]


def build(**options):
    defaults = {"pivots": {"bg": PIVOT}, "english": ENGLISH, "language": "mk", **FAST}
    return Charagram.build(**{**defaults, **options})


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def first(generator, queries):
    answers = generator.candidates([query.mention for query in queries], 1)
    return sum(
        answer[0].entity == query.entity for answer, query in zip(answers, queries, strict=True)
    ) / len(queries)


@pytest.fixture(scope="module")
def quick():
    return build(target=TARGET)


# Learning


@pytest.mark.parametrize(
    ("encoder", "epochs", "least"), [("ngrams", 12, 0.6), ("lstm", 15, 0.05), ("cnn", 15, 0.05)]
)
def test_names_that_were_never_seen_are_found_letter_by_letter(encoder, epochs, least):
    generator = build(encoder=encoder, epochs=epochs, dimensions=64)
    losses = generator.parameters["losses"]
    assert losses[-1] < losses[0] / 2
    assert first(generator, UNSEEN) > least  # chance is 1 in 400


@pytest.mark.parametrize("encoder", ["ngrams", "lstm", "cnn"])
def test_the_same_seed_gives_the_same_files(encoder, tmp_path):
    dev = UNSEEN[:20]
    before = torch.random.get_rng_state()
    threads = torch.get_num_threads()
    build(encoder=encoder, dev=dev).save(tmp_path / "a")
    torch.rand(5)
    rows = random.Random(1).sample(list(PIVOT), len(PIVOT))
    build(encoder=encoder, dev=dev, pivots={"bg": MentionTable.from_pairs(rows)}).save(
        tmp_path / "b"
    )
    assert files(tmp_path / "a") == files(tmp_path / "b")
    build(encoder=encoder, dev=dev, seed=4).save(tmp_path / "b")
    assert files(tmp_path / "a") != files(tmp_path / "b")
    assert torch.get_num_threads() == threads
    torch.random.set_rng_state(before)


def test_random_numbers_of_others_are_left_alone():
    before = torch.random.get_rng_state().clone()
    state = np.random.get_state()[1].copy()
    generator = build(encoder="lstm", epochs=1)
    generator.candidates(["биба"])
    assert torch.equal(before, torch.random.get_rng_state())
    assert np.array_equal(state, np.random.get_state()[1])


def test_training_goes_on_until_dev_is_no_better():
    generator = build(dev=UNSEEN[:30], epochs=40, patience=3)
    recalls = generator.parameters["dev_recall"]
    best = generator.parameters["best_epoch"]
    assert recalls[best - 1] == max(recalls)
    assert max(recalls[: best - 1], default=-1) < recalls[best - 1]
    assert len(recalls) == generator.parameters["epochs_run"] == min(40, best + 3)


def test_the_best_epoch_is_kept():
    """An epoch is the same whatever comes after it, so stopping there gives the same model."""
    longer = build(dev=UNSEEN[:30], epochs=6, patience=9)
    best = longer.parameters["best_epoch"]
    again = build(dev=UNSEEN[:30], epochs=best, patience=9)
    assert again.parameters["dev_recall"] == longer.parameters["dev_recall"][:best]
    assert np.array_equal(again.vectors, longer.vectors)
    assert np.array_equal(again.weights["table"], longer.weights["table"])
    without = build(epochs=best)
    assert np.array_equal(without.vectors, longer.vectors)
    assert without.parameters["best_epoch"] == best
    assert without.parameters["dev_recall"] == []


@pytest.mark.parametrize("encoder", ["ngrams", "lstm", "cnn"])
def test_recall_on_dev_is_that_of_the_answers(encoder):
    """Also with golds of the same name, golds outside the space, and mentions that say nothing."""
    same = [("Biba", "Q9001"), ("biba", "Q9002"), ("Biba", "Q70")]
    english = ENGLISH.merge(MentionTable.from_pairs(same))
    odd = [Query("биба", "Q9001"), Query("биба", "Q9002"), Query("", "Q1"), Query("хх", "Q1")]
    dev = [*UNSEEN, *odd, Query("биба", "Q77777"), *(Query(m, e) for m, e, _ in list(PIVOT)[:50])]
    generator = build(encoder=encoder, english=english, dev=dev, epochs=3)
    answers = generator.candidates([query.mention for query in dev], 30)
    hits = sum(
        query.entity in [candidate.entity for candidate in answer]
        for query, answer in zip(dev, answers, strict=True)
    )
    best = generator.parameters["dev_recall"][generator.parameters["best_epoch"] - 1]
    assert 0 < best < 100
    assert best == pytest.approx(100 * hits / len(dev))


def test_progress_says_what_is_done():
    said = []
    build(dev=UNSEEN[:5], epochs=2, progress=lambda doing, share: said.append((doing, share)))
    assert any(doing == "epoch 1 of 2" for doing, _ in said)
    assert any(doing.startswith("epoch 2 of 2, dev recall@30 ") for doing, _ in said)
    assert said[-1] == ("done", 1.0)
    assert all(0 <= share <= 1 for _, share in said)


# Encoding and answering


def tables_of(generator):
    """The embeddings by n-gram, read off the trie one path after the other."""
    vocabulary = generator.spelling.vocabulary
    paths = {0: ()}
    for node in range(len(vocabulary)):
        for child in range(int(vocabulary.child[node]), int(vocabulary.child[node + 1])):
            paths[child] = (*paths[node], int(vocabulary.symbol[child]))
    tokens = [path for node, path in sorted(paths.items()) if len(path) >= 2]
    assert len(tokens) == len(generator.weights["table"])
    return dict(zip(tokens, generator.weights["table"], strict=True))


@given(st.lists(st.text("биба дoх😀𝔸\n", max_size=7), min_size=1, max_size=4), st.integers(1, 500))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_answers_are_those_of_the_oracle(quick, texts, k):
    plain = Charagram(**{**vars(quick), "parameters": {**quick.parameters, "normalizer": "none"}})
    plain.__dict__.pop("_encode", None)
    table = tables_of(plain)
    entities = list(plain.entities)
    for text, answer in zip(texts, plain.candidates(texts, k), strict=True):
        if not any(token in table for token in oracle.ngrams(text)):
            assert answer == []
            continue
        vector = neural_oracle.encode(text, table, plain.weights["bias"])
        vector /= np.sqrt((vector * vector).sum())
        expected = neural_oracle.candidates(vector, plain.vectors, entities, k)
        scores = [candidate.score for candidate in answer]
        assert scores == pytest.approx([float(score) for _, score in expected], rel=1e-6)
        every = dict(neural_oracle.candidates(vector, plain.vectors, entities, len(entities)))
        for entity, score in answer:
            assert score == pytest.approx(float(every[entity]), rel=1e-6)
        assert scores == sorted(scores, reverse=True)
        assert len({candidate.entity for candidate in answer}) == len(answer)


@pytest.mark.parametrize("encoder", ["ngrams", "lstm", "cnn"])
def test_a_batch_answers_what_single_mentions_do(encoder):
    generator = build(encoder=encoder)
    odd = ["", "б", "\ud800", "би\nба", "😀", "𝔸", "\x00", "биба" * 300, "биба", "хцч", "биба дома"]
    answers = generator.candidates(odd, 40)
    assert answers == [generator.candidates([mention], 40)[0] for mention in odd]
    assert generator.candidates(odd[::-1], 40) == answers[::-1]
    assert [len(answer) for answer in answers[:3]] == [0, 40, 0]
    assert answers[9] == answers[4] == answers[5] == []
    assert generator.candidates([]) == []
    everything = generator.candidates(["биба"], 10_000)[0]
    assert everything[:40] == answers[8]
    assert len(everything) == len(ENGLISH)
    assert all(0 < candidate.score <= 1 for candidate in everything)


def test_entities_of_the_same_name_tie_in_the_order_of_ids():
    english = MentionTable.from_pairs(
        [("Vienna", "Q100"), ("VIENNA", "Q21"), ("Vienna", "Q3"), ("wine", "Q1"), ("Rhine", "Q2")]
    )
    table = MentionTable.from_pairs([("Вин", "Q100"), ("Вино", "Q1"), ("Рин", "Q2")])
    generator = build(pivots={"bg": table}, english=english, epochs=30)
    answer = generator.candidates(["вин"], 3)[0]
    assert [candidate.entity for candidate in answer] == ["Q3", "Q21", "Q100"]
    assert len({candidate.score for candidate in answer}) == 1
    assert generator.candidates(["вин"], 2)[0] == answer[:2]


# Pairs and space


def test_mu_changes_what_is_learned_only_beside_a_target():
    def learned(**options):
        return build(**options).weights["table"]

    assert not np.array_equal(learned(target=TARGET, mu=0.1), learned(target=TARGET, mu=0.2))
    assert np.array_equal(learned(mu=0.1), learned(mu=0.2))
    alone = {"pivots": None, "target": TARGET}
    assert np.array_equal(learned(**alone, mu=0.1), learned(**alone, mu=0.2))


def test_without_weight_the_pivot_teaches_nothing():
    """With mu = 0, n-grams that only the pivot has stay where they began."""
    tables = {
        "pivots": {"bg": MentionTable.from_pairs([("gg", "Q1"), ("hh", "Q2")])},
        "target": MentionTable.from_pairs([("ab", "Q1"), ("cd", "Q2")]),
    }
    once, more = (
        tables_of(build(**tables, english=SMALL_ENGLISH, mu=0, epochs=epochs)) for epochs in (1, 2)
    )
    g, a = (ord("g"), ord("g")), (ord("a"), ord("b"))
    assert np.array_equal(once[g], more[g])
    assert not np.array_equal(once[a], more[a])


SPACES = MentionTable.from_pairs([("One", "Q1"), ("Two", "Q2"), ("Three", "Q3"), ("Four", "Q4")])


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (None, ["Q1", "Q2", "Q3", "Q4"]),
        (["en"], ["Q1", "Q2", "Q3", "Q4"]),
        (["da"], ["Q1", "Q2"]),
        (["fo"], ["Q2", "Q3"]),
        (["target"], ["Q2", "Q3"]),
        (["fo", "da"], ["Q1", "Q2", "Q3"]),
    ],
)
def test_the_candidate_space_is_a_union_of_languages(space, expected):
    generator = build(
        pivots={"da": MentionTable.from_pairs([("en", "Q1"), ("to", "Q2"), ("nul", "Q0")])},
        target=MentionTable.from_pairs([("tvey", "Q2"), ("trý", "Q3"), ("nul", "Q0"), ("x", "Q5")]),
        language="fo",
        english=SPACES,
        space=space,
    )
    assert list(generator.entities) == expected
    everything = generator.candidates(["tvey"], 100)[0]
    assert sorted(candidate.entity for candidate in everything) == expected
    asked = ["Q0", "Q1", "Q2", "Q3", "Q4", "Q5", "no"]
    assert generator.knows(asked) == [entity in expected for entity in asked]
    assert generator.parameters["unnamed"] == {"en": 0, "da": 1, "fo": 2}


def test_a_repr_is_one_line(quick, tmp_path):
    quick.save(tmp_path / "index")
    expected = f"<Charagram: language=mk, pivots=bg, {len(NAMES)} entities>"
    assert repr(quick) == repr(candgen.load(tmp_path / "index")) == expected


def test_names_of_an_entity(quick):
    at = 6
    assert quick.names(f"Q{at}") == [
        (transliterated(NAMES[at]) + "а", "mk", 1),
        (transliterated(NAMES[at]), "bg", 1),
        (NAMES[at].title(), "en", 1),
    ]
    assert quick.names("Q0") == [(NAMES[0].title(), "en", 1)]
    assert quick.names("Q9999") == []


def test_english_may_be_a_pivot_too():
    generator = build(pivots={"bg": PIVOT, "en": ENGLISH}, epochs=1)
    assert generator.parameters["languages"] == ["bg", "en"]
    assert set(generator.inputs) == {"bg", "en", "names"}
    assert generator.parameters["used"]["en"] == len(ENGLISH)
    assert generator.names("Q0") == [(NAMES[0].title(), "en", 1)]


# Files and methods


@pytest.mark.parametrize("encoder", ["ngrams", "lstm", "cnn"])
def test_a_saved_generator_answers_the_same(encoder, tmp_path):
    generator = build(encoder=encoder, target=TARGET, dev=UNSEEN[:5])
    generator.save(tmp_path / "x")
    stored = index_folder.load(tmp_path / "x")
    loaded = candgen.load(tmp_path / "x")
    assert type(loaded) is Charagram
    queries = [query.mention for query in UNSEEN]
    assert loaded.candidates(queries) == generator.candidates(queries)
    assert loaded.parameters == generator.parameters
    assert loaded.inputs == generator.inputs
    assert loaded.names("Q6") == generator.names("Q6")
    assert stored.kind == "charagram"
    assert stored.inputs["bg"]["sha256"] == PIVOT.digest
    assert not loaded.vectors.flags.owndata  # memory-mapped


def test_answering_needs_no_torch(quick, tmp_path):
    quick.save(tmp_path / "x")
    code = f"""
import sys
sys.modules["torch"] = None
from candgen.storage import index_folder
from candgen.generators.neural.charagram import Charagram
from candgen.generators.neural.method import CHARAGRAM
loaded = Charagram.from_stored(index_folder.load({str(tmp_path / "x")!r}))
print(loaded.candidates(["биба"], 2)[0])
try:
    Charagram.build({{"bg": None}}, english=None)
except Exception as error:
    print(type(error).__name__)
from candgen.tables.mention_table import MentionTable
table = MentionTable.from_pairs([("a", "Q1"), ("b", "Q2")])
try:
    Charagram.build({{"bg": table}}, english=table)
except ImportError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stderr == ""
    answer, kind, sentence = run.stdout.splitlines()
    assert answer == str(quick.candidates(["биба"], 2)[0])
    assert kind == "ParameterError"
    assert sentence == "neural methods need PyTorch: pip install 'candgen[neural]'"
    assert issubclass(MissingExtraError, ImportError)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"english": None}, "there are no English names, .* --english FILE"),
        ({"english": []}, "english is .*: expected a MentionTable"),
        ({"english": MentionTable.from_pairs([])}, "table of English mentions is empty"),
        ({"english": MentionTable.from_pairs([("x", "Q1")])}, "fewer than two of their names"),
        (
            {"english": MentionTable.from_pairs([("x", "P1"), ("y", "P2")])},
            "0 pairs can be learned",
        ),
        ({"pivots": None}, "nothing to build from"),
        ({"pivots": {"mk": PIVOT}, "target": TARGET}, "'mk' is the name of the target and"),
        ({"pivots": {"bg": MentionTable.from_pairs([])}}, "the table of 'bg' is empty"),
        ({"encoder": "gru"}, "encoder is 'gru': choose one of ngrams, lstm, cnn"),
        ({"mu": -1}, "mu is -1: expected"),
        ({"mu": float("nan")}, "mu is nan"),
        ({"pairs": 0}, "pairs is 0: expected a whole number of at least 1"),
        ({"epochs": True}, "epochs is True: expected a whole number"),
        ({"patience": 1.5}, "patience is 1.5"),
        ({"dimensions": 0}, "dimensions is 0"),
        ({"seed": -1}, "seed is -1: expected a whole number of at least 0"),
        ({"encoder": "lstm", "dimensions": 7}, "dimensions is 7: expected an even number"),
        ({"normalizer": "nfc"}, "nfc"),
        ({"dimensions": 10**12}, "dimensions is 1000000000000: expected at most 10,000"),
        ({"device": True}, "device is True: choose 'auto', 'cpu'"),
        ({"device": "meta"}, "device is 'meta', which PyTorch cannot use here"),
        ({"space": ["bg", "fo"]}, "space names 'fo', which is not here: choose among bg, en"),
        ({"space": ["target"]}, "space names 'target'"),
        ({"space": []}, "space is empty"),
        ({"device": "abacus"}, "device is 'abacus', which PyTorch cannot use here"),
    ],
)
def test_builds_are_refused(options, sentence):
    with pytest.raises(CandgenError, match=sentence):
        build(**options)


def test_a_space_without_names_is_refused():
    tables = {
        "bg": MentionTable.from_pairs([("x", "Q1"), ("y", "Q2")]),
        "sr": MentionTable.from_pairs([("z", "Q9")]),
    }
    with pytest.raises(CandgenError, match="no entity of sr has an English name"):
        build(pivots=tables, english=SMALL_ENGLISH, space=["sr"])


@pytest.mark.parametrize("k", [0, 1.5, True])
def test_k_is_refused(quick, k):
    with pytest.raises(CandgenError, match="k is"):
        quick.candidates(["биба"], k)


def test_a_string_is_not_several_strings(quick):
    with pytest.raises(CandgenError, match="expected several strings"):
        quick.candidates("биба")


def test_one_language_of_the_space_needs_no_list():
    assert build(space="bg").parameters["space"] == build(space=["bg"]).parameters["space"]


def test_dev_queries_that_nothing_can_answer_are_warned_of(caplog):
    """Training then goes on to its last epoch, as if there were none."""
    generator = build(dev=[Query("x", "no such entity")], epochs=3, patience=1)
    assert "none of the 1 dev queries has a gold with an English name" in caplog.text
    assert generator.parameters["epochs_run"] == generator.parameters["best_epoch"] == 3
    assert generator.vectors.tolist() == build(epochs=3).vectors.tolist()


def test_the_numbers_of_the_paper():
    """300 dimensions, n = 2 to 5, SGD 0.1, batches of 64, 200 epochs, 50 without gain, 80,000."""
    encoders = pytest.importorskip("candgen.generators.neural.encoders", exc_type=ImportError)
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(Charagram.build).parameters.items()
    }
    expected = {"dimensions": 300, "epochs": 200, "patience": 50, "pairs": 80_000, "seed": 0}
    assert expected.items() <= defaults.items()
    assert TOKENIZERS["ngrams"] == CharNgrams(2, 5)
    assert (encoders.LEARNING_RATES["ngrams"], encoders.BATCH_SIZE) == (0.1, 64)
    assert CHARAGRAM.grid == {"mu": (0.01, 0.1, 0.2)}
