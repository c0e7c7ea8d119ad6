"""Every script of benchmarks/ runs to its end at a tiny size and prints its tables.

Figures of such runs mean nothing; what is tested is that the scripts still fit the library, that
their peers run, and that the answers of peers and library agree where a script compares them.
"""

import bz2
import gzip
import importlib.util
import os
import random
import re
import subprocess
import sys
import zlib
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "benchmarks"

LIBRARY = {
    "folders",
    "measure",
    "mentions_cases",
    "mentions_methods",
    "mentions_queries",
    "mentions_results",
    "mentions_tables",
    "recall_cases",
    "recall_csv",
    "recall_failures",
    "recall_methods",
    "recall_results",
    "recall_tables",
    "serving",
    "synthetic_dumps",
    "synthetic_index",
    "tfidf",
}
"""Modules that the commands import."""
TESTED_ELSEWHERE = {"openrefine"}
"""test_openrefine.py tests it: a whole run needs OpenRefine."""

WORLD = ["--size", "500"]
SHORT = ["--queries", "20", "--repeats", "1"]
COMMANDS = {
    "build": [*WORLD, "--repeats", "1"],
    "calibration": ["--data", "NAMES", "--pair", "fo-is+da", "--queries", "20"],
    "choose": [
        *("--pivots", "600", "300", "--pairs", "900", "--exhaustive"),
        *("--data", "NAMES", "--target", "fo"),
    ],
    "extract": [
        "--dump",
        "DUMP",
        "--pages",
        "8",
        "--times",
        "2",
        "--parallel-times",
        "3",
        "--repeats",
        "1",
    ],
    "fairness": [*WORLD, "--clients", "0", "2", "--seconds", "0.5", "--kind", "one", "batch"],
    "index_size": [*WORLD, "--repeats", "1"],
    "growth": [*WORLD, *SHORT, "--figures", "FIGURES"],
    "mentions": [
        *("--data", "MENTIONS", "--language", "fo", "Greek", "--queries", "24"),
        *("--kind", "news", "anchors", "labels", "scripts"),
    ],
    "neural": [
        "--data",
        "NAMES",
        "--pair",
        "fo-is",
        "--queries",
        "20",
        "--epochs",
        "1",
        "--names",
        "500",
    ],
    "pivots": ["--data", "NAMES", "--target", "fo", "--estimate", "mk", "--queries", "20"],
    "pti_variants": ["--data", "NAMES", "--pair", "fo-is", *SHORT],
    "recall": [
        "--data",
        "NAMES",
        "--pair",
        "fo-is",
        "--queries",
        "20",
        "--dev",
        "20",
        "--epochs",
        "1",
    ],
    "rerank": [*WORLD, "--data", "NAMES", "--pair", "fo-is+da", *SHORT],
    "romanize": [
        "--data",
        "NAMES",
        "--pair",
        "mk-bg",
        "--ipa",
        "mr-hi",
        "--queries",
        "20",
        "--names",
        "500",
    ],
    "scripts": ["--data", "PERSONS", "--queries", "3"],
    "search": [*WORLD, *SHORT],
    "service": [*WORLD, *SHORT, "--seconds", "0.2"],
    "spark_rates": ["--data", "DUMPS", "--repeats", "1"],
    "spill": ["--dump", "DUMP", "--links", "3000", "--titles", "1000"],
    "startup": ["--repeats", "1", "--compile", "split"],
    "tune": ["--data", "NAMES", "--pair", "fo-is", "fo-is+da", *SHORT],
    "wikidata": ["--items", "50", "--repeats", "1"],
}
"""A tiny run of each command; words in capitals stand for the data below."""

LANGUAGES = ("bg", "da", "en", "fo", "hi", "is", "mk", "mr")
PAGES = 8


# ---------------------------------------------------------------- tiny data


@pytest.fixture(scope="module")
def real_data():
    beside = ROOT.parent / "shared" / "data"
    folder = Path(os.environ.get("CANDGEN_SHARED_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"../shared/data is not here: {folder} (CANDGEN_SHARED_DATA names another)")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the scripts write goes here: the tables of one world are shared by several scripts."""
    return tmp_path_factory.mktemp("benchmarks")


@pytest.fixture(scope="module")
def names(real_data, folder):
    """Real names of a few hundred entities, those of a third of the Faroese ones."""
    made = folder / "names"
    made.mkdir()
    tables = {
        language: gzip.decompress((real_data / "names" / f"{language}.tsv.gz").read_bytes())
        .decode()
        .splitlines()
        for language in LANGUAGES
    }
    entities = {line.split("\t")[1] for line in tables["fo"][1:]}
    kept = {entity for entity in entities if zlib.crc32(entity.encode()) % 3 == 0}
    for language, (header, *lines) in tables.items():
        few = [line for line in lines if line.split("\t")[1] in kept]
        (made / f"{language}.tsv").write_text("\n".join([header, *few, ""]), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def persons(folder):
    """Latin names, and some of them in another script."""
    made = folder / "persons"
    made.mkdir()
    forms = [("Иван", "Q1"), ("Шура", "Q2"), ("Жанна", "Q3"), ("Пётр", "Q4")]
    latin = [("Ivan", "Q1"), ("Shura", "Q2"), ("Zhanna", "Q3"), ("Pyotr", "Q4"), ("Olga", "Q5")]
    tables = {"forms-Cyrillic": forms, "queries-Cyrillic": forms, "latin": latin}
    for name, rows in tables.items():
        lines = ["mention\tentity\tcount", *(f"{mention}\t{entity}\t1" for mention, entity in rows)]
        (made / f"{name}.tsv.gz").write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    return made


@pytest.fixture(scope="module")
def mentions(folder):
    """Made-up names of 240 entities, in the folders that mentions.py reads."""
    draw = random.Random(0)
    words = ["".join(draw.choices(["ka", "to", "rin", "vel", "su", "mar"], k=3)) for _ in range(90)]
    names = [f"{draw.choice(words)} {draw.choice(words)}" for _ in range(240)]
    spellings = {"fo": ("k", "k"), "is": ("k", "g"), "da": ("v", "w"), "en": ("u", "oo")}
    made = folder / "mentions"
    for kind in ("names", "slavicner"):
        for code, (old, new) in spellings.items():
            rows = [(name.replace(old, new), f"Q{at}", 1) for at, name in enumerate(names)]
            rows += [(f"{mention} kommuna", entity, 1) for mention, entity, _ in rows[::2]]
            _write_table(made / kind / f"{code}.tsv.gz", rows[: 300 if code == "fo" else None])
    inflected = [(f"{name}s", f"Q{at}", 2) for at, name in enumerate(names[:40])]
    _write_table(made / "anchors" / "fo.tsv.gz", inflected)
    greek = str.maketrans("karinotvelsum", "καρινοτβελσυμ")
    forms = [(word.translate(greek), f"Q{at}", 1) for at, word in enumerate(words)]
    _write_table(made / "scripts" / "forms-Greek.tsv.gz", forms)
    _write_table(made / "scripts" / "queries-Greek.tsv.gz", [form[:2] for form in forms])
    latin = [(word, f"Q{at}", 1) for at, word in enumerate(words)]
    _write_table(made / "scripts" / "latin.tsv.gz", latin)
    return made


def _write_table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    header = ("mention", "entity", "count")[: len(rows[0])]
    lines = ["\t".join(map(str, row)) for row in (header, *rows)]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))


@pytest.fixture(scope="module")
def dump(real_data, folder):
    """The first pages of a real dump, in a folder of dumps."""
    made = folder / "dumps" / "elwiki-20230501-pages-articles.xml.bz2"
    made.parent.mkdir()
    with bz2.open(real_data / "dumps" / "elwiki-202305-first100k-lines.xml.bz2") as file:
        pages = file.read(2_000_000).split(b"</page>\n")[:PAGES]
    assert len(pages) == PAGES
    made.write_bytes(bz2.compress(b"</page>\n".join([*pages, b"</mediawiki>\n"])))
    return made


@pytest.fixture(scope="module")
def run(folder):
    """Runs a script in a process of its own and returns what it printed."""

    def run(script, *arguments):
        done = subprocess.run(
            [sys.executable, *script, *map(str, arguments)],
            cwd=SCRIPTS,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "CANDGEN_BENCHMARKS": str(folder), "PYTHONUTF8": "1"},
        )
        assert done.returncode == 0, f"{script}: {done.stdout[-1000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    return run


@pytest.fixture(scope="module")
def printed(request, run):
    """Runs a command of the table above, once; its output is a text."""
    outputs = {}

    def printed(command):
        if command not in outputs:
            arguments = [_value(request, each) for each in COMMANDS[command]]
            outputs[command] = run([f"{command}.py"], *arguments)
        return outputs[command]

    return printed


def _value(request, argument):
    if argument == "FIGURES":
        return request.getfixturevalue("folder") / "figures"
    if argument == "MENTIONS":
        return request.getfixturevalue("mentions")
    if argument == "NAMES":
        return request.getfixturevalue("names")
    if argument == "PERSONS":
        return request.getfixturevalue("persons")
    if argument in ("DUMP", "DUMPS"):
        dump = request.getfixturevalue("dump")
        return dump if argument == "DUMP" else dump.parent
    return argument


def tables(text):
    """The tables of a text, {title: rows}; a row is {heading: cell}; equal titles are one table."""
    found = {}
    blocks = [block for block in text.split("\n\n") if block.strip()]
    for title, block in pairwise(blocks):
        lines = [
            [cell.strip() for cell in line.split("|")[1:-1]]
            for line in block.strip().splitlines()
            if line.startswith("|")
        ]
        if len(lines) > 2:
            header, _, *rows = lines
            rows = [dict(zip(header, row, strict=False)) for row in rows]
            found.setdefault(title.strip().splitlines()[-1].strip("* "), []).extend(rows)
    return found


def number(cell):
    return float(cell.replace(",", "").replace("−", "-"))


def is_installed(*packages):
    return all(importlib.util.find_spec(package) for package in packages)


# ---------------------------------------------------------------- all scripts


def test_every_script_is_a_command_or_a_module_of_one():
    scripts = {path.stem for path in SCRIPTS.glob("*.py")}
    assert scripts == {*COMMANDS, *LIBRARY, *TESTED_ELSEWHERE}
    is_command = {
        path.stem for path in SCRIPTS.glob("*.py") if '__name__ == "__main__"' in path.read_text()
    }
    assert is_command == {*COMMANDS, *TESTED_ELSEWHERE}


@pytest.mark.parametrize("command", [*COMMANDS, *TESTED_ELSEWHERE])
def test_help_says_what_every_option_is(run, command):
    text = run([f"{command}.py"], "--help")
    # argparse puts the help of an option two spaces behind it, or on the next line
    entries = re.split(r"^  (?=-)", text.partition("options:")[2], flags=re.MULTILINE)[1:]
    without = [entry.split()[0] for entry in entries if not re.search(r"\s{2,}\S", entry.strip())]
    assert len(entries) > 1
    assert without == []


# ---------------------------------------------------------------- synthetic worlds


def test_build_is_compared_with_dictionaries_and_coordinates(printed):
    rows = {row["what"]: row for row in tables(printed("build"))["Building"]}
    for peer in ("dictionaries", "coordinates"):
        assert number(rows[f"{peer} / candgen"]["CPU s"]) > 0
    assert rows["candgen, 1 runs"]["entities"] == "500"
    for what in ("candgen, 1 runs", "candgen, two threads, 1 runs"):
        assert all(number(rows[what][column]) > 0 for column in ("CPU s", "wall s", "peak GB"))


def test_choosing_is_compared_with_the_exhaustive_way(printed):
    rows = tables(printed("choose"))["Choosing"]
    commands = ["build --auto", "tune", "exhaustive"]
    assert [(row["case"], row["command"]) for row in rows] == [
        (case, command) for case in ("family 600 + 300", "fo") for command in commands
    ]
    assert all(number(row["CPU s"]) > 0 and number(row["GB"]) > 0 for row in rows)
    title = "Points gained or lost on test, beside the exhaustive way"
    for row in tables(printed("choose"))[title]:
        assert abs(number(row["recall@30"])) <= 5


def test_a_family_is_the_same_for_the_same_seed(run, tmp_path):
    sizes = ("--pivots", 800, 200, "--pairs", 500)
    for name in ("one", "other"):
        text = run(["-m", "world"], "family", tmp_path / name, *sizes)
        assert [line.split()[0] for line in text.splitlines()] == ["qaa", "qab", "qtt", "test"]
    for path in ("tables/qaa.parquet", "tables/qab.parquet", "tables/qtt.parquet", "test.tsv"):
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "other" / path).read_bytes()


def test_search_is_compared_with_scipy_and_bm25s(printed):
    rows = tables(printed("search"))["Against peers, 20 queries, lam 0.4 (CPU time)"]
    ratios = {row["what"]: number(row["mean / candgen"]) for row in rows}
    assert list(ratios) == ["candgen", "SciPy, product", "SciPy, rows", "bm25s, Numba"]
    assert ratios["candgen"] == 1
    (row,) = tables(printed("search"))["A call and its kernel (CPU time)"]
    assert number(row["its kernel, median ms"]) > 0
    assert all(ratio > 0 for ratio in ratios.values())


WRONG_PEERS = """
import candgen, search

index = candgen.load(search.index_path(500))
queries = search.make_queries(search.load_world(500), 20, seed=1)
weights, ids = search.weight_matrix(500)
for wrong in ((weights * 1.001, ids), (weights, ids[::-1])):
    search.weight_matrix = lambda _size: wrong
    try:
        search.against_peers(500, index, queries, search.normalize_many(queries), repeats=1)
    except AssertionError as error:
        print(error)
"""


def test_search_notices_peers_with_other_answers(run):
    scores, entities = run(["-c", WRONG_PEERS]).splitlines()
    assert scores.startswith("SciPy, product: scores differ by 1.0e-03, expected at most 1e-05")
    assert entities.startswith("SciPy, product: only one of the two answers has ['Q")


def test_size_and_opening_of_an_index(printed):
    found = tables(printed("index_size"))
    (arrays,) = (rows for title, rows in found.items() if title.startswith("Arrays, 500 entities"))
    assert number(arrays[0]["bytes a posting on disk"]) > 1
    assert number(found["Opening (wall time)"][0]["fresh process, ms"]) > 0
    assert number(found["The first query on a cold cache (wall time)"][0]["median ms"]) > 0


def test_growth_is_drawn(printed, folder):
    pytest.importorskip("matplotlib", reason="matplotlib draws the figures")
    (row,) = tables(printed("growth"))["Growth (CPU time)"]
    assert number(row["build, peak GB"]) > 0
    drawn = {path.name for path in (folder / "figures").iterdir()}
    assert drawn == {"growth-search.svg", "growth-build.svg"}


def test_the_parts_of_both_stages_add_up(printed):
    found = tables(printed("rerank"))
    rows = found["What the parts of both stages cost, one name at a time (CPU)"]
    *parts, whole = [number(row["ms a name"]) for row in rows if row["names"] == "fo-is+da"]
    assert sum(parts) == pytest.approx(whole, rel=0.1)
    single = found["Names one at a time, and in batches (CPU)"][-1]
    assert number(single["p50 ms"]) <= number(single["p99 ms"]) <= number(single["worst ms"])


def test_rerank_is_compared_with_rapidfuzz(printed):
    rows = tables(printed("rerank"))["Time (CPU)"]
    assert {row["names"] for row in rows} == {"synthetic, 500 entities", "fo-is+da"}
    assert {"RapidFuzz, cdist", "RapidFuzz, a call a name"} < {row["step"] for row in rows}
    assert all(number(row["ms a query"]) > 0 for row in rows)
    assert tables(printed("rerank"))["Build (CPU)"][-1]["names"] == "fo-is+da"


def test_service_under_load(printed):
    found = tables(printed("service"))
    (alone,) = (rows for title, rows in found.items() if title.startswith("One mention"))
    assert [row["what"] for row in alone] == [
        "Python call",
        "candgen serve",
        "plain FastAPI",
        "uvicorn alone",
    ]
    (last,) = (rows for title, rows in found.items() if title.startswith("Sustained load"))
    every = [row for rows in found.values() for row in rows]
    assert {row["errors"] for row in every} == {"0"}
    assert number(last[0]["requests"]) > 0


def test_short_requests_are_answered_beside_large_ones(printed):
    deadlines, rows = tables(printed("fairness")).values()
    assert number(deadlines[0]["search, median ms"]) > 0
    assert [row["large clients"] for row in rows] == ["0", "2"]
    assert {row["wrong or refused"] for row in rows} == {"0"}
    assert all(number(row["short requests"]) > 0 for row in rows)
    assert number(rows[1]["large answered"]) > 0


def test_the_figures_of_a_world(run):
    lines = run(["-m", "world"], 500).splitlines()
    figures = {line[:40].strip(): number(line[40:].strip()) for line in lines}
    assert figures["entities"] == 500
    assert figures["postings"] > 10_000


# ---------------------------------------------------------------- real names


def test_calibration(printed):
    header, *rows = [line.split("\t") for line in printed("calibration").splitlines()[1:]]
    assert [row[:4] for row in rows] == [
        ["fo-is+da", setting, method, weights]
        for setting in ("joint", "zero-shot")
        for method in ("pti", "rerank")
        for weights in ("learned", "fixed")
    ]
    assert {len(row) for row in rows} == {len(header)}


def test_neural(printed):
    found = tables(printed("neural"))
    assert found.pop("Search among random vectors")[0]["names"] == "500"
    if not is_installed("torch"):
        assert "PyTorch is not installed: training is left out" in printed("neural")
        assert found == {}
        return
    rows = found["Training ngrams compared with PTI, CPU seconds"]
    assert [row["setting"] for row in rows] == ["zero-shot", "joint"]
    assert all(number(row["ratio"]) > 0 for row in rows)


def test_orders_of_pivots(printed):
    found = tables(printed("pivots"))
    rows = found["Recall on dev with four pivots"]
    orders = {row["order by"] for row in rows}
    assert {"ceiling", "closeness", "overlap", "size"} < orders
    missing = "lang2vec is not installed: the order by distance is left out" in printed("pivots")
    assert ("distance" in orders) is not missing
    assert all(0 <= number(row["joint @30"]) <= 100 for row in rows)
    assert [row["target"] for row in found["Coverage estimated from names alone, and the truth"]]


def test_variants_of_pti(printed):
    title = "Compared with pti: ratios (of times, medians), and percentage points"
    rows = tables(printed("pti_variants"))[title]
    assert [row["method"] for row in rows] == ["pti-wildcards", "pti-fusion", "pti-smoothing"]
    assert number(rows[0]["tokens"]) > 1


def test_recall_is_measured_stored_and_shown(printed, run, names, tmp_path):
    title = "Recall@1 / @10 / @30, all queries"
    text = printed("recall")
    rows = tables(text)[title]
    assert [(row["setting"], row["pair"]) for row in rows] == [
        ("zero-shot", "fo-is"),
        ("joint", "fo-is"),
    ]
    labels = [
        "WikiPriors",
        "Translation",
        "PTI, one pivot",
        "PTI, several pivots",
        "PTI, several pivots, second stage",
    ]
    labels += ["TF-IDF cosine, one pivot", "TF-IDF cosine, several pivots"]
    if is_installed("torch"):
        labels.append("Charagram")
    else:
        assert "torch not installed: charagram is left out" in text
    assert {*labels} == set(rows[0]) - {"setting", "pair", "queries"}
    cells = [row[label] for row in rows for label in labels]
    assert [cell for cell in cells if not re.fullmatch(r"[\d.]+( / [\d.]+){2}", cell)] == []
    assert "Parameters chosen on dev" in tables(text)
    shown = run(["recall.py"], "--show", "--pair", "fo-is", "--csv", tmp_path)
    assert tables(shown) == tables(text)
    lines = (tmp_path / "all-queries.csv").read_text("utf-8").splitlines()
    assert lines[0].startswith("setting,pair,queries,WikiPriors @1,WikiPriors @10,WikiPriors @30,")
    assert [line.split(",")[:2] for line in lines[1:]] == [
        ["zero-shot", "fo-is"],
        ["joint", "fo-is"],
    ]
    again = run(
        ["recall.py"],
        "--data",
        names,
        "--pair",
        "fo-is",
        "--queries",
        20,
        "--setting",
        "joint",
        "--failures",
        2,
        "--at",
        1,
    )
    assert re.match(r"fo-is, joint: \d+ of \d+ are missed at rank 1\.\n", again)


def test_mentions_are_measured_stored_and_shown(printed, run, mentions, tmp_path):
    text = printed("mentions")
    found = tables(text)
    kinds = ("anchors", "labels", "news")
    both = ("zero-shot", "joint")
    cases = {(setting, f"{kind} fo") for kind in kinds for setting in both}
    cases |= {("zero-shot-held-out", "news fo"), ("zero-shot", "scripts Greek")}
    rows = found["Recall@1 / @10 / @30"]
    assert {(row["setting"], row["case"]) for row in rows} == cases
    columns = ["first stage", "both stages", *(["TF-IDF"] if is_installed("sklearn") else [])]
    cells = [row[column] for row in rows for column in columns]
    assert [cell for cell in cells if not re.fullmatch(r"[\d.]+( / [\d.]+){2}", cell)] == []
    compared = {row["compared with"] for row in found["Gain of both stages"]}
    assert compared == {"first stage", *(["TF-IDF"] if is_installed("sklearn") else [])}
    more = found["Do labels of the target ever hurt?"]
    assert {row["case"] for row in more} == {f"{kind} fo" for kind in kinds}
    assert all(0 <= number(row["mean probability"]) <= 100 for row in found["Probabilities"])
    for row in found["Matching, some entities absent"]:
        assert 0.25 <= number(row["absent"]) / number(row["queries"]) <= 0.45
    known = ("--kind", "labels", "--language", "fo", "--data", mentions, "--queries", 24)
    shown = tables(run(["mentions.py"], "--show", "--csv", tmp_path))
    assert shown == found
    assert (tmp_path / "recall.csv").read_text("utf-8").startswith("setting,case,queries of,")
    again = run(["mentions.py"], *known, "--failures", 2, "--at", 1)
    assert re.match(r"labels fo, zero-shot, seed 0: \d+ of \d+ are missed at rank 1\.\n", again)


def test_mentions_without_features_of_the_second_stage(run, mentions):
    known = ("--kind", "labels", "--language", "fo", "--data", mentions, "--queries", 24)
    found = tables(run(["mentions.py"], *known, "--without"))
    rows = found["Features of the second stage"]
    means = found["Features of the second stage, mean of the cases"]
    gains = [(row["setting"], row["without"], row["gain @1"]) for row in rows]
    assert [gain for gain in gains if gain[1] != "nothing"] == [
        (row["setting"], row["without"], row["mean gain @1"]) for row in means
    ]
    without = {row["without"] for row in rows}
    assert {"nothing", "score", "likeness"} <= without
    assert len(rows) == 2 * len(without)
    assert {row["setting"] for row in rows if number(row["dev"])} == {"joint"}


QUERIES = """
import sys
from pathlib import Path
from mentions_cases import Place, open_case

for kind in sys.argv[2:]:
    case = open_case(Path(sys.argv[1]), Place(kind, "fo", "zero-shot", 0), 20)
    assert not {query.mention for query in case.queries} & {*case.names}
    assert len(case.names) > 100
    for query in case.queries:
        print(query.mention, query.entity, sep="\\t")
"""


def mentions_of(run, *arguments):
    return [line.split("\t") for line in run(["-c", QUERIES], *arguments).splitlines()]


def test_mentions_are_made_of_names(run, mentions):
    names = {}
    for line in gzip.decompress((mentions / "names" / "fo.tsv.gz").read_bytes()).splitlines():
        mention, entity, _ = line.decode().split("\t")
        names.setdefault(entity, []).append(mention.split())
    for mention, entity in mentions_of(run, mentions, "partial"):
        assert any(mention in words for words in names[entity])
        assert mention != "kommuna"
    for mention, entity in mentions_of(run, mentions, "order"):
        first, *others = mention.split()
        assert [*others, first] in names[entity]
    for mention, entity in mentions_of(run, mentions, "generic"):
        words = mention.split()
        assert words[1:] in names[entity] or words[:-1] in names[entity]


def test_mentions_of_languages_are_those_of_cldr(run):
    pytest.importorskip("babel", reason="babel has the names of CLDR")
    found = mentions_of(run, "no folder", "languages")
    assert len(found) == 20
    assert {entity.partition(":")[0] for _, entity in found} == {"language"}


def test_romanize(printed):
    found = tables(printed("romanize"))
    rows = found["Recall on test"]
    expected = [("mk-bg", text) for text in ("default", "latin", "both", "sound")]
    if is_installed("epitran"):
        expected += [("mr-hi", text) for text in ("default", "latin", "ipa")]
    else:
        assert "epitran is not installed: ipa is left out" in printed("romanize")
    assert [(row["pair"], row["text"]) for row in rows] == expected
    assert number(found["CPU seconds for 500 names"][0]["latin / default"]) > 0


def test_recall_per_script(printed):
    (row,) = tables(printed("scripts"))["Recall@1 / @10 / @30"]
    assert (row["script"], row["queries"]) == ("Cyrillic", "3")
    assert row["both stages"] == "100.0 / 100.0 / 100.0"
    assert {"first stage", "both, anyascii", "TF-IDF, anyascii"} < set(row)
    if not is_installed("uroman"):
        assert "uroman is not installed: it is left out" in printed("scripts")


def test_tuning_is_compared_with_the_straightforward_way(printed):
    found = tables(printed("tune"))
    (row,) = found["CPU seconds (best of 1) and ratios (medians)"]
    assert row["pair"] == "fo-is"
    assert number(row["one by one / grid"]) > 0
    (row,) = found["A search, CPU seconds"]
    assert number(row["search / (build + evaluation)"]) > 0


# ---------------------------------------------------------------- dumps


def test_extraction_is_compared_with_other_programs(printed):
    found = tables(printed("extract"))
    rows = found["Compared with peers, one worker (CPU seconds, medians of 1)"]
    links = {row["what"]: number(row["links"]) for row in rows}
    assert links["candgen"] > 100
    peers = {
        "mwxml + mwparserfromhell": ("mwxml", "mwparserfromhell"),
        "mwxml + wikitextparser": ("mwxml", "wikitextparser"),
        "WikiExtractor": ("wikiextractor",),
        "gensim segment_wiki": ("gensim",),
    }
    broken = {row["what"]: row["error"] for row in found.get("Do not run here", [])}
    for peer, packages in peers.items():
        if is_installed(*packages):
            assert links[peer] > 100
        else:
            assert "No module named" in broken[peer]
    assert {*links, *broken} == {"bz2", "candgen", *peers}
    rows = found["One worker and two, many streams (seconds, medians of 1)"]
    assert number(rows[0]["links"]) == 3 * number(
        found["Compared with bz2, one worker (CPU seconds, medians of 1)"][0]["links"]
    )


def test_memory_of_counting_links(printed):
    (row,) = tables(printed("spill"))["Counting links: CPU time, and peak memory of all processes"]
    assert number(row["links"]) > 2000
    assert number(row["proportional, MB"]) > 10


def test_rates_of_a_spark_worker(printed):
    rows = tables(printed("spark_rates"))["Reading"]
    assert [row["wiki"] for row in rows] == ["el", "all"]
    assert number(rows[0]["CPU s a MB"]) > 0


def test_wikidata_is_compared_with_json(printed):
    found = tables(printed("wikidata"))
    rows = found["One process (CPU time, medians of 1)"]
    assert [(row["format"], row["what"]) for row in rows] == [
        (kind, what)
        for kind in ("plain", "gz", "bz2")
        for what in ("decompress", "decompress, json.loads", "candgen")
    ]
    last = "Two processes (elapsed seconds with their start, medians of 1)"
    assert [row["format"] for row in found[last]] == ["plain", "gz", "bz2"]
