"""The data of experiments, in both layouts, and pairs of languages."""

import pytest

from candgen import MentionTable, split
from candgen.errors import ParameterError, TableError
from candgen.evaluation.dataset import write_dataset
from candgen.paper.corpus import Corpus, open_folds, parse_pair, with_zero_shot_only
from candgen.paper.published import PAIRS, Pair
from candgen.tables.released import write_released
from tests.support.paper_world import TABLES, TOY_PAIRS, study


def test_a_table_that_was_rewritten_is_read_again(tmp_path):
    corpus = Corpus(tmp_path)
    TABLES["is"].write(tmp_path / "is.tsv")
    assert corpus.table("is") == TABLES["is"]
    TABLES["fi"].write(tmp_path / "is.tsv")
    assert corpus.table("is") == TABLES["fi"]


# Never test


def test_what_is_chosen_never_sees_test(folder):
    """Training holds no test query, and tuning is given dev alone."""
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    test_pairs = {query[:2] for query in case.folds.test if query.type != "easy"}
    training = case.training("joint")
    assert test_pairs.isdisjoint((mention, entity) for mention, entity, _ in training.target)
    assert test_pairs.isdisjoint(query[:2] for query in training.dev)
    assert case.training("zero-shot").target is None


# The corpus


def test_languages_and_paths(folder, released):
    assert Corpus(folder).languages == sorted(TABLES)
    assert not Corpus(folder).released
    assert Corpus(released).languages == sorted(TABLES)
    assert Corpus(released).released
    assert Corpus(folder).path("fo").name == "fo.tsv.gz"


def test_what_is_not_there_is_named(folder, released, tmp_path):
    with pytest.raises(TableError, match=r"no data of 'mk': expected mk\.tsv\.gz"):
        Corpus(folder).table("mk")
    with pytest.raises(TableError, match="no data of 'mk'"):
        study(folder, tmp_path, pairs=(parse_pair("mk-bg", PAIRS),)).check()
    with pytest.raises(TableError, match="is not a folder"):
        _ = Corpus(folder / "nowhere").languages
    with pytest.raises(TableError, match=r"mentions_dev_type\.txt has no queries"):
        Corpus(released).case(Pair("is", "fi", "", False))


@pytest.mark.parametrize("name", ["mentions_dev_type.txt", "mentions_tt_type.txt"])
def test_a_target_without_queries_is_refused(tmp_path, name):
    write_released(tmp_path / "fo", split(TABLES["fo"], per_type=5))
    (tmp_path / "fo" / name).write_text("", encoding="utf-8")
    with pytest.raises(TableError, match=f"{name} has no queries"):
        Corpus(tmp_path).folds("fo", "joint")


def test_two_tables_of_one_language_are_refused(tmp_path):
    for suffix in (".tsv", ".parquet"):
        TABLES["fo"].write(tmp_path / f"fo{suffix}")
    with pytest.raises(TableError, match=r"fo\.tsv and fo\.parquet are both tables of fo"):
        Corpus(tmp_path).table("fo")


def test_a_table_too_small_to_split_is_refused(tmp_path):
    MentionTable.from_pairs([("a", "Q1")]).write(tmp_path / "fo.tsv")
    with pytest.raises(ParameterError, match="fo has 1 pairs, too few for dev"):
        Corpus(tmp_path).folds("fo", "joint")


def test_high_resource_has_no_hard_queries(folder, released):
    for corpus in (Corpus(folder, per_type=5), Corpus(released, per_type=5)):
        for language in ("de", "fo"):
            case = corpus.high_resource(language)
            assert {query.type for query in case.folds.test} == {"easy", "medium"}
            assert {query.type for query in case.folds.dev} == {"easy", "medium"}
            assert case.pivots == {}


def test_english_names_are_those_of_the_table(folder, tmp_path):
    corpus = Corpus(folder, per_type=5)
    assert corpus.high_resource("de").english == corpus.case(TOY_PAIRS[0]).english == TABLES["en"]
    TABLES["de"].write(tmp_path / "de.tsv")
    assert Corpus(tmp_path, per_type=5).high_resource("de").english is None


def test_english_names_of_english_are_not_those_of_its_tests(folder):
    corpus = Corpus(folder, per_type=5)
    for case in (corpus.high_resource("en"), corpus.case(Pair("en", "is", "", False))):
        held_out = {query[:2] for query in case.folds.test if query.type != "easy"}
        assert case.english == case.folds.train
        assert held_out
        assert held_out.isdisjoint((mention, entity) for mention, entity, _ in case.english)
    assert corpus.case(Pair("en", "is", "", True)).english is None


def test_open_folds_reads_both_kinds(folder, released, tmp_path):
    write_dataset(tmp_path / "fo.dataset", split(TABLES["fo"], per_type=5))
    assert len(open_folds(tmp_path / "fo.dataset").dev) == 15
    assert len(open_folds(released / "fo").dev) == 15


def test_pairs_are_parsed():
    assert parse_pair("fo-is", PAIRS).resources == "low"
    assert parse_pair("co-it", PAIRS).zero_shot_only
    assert parse_pair("fo-is+da", PAIRS).pivots == ("is", "da")
    assert not parse_pair("sc-it", PAIRS).zero_shot_only
    for text in ("fo", "-is", "fo-", "fo-is+", "", "../x/fo-is", "fo-is/da"):
        with pytest.raises(ParameterError, match="is not a pair"):
            parse_pair(text, PAIRS)
    for text in ("fo-fo", "fo-is+is", "fo-is+fo"):
        with pytest.raises(ParameterError, match="names a language twice"):
            parse_pair(text, PAIRS)
    assert parse_pair("co-it+sc", PAIRS).zero_shot_only  # Corsican is, whatever its pivots
    assert parse_pair("be-tarask-be", PAIRS, ["be", "be-tarask"])[:2] == ("be-tarask", "be")
    assert parse_pair("be-be-tarask", PAIRS, ["be", "be-tarask"])[:2] == ("be", "be-tarask")
    with pytest.raises(ParameterError, match="'mk' is not a target here: choose among fo, olo"):
        with_zero_shot_only(TOY_PAIRS, ("mk",))
    assert [pair.zero_shot_only for pair in with_zero_shot_only(TOY_PAIRS, ("fo",))] == [
        True,
        False,
    ]
