"""The published figures: against the paper's own source, and against each other."""

import json
import re
from importlib import resources

import pytest

from candgen.errors import ParameterError
from candgen.paper.published import EXHIBITS, PAIRS, Pair, place_in_paper, published

KEYS = [pair.key for pair in PAIRS]
METHODS = ["wikipriors", "charagram", "pti"]
TYPES = ["easy", "medium", "hard"]
THRESHOLDS = ["0", "0.01", "0.1"]
TABLES = ["main-results", "query-types", "high-resource", "data", "thresholding", "complexity"]
PLOTS = ["ceilings", "training-size", "recall-at-k"]


def stored():
    file = resources.files("candgen.paper").joinpath("published.json")
    return json.loads(file.read_text(encoding="utf-8"))


def values(exhibit):
    return stored()["exhibits"][exhibit]["values"]


def numbers(found):
    """All numbers, and strings, of nested objects."""
    if not isinstance(found, dict):
        return [found]
    return [number for part in found.values() for number in numbers(part)]


# Against the LaTeX source


@pytest.fixture(scope="module")
def source(shared_data):
    file = shared_data.parent / "paper" / "efficient-entity-candidate-generation.tex"
    if not file.is_file():
        pytest.skip(f"the paper's source is not here: {file}")
    return file.read_text(encoding="utf-8")


def cells_of(row):
    """The text of each cell of a row; a cell over several columns is repeated."""
    row = re.sub(r"\\(toprule|midrule|bottomrule|hdashline|cmidrule\(lr\)\{[\d-]+\})", "", row)
    row = re.sub(r"\\text(sc|bf)\{([^{}]*)\}", r"\2", row)
    found = []
    for cell in row.split("&"):
        wide = re.fullmatch(r"\s*\\multicolumn\{(\d+)\}\{c\}\{([^{}]*)\}\s*", cell)
        found += [wide[2].strip()] * int(wide[1]) if wide else [" ".join(cell.split())]
    return found


def rows_of(source, label):
    """The rows of the table with this label, which may stand before or after the table."""
    labels = re.findall(r"\\label\{table:(\w+)\}", source)
    bodies = re.findall(r"\\begin\{tabular\}\{\w+\}(.*?)\\end\{tabular\}", source, re.DOTALL)
    body = dict(zip(labels, bodies, strict=True))[label]
    return [cells for row in body.split(r"\\") if any(cells := cells_of(row))]


def key_of(cell):
    """`co - it` as a key."""
    return cell.replace(" ", "")


def number_of(text):
    """`1.5M` and `140k` in full."""
    units = {"M": 10**6, "k": 10**3}
    return round(float(text.rstrip("Mk")) * units.get(text[-1], 1))


def test_the_source_has_six_tables(source):
    labels = re.findall(r"\\label\{table:(\w+)\}", source)
    assert labels == [
        "main_results",
        "results_types",
        "results_high",
        "data",
        "thresholding",
        "complexity",
    ]
    assert [place_in_paper(name) for name in TABLES] == [f"Table {n}" for n in range(1, 7)]


def test_figures_have_no_numbers_in_the_source(source):
    labels = re.findall(r"caption\{\\label\{((?!table:|fig:weak)[\w:]+)\}", source)
    assert labels == ["fig:queries_type", "ceilings", "perf_data", "fig:recall"]
    assert [place_in_paper(name) for name in PLOTS] == ["Figure 2", "Figure 3", "Figure 4"]
    figures = re.findall(r"\\begin\{figure\*?\}.*?\\end\{figure\*?\}", source, re.DOTALL)
    assert len(figures) == 4
    # One figure shares its float with the table of complexity; the others have no table.
    assert [r"\begin{tabular}" in figure for figure in figures] == [False, False, False, True]


def test_source(source):
    title = re.search(r"\\title\{(.*?)\}", source)[1]
    names = re.search(r"\\name\{(.*?)\} *\n", source, re.DOTALL)[1]
    names = names.replace(r"\'{i}", "í").replace(r"\'{a}", "á")
    assert stored()["source"] == {
        "title": title,
        "authors": [name.strip() for name in names.split(",")],
        "venue": "LREC 2022",
    }
    assert "lrec2022" in source


def test_pairs_and_languages(source):
    listed = re.search(r"The 9 language pairs(.*?)Appendix", source)[1]
    found = re.findall(r"(\w+)-(\w+) \(\\textsc\{(\w+)\}-\\textsc\{(\w+)\}\)", listed)
    assert [(pair.target, pair.pivot) for pair in PAIRS] == [row[2:] for row in found]
    names = {}
    for target, pivot, code, other in found:
        names |= {code: target, other: pivot}
    assert stored()["languages"] == names
    classes = next(row for row in rows_of(source, "main_results") if "High Resource" in row)
    assert [pair.resources for pair in PAIRS] == [cell.split()[0].lower() for cell in classes[1:]]
    caption = re.search(r"For the pairs (.*?), where there is no training data", source)[1]
    assert [pair.key for pair in PAIRS if pair.zero_shot_only] == [
        key_of(pair) for pair in re.findall(r"\\textsc\{(.*?)\}", caption)
    ]


def test_main_results(source):
    names = {"Zero-Shot": "zero-shot", "Joint learning with the target language": "joint"}
    found, header, setting = {}, None, None
    for first, *cells in rows_of(source, "main_results"):
        if first == "Target Lang.":
            header = [key_of(cell) for cell in cells]
        elif first in names:
            setting = found.setdefault(names[first], {})
        elif first.lower() in METHODS:
            setting[first.lower()] = dict(zip(header, map(int, cells), strict=True))
    assert found == values("main-results")
    assert len(numbers(found)) == 54


def typed(source, label, header):
    """A table whose columns have a header, pair or language, and below it a type."""
    kinds = {kind[0].upper(): kind for kind in TYPES}
    found, columns = {}, None
    for first, *cells in rows_of(source, label):
        if first == header:
            columns = [key_of(cell) for cell in cells]
        elif first == "Query Type":
            columns = list(zip(columns, [kinds[cell] for cell in cells], strict=True))
        elif first.lower() in METHODS:
            row = found.setdefault(first.lower(), {})
            for (column, kind), cell in zip(columns, cells, strict=True):
                row.setdefault(column, {})[kind] = int(cell)
    return found


def test_query_types(source):
    found = typed(source, "results_types", "Target Lang.")
    assert found == values("query-types")
    assert len(numbers(found)) == 63


def test_high_resource(source):
    found = typed(source, "results_high", "Lang.")
    assert found == values("high-resource")
    assert len(numbers(found)) == 18


def test_data(source):
    found = {}
    for first, *cells in rows_of(source, "data"):
        if code := re.fullmatch(r"(\w+) *\((\w+)\)", first):
            size, pairs = cells
            found[code[1]] = {
                "size": number_of(size),
                "size-printed": size,
                "pairs": number_of(pairs),
                "pairs-printed": pairs,
            }
            assert stored()["languages"][code[1]] == code[2]
    assert found == values("data")
    assert list(found) == [pair.pivot for pair in PAIRS]


def test_thresholding(source):
    found, thresholds = {}, None
    for first, *cells in rows_of(source, "thresholding"):
        if first == "Target - Pivot":
            thresholds = [f"{float(cell):g}" for cell in cells]
        elif key_of(first) in KEYS:
            row = found.setdefault(key_of(first), {})
            for threshold, cell in zip(thresholds, cells, strict=True):
                # In two cells the paper has (%0) for (0%).
                recall, removed = re.fullmatch(r"(\d+) \(((?:\\%)?\d+(?:\\%)?)\)", cell).groups()
                row[threshold] = {"recall": int(recall), "removed": int(removed.strip("\\%"))}
    assert found == values("thresholding")
    assert len(numbers(found)) == 54


def test_complexity(source):
    found = {}
    for first, *cells in rows_of(source, "complexity"):
        if key_of(first) not in KEYS:
            continue
        plain = [cell.replace("$", "") for cell in cells]
        times = [cell if cell.startswith("<") else int(cell) for cell in plain[2:]]
        columns = {
            "parameters": [number_of(cell) for cell in plain[:2]],
            "parameters-printed": plain[:2],
            "training-minutes": times[:2],
            "inference-seconds": times[2:],
        }
        found[key_of(first)] = {
            name: dict(zip(["pti", "charagram"], both, strict=True))
            for name, both in columns.items()
        }
    header = next(row for row in rows_of(source, "complexity") if row[0] == "Target - Pivot")
    assert header[1:] == ["pti", "Charagram"] * 3
    assert found == values("complexity")
    assert len(found) == 9


# Against each other


def test_the_pairs():
    assert PAIRS[0] == Pair("co", "it", "high", zero_shot_only=True)
    assert KEYS == [
        "co-it",
        "li-nl",
        "bar-de",
        "olo-fi",
        "mk-bg",
        "jv-id",
        "tk-az",
        "mr-hi",
        "fo-is",
    ]
    assert [pair.resources for pair in PAIRS] == ["high"] * 3 + ["medium"] * 3 + ["low"] * 3
    assert {pair.target for pair in PAIRS if pair.zero_shot_only} == {"co", "olo", "tk"}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.key)
@pytest.mark.parametrize("method", METHODS)
def test_training_data_never_lowers_recall(pair, method):
    zero_shot = published("main-results", "zero-shot", method, pair.key)
    joint = published("main-results", "joint", method, pair.key)
    assert 0 < zero_shot <= joint <= 100
    assert (zero_shot == joint) == pair.zero_shot_only


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.key)
@pytest.mark.parametrize("method", METHODS)
def test_types_make_up_the_main_result(pair, method):
    """As many queries of each type, so micro recall is about their mean."""
    found = [published("query-types", method, pair.key, kind) for kind in TYPES]
    if pair.zero_shot_only:
        assert found[:2] == [None, None]
        found = found[2:]
    # Some types of some pairs have fewer than 1,000 queries.
    main = published("main-results", "joint", method, pair.key)
    assert sum(found) / len(found) == pytest.approx(main, abs=2)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.key)
def test_a_higher_threshold_removes_more(pair):
    recalls = [published("thresholding", pair.key, tau, "recall") for tau in THRESHOLDS]
    removed = [published("thresholding", pair.key, tau, "removed") for tau in THRESHOLDS]
    assert recalls[0] == published("main-results", "joint", "pti", pair.key)
    assert recalls == sorted(recalls, reverse=True)
    assert removed[0] == 0 < removed[1] < removed[2] < 100


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.key)
def test_sizes_and_times(pair):
    for quantity in ("parameters", "training-minutes", "inference-seconds"):
        ours, theirs = (
            published("complexity", pair.key, quantity, m) for m in ("pti", "charagram")
        )
        assert ours == "<1" or 0 < ours <= theirs
        assert isinstance(theirs, int)
    assert published("complexity", pair.key, "parameters", "wikipriors") is None
    for quantity in ("size", "pairs"):
        number = published("data", pair.pivot, quantity)
        assert number == number_of(published("data", pair.pivot, f"{quantity}-printed"))


def test_less_than_a_minute_stays_visible():
    quick = [key for key in KEYS if published("complexity", key, "training-minutes", "pti") == "<1"]
    assert quick == ["tk-az", "mr-hi", "fo-is"]


def test_recalls_are_percentages():
    for exhibit in ("main-results", "query-types", "high-resource", "thresholding"):
        assert all(isinstance(n, int) and 0 <= n <= 100 for n in numbers(values(exhibit)))


# Looking things up


def test_exhibits():
    assert (*TABLES, *PLOTS) == EXHIBITS
    for name in PLOTS:
        assert published(name) is None
        assert published(name, "pti", "co-it") is None


@pytest.mark.parametrize("exhibit", TABLES)
def test_every_number_can_be_looked_up(exhibit):
    def walk(found, keys):
        if isinstance(found, dict):
            return sum(walk(part, (*keys, key)) for key, part in found.items())
        assert published(exhibit, *keys) == found
        return 1

    assert walk(values(exhibit), ()) == len(numbers(values(exhibit))) > 0


def test_what_the_paper_does_not_have():
    assert published("main-results", "joint", "cascade", "co-it") is None
    assert published("main-results", "joint", "pti", "sc-it") is None
    assert published("main-results", "few-shot", "pti", "co-it") is None
    assert published("high-resource", "pti", "it", "hard") is None


@pytest.mark.parametrize("keys", [(), ("joint",), ("joint", "pti"), ("joint", "pti", "co-it", "x")])
def test_keys_are_refused(keys):
    with pytest.raises(ParameterError, match=r"main-results .*expected setting, method, pair"):
        published("main-results", *keys)


def test_unknown_exhibits_are_refused():
    for use in (place_in_paper, published):
        with pytest.raises(ParameterError, match="unknown exhibit 'results': choose one of main-"):
            use("results")
