"""Redirects and entities, judged by a naive version."""

from collections import Counter

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from candgen.wikipedia import resolve as module
from candgen.wikipedia.read_part import LINKS, PAGES
from candgen.wikipedia.resolve import Entities, Resolver, follow_redirects, keep_first_of_each_title
from tests.support.extract_oracle import MAX_HOPS, PageRow, resolve

TITLES = st.sampled_from(["A", "B", "C", "D", "É", "𝄞", "Bólkur:A", ""])
OUTSIDE = ("", 0, True)
REDIRECTS = st.one_of(
    st.just((None, None, False)),
    st.tuples(TITLES, st.sampled_from([0, 0, 0, 14]), st.just(False)),
    st.just(OUTSIDE),
)
PAGE_ROWS = st.builds(
    lambda title, namespace, number, redirect: PageRow(title, namespace, number, *redirect),
    TITLES,
    st.sampled_from([0, 0, 14]),
    st.integers(1, 50),
    REDIRECTS,
)
LINK_ROWS = st.tuples(TITLES.map(lambda t: t + "!"), TITLES, st.integers(0, 2), st.integers(1, 9))


def columns(rows, schema):
    return pa.table([list(c) for c in zip(*rows, strict=True)] or [[]] * len(schema), schema=schema)


def resolved(links, pages, entities, namespaces=(0,)):
    table = None
    if entities is not None:
        titles, values = list(entities), list(entities.values())
        table = Entities.of(
            pa.table(
                {
                    "title": pa.array(titles, pa.large_string()),
                    "entity": pa.array(values, pa.large_string()),
                }
            )
        )
    redirects = follow_redirects(keep_first_of_each_title(columns(pages, PAGES)), namespaces)
    dropped = Counter()
    made = Resolver(redirects, table, language="fo").resolve(columns(links, LINKS), dropped)
    kept = Counter()
    for row in made.to_pylist():
        kept[row["mention"], row["entity"], row["fold"]] += row["count"]
    return kept, dropped


@given(
    links=st.lists(LINK_ROWS),
    pages=st.lists(PAGE_ROWS, max_size=12, unique_by=lambda page: page.id),
    entities=st.none() | st.dictionaries(TITLES, st.sampled_from(["Q1", "Q2", "Q33"])),
    namespaces=st.sampled_from([(0,), (0, 14)]),
)
def test_is_what_dictionaries_give(links, pages, entities, namespaces):
    wanted = resolve(links, pages, entities, language="fo", namespaces=namespaces)
    assert resolved(links, pages, entities, namespaces) == wanted


@given(
    among=st.sets(st.text(max_size=4)),
    values=st.lists(st.text(max_size=4)),
    start=st.integers(0, 3),
)
def test_titles_are_found_among_sorted_ones(among, values, start):
    ordered = sorted(among)
    values = values + ordered[::2]
    arrays = [pa.array(each, pa.large_string()) for each in (values, ordered)]
    cut = arrays[1].slice(start)  # an array may begin in the middle of its buffers
    places = module._find_places(arrays[0], cut).tolist()
    rest = ordered[start:]
    assert places == [rest.index(value) if value in rest else -1 for value in values]


def chain(length, end="Z"):
    titles = [f"R{number}" for number in range(length)]
    return [
        PageRow(title, 0, number, after, 0)
        for number, (title, after) in enumerate(zip(titles, [*titles[1:], end], strict=True), 1)
    ]


def test_a_chain_is_followed_to_its_end_but_not_for_ever():
    kept, dropped = resolved([("m", "R0", 0, 3)], chain(MAX_HOPS), None)
    assert kept == {("m", "fo:Z", 0): 3}
    assert not dropped
    kept, dropped = resolved([("m", "R0", 0, 3), ("m", "R1", 0, 1)], chain(MAX_HOPS + 1), None)
    assert kept == {("m", "fo:Z", 0): 1}
    assert dropped == {"redirect loop": 3}


def test_the_limit_is_that_of_the_oracle():
    assert module.MAX_HOPS == MAX_HOPS


def test_a_redirect_to_itself_is_a_loop():
    assert resolved([("m", "A", 0, 1)], [PageRow("A", 0, 1, "A", 0)], None)[1] == {
        "redirect loop": 1
    }


def test_the_first_table_that_knows_a_title_is_right():
    def table(**entities):
        return pa.table(
            {
                "title": pa.array(list(entities), pa.large_string()),
                "entity": pa.array(list(entities.values()), pa.large_string()),
            }
        )

    made = Entities.of(table(b="Q2", a="Q1"), table(a="Q9", c="Q3"))
    assert dict(zip(made.titles.to_pylist(), made.entities.to_pylist(), strict=True)) == {
        "a": "Q1",
        "b": "Q2",
        "c": "Q3",
    }


def test_without_links_and_pages_there_is_nothing():
    assert resolved([], [], {}) == (Counter(), Counter())
