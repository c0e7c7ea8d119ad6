"""An index with a second stage on the command line: query, explain, info, evaluate."""

import json

import pytest

import candgen
from candgen import Cascade, MentionTable, PivotTokenIndex, WikiPriors
from candgen.cli.explain_rerank import spelled
from candgen.generators.rerank.edit_model import Edit
from candgen.generators.rerank.rerank import Rerank
from candgen.generators.rerank.weights import DEFAULT_WEIGHTS, Weights
from candgen.tables.queries import Query, write_queries
from tests.support.commands import is_refusal

ICELANDIC = MentionTable.from_pairs(
    [
        ("Vín", "Q1741", 3),
        ("Vínland", "Q205", 1),
        ("Rín", "Q584", 2),
        ("Rúmenía", "Q218", 4),
        ("Nýja Jórvík", "Q60", 2),
    ]
)
FAROESE = MentionTable.from_pairs([("Wien", "Q1741", 1), ("Rumenia", "Q218", 1)])


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("rerank") / "fo.candgen"
    first = PivotTokenIndex.build({"is": ICELANDIC}, FAROESE, language="fo")
    Rerank(first, depth=50).save(path)
    return path


def rows(text):
    return [line.split() for line in text.splitlines()]


def test_query_shows_names(cli, index):
    done = cli("query", index, "Rumenien", "--format", "table", "-k", 2)
    assert done.status == 0, done.err
    assert rows(done.out)[2][:2] == ["1", "Q218"]
    assert "Rúmenía (is)" in done.out
    answers = cli("query", index, stdin=b"Wien\n\nRumenien\n").answers
    assert [answer["candidates"][0]["entity"] for answer in answers if answer["candidates"]] == [
        "Q1741",
        "Q218",
    ]


def test_explain_shows_what_moved_an_entity(cli, index):
    told = candgen.load(index).explain("Rumenien", "Q218")
    done = cli("explain", index, "Rumenien", "Q218")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == (
        f"Rumenien -> Q218: score {told.score:.4g}, place 1 (was {told.before} in the first stage)"
    )
    assert lines[1] == "seen as 'rumenien'"
    shown = rows(done.out)
    heading = shown.index(
        ["property", "value", "weight", "brings", "value", "of", told.leader, "ahead"]
    )
    end = heading + 1 + len(Weights._fields)
    assert [line[0] for line in shown[heading + 1 : end]] == list(Weights._fields)
    assert shown[end][0] == "sum"
    brought, ahead = map(float, shown[end][1:])
    v = sum(each.weight * each.value for each in told.properties)
    assert brought == pytest.approx(v, abs=1e-3)
    assert ahead == pytest.approx(sum(each.ahead for each in told.properties), abs=1e-3)
    assert spelled(told.edits) in ("rumeni, a→e, +n", "rumeni, +e, a→n")
    assert (
        "the name most like it: 'rumenia', which becomes 'rumenien' by " + spelled(told.edits)
    ) in lines
    # Then the first stage, as ever.
    first = lines.index("The first stage:")
    assert lines[first + 2].startswith("Rumenien -> Q218: score ")
    assert "prior" in lines[first + 2]
    assert any(line[:2] == ["token", "times"] for line in shown[first:])


def test_explain_as_json_has_everything(cli, index):
    told = candgen.load(index).explain("Rumenien", "Q584")
    found = json.loads(cli("explain", index, "Rumenien", "Q584", "--format", "json").out)
    assert found["place"] == told.after
    assert found["place_in_first_stage"] == told.before
    assert (found["leader"], found["spelling"]) == ("Q218", "rin")
    assert found["score"] == told.score
    assert "".join(edit["after"] for edit in found["edits"]) == found["normalized"] == "rumenien"
    assert [each["name"] for each in found["properties"]] == list(Weights._fields)
    for each in found["properties"]:
        assert each["brings"] == pytest.approx(each["weight"] * each["value"])
        assert each["ahead"] == pytest.approx(
            each["weight"] * (each["value"] - each["leader_value"])
        )
    v = sum(each["brings"] for each in found["properties"])
    assert found["score"] == pytest.approx(1 + (1 + v / (1 + abs(v))) / 2)
    alone = candgen.load(index).first_stage
    assert found["first"]["score"] == alone.explain("Rumenien", "Q584").score
    assert found["first"]["tokens"]


def test_explain_without_rival_names_or_first_stage(cli, index, tmp_path):
    assert "-n, -y, -j, -a, -␣, jorvik" in cli("explain", index, "Jórvík", "Q60").out
    first = Cascade(WikiPriors.build({"is": ICELANDIC}), PivotTokenIndex.build({"is": ICELANDIC}))
    others = MentionTable.from_pairs([("Osló", "Q585")])
    Rerank(first, pivots={"is": others}, language="fo").save(tmp_path / "x")
    done = cli("explain", tmp_path / "x", "Vín", "Q1741")
    assert done.status == 0, done.err
    assert "The entity has no name to compare the mention with." in done.out
    assert "The first stage:" not in done.out
    assert "value of" not in done.out  # there is no candidate to compare with
    found = json.loads(cli("explain", tmp_path / "x", "Vín", "Q1741", "--format", "json").out)
    assert (found["first"], found["spelling"], found["edits"]) == (None, "", [])


def test_a_second_stage_over_a_second_stage(cli, index, tmp_path):
    inner = candgen.load(index)
    Rerank(inner, pivots={"is": ICELANDIC}, language="fo").save(tmp_path / "x")
    done = cli("explain", tmp_path / "x", "Rumenien", "Q218")
    assert done.out.count("The first stage:") == 2
    found = json.loads(cli("explain", tmp_path / "x", "Rumenien", "Q218", "--format", "json").out)
    assert found["first"]["first"]["tokens"]


def test_what_cannot_be_explained_is_one_sentence(cli, index):
    done = cli("explain", index, "Rumenien", "Q999")
    assert is_refusal(done)
    assert "'Q999' is not among the" in done.err
    done = cli("explain", index, "Rumenien", "Q218", "--lam", "0.5")
    assert is_refusal(done)
    assert "--lam is not supported" in done.err


def test_what_steers_a_terminal_is_not_shown(cli, index):
    done = cli("explain", index, "Rumenien\x1b[2J", "Q218")
    assert done.status == 0
    assert "\x1b" not in done.out


def test_info_tells_of_both_stages(cli, index):
    done = cli("info", index)
    assert done.status == 0, done.err
    shown = rows(done.out)
    assert ["kind", "rerank"] in shown
    assert ["depth", "50"] in shown
    words = len(candgen.load(index).stage.translations.words)
    assert ["learned", "pairs", "2,", "queries", "0,", "words", str(words)] in shown
    assert ["normalizer", "latin"] in shown
    assert ["part0:", "pti"] in shown
    assert ["lam", "0.4"] in shown
    listed = shown[shown.index(["weights"]) + 1 :][: len(Weights._fields)]
    weights = candgen.load(index).weights._asdict()
    assert listed == sorted([name, f"{weight:g}"] for name, weight in weights.items())
    assert any(line[0].startswith("stage.spellings") for line in shown if line)
    found = json.loads(cli("info", index, "--format", "json").out)
    assert found["parameters"]["weights"] == candgen.load(index).weights._asdict()
    assert found["entities"] == {"part0": 5}


def test_evaluate_compares_both_stages(cli, index, tmp_path):
    queries = tmp_path / "q.tsv"
    queries.write_text("mention\tentity\ttype\nRumenien\tQ218\thard\nWin\tQ1741\thard\n", "utf-8")
    candgen.load(index).first_stage.save(tmp_path / "first")
    done = cli(
        "evaluate",
        queries,
        f"first={tmp_path / 'first'}",
        f"both={index}",
        "-k",
        1,
        "--format",
        "json",
    )
    assert done.status == 0, done.err
    assert '"both"' in done.out


def test_edits_in_one_line():
    edits = [Edit("a", "b", 0.1), Edit("", "c", 0.1), Edit(" ", "", 0.1), Edit("x", "x", 0.9)]
    assert spelled(edits) == "a→b, +c, -␣, x"
    assert spelled([]) == ""


def test_build_learns_the_weights_on_dev_queries(cli, tmp_path):
    ICELANDIC.write(tmp_path / "is.tsv")
    write_queries(tmp_path / "dev.tsv", [Query("Rumenien", "Q218"), Query("Nýggja Jork", "Q60")])
    arguments = ("--method", "rerank", "--pivot", tmp_path / "is.tsv", "--language", "fo")
    for name, more in (("fixed", ()), ("learned", ("--dev", tmp_path / "dev.tsv"))):
        done = cli("build", *arguments, *more, "-o", tmp_path / name)
        assert done.status == 0, done.err
    fixed, learned = (candgen.load(tmp_path / name) for name in ("fixed", "learned"))
    assert (fixed.weights, fixed.learned["queries"]) == (DEFAULT_WEIGHTS, 0)
    assert learned.weights != DEFAULT_WEIGHTS
    assert learned.learned["queries"] == 2
