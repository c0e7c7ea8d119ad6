"""Indexes for the tests of the service: the toy world, with a second stage and names or not."""

import candgen
from candgen.service.settings import Settings, name_indexes
from candgen.tables.entities import EntityTable
from tests.support import toy

ENTITIES = [
    ("Q1741", "en", "Vienna", "capital of Austria", ["Q515", "Q1549591"]),
    ("Q1741", "da", "Wien", "Østrigs hovedstad", []),
    ("Q282", "en", "wine", "alcoholic drink", ["Q154"]),
    ("Q515", "en", "city", "", []),
    ("Q515", "da", "by", "", []),
]
"""Vienna and wine are described, and so is one of Vienna's types; the Rhine is not."""


def toy_index(language="fo"):
    return candgen.PivotTokenIndex.build(
        pivots={"is": candgen.MentionTable.from_pairs(toy.ICELANDIC)},
        target=candgen.MentionTable.from_pairs(toy.FAROESE),
        language=language,
        alpha=toy.ALPHA,
        lam=1.0,
        tokenizer=candgen.CharNgrams(*toy.NGRAMS),
    )


def save_toy(path, *, second_stage=False, described=False):
    """Save the toy index; the generator that is stored."""
    made = toy_index()
    if second_stage:
        made = candgen.Rerank(made)
    made.save(path)
    if described:
        EntityTable.from_rows(ENTITIES).store(path)
    return made


def client_of(folder, *names, **settings):
    """Return a client of a service, in this process, over some indexes of a folder."""
    # FastAPI is optional, and some tests that need no service import this module.
    from starlette.testclient import TestClient

    from candgen.service.app import create_app

    indexes = name_indexes([str(folder / f"{name}.candgen") for name in names])
    return TestClient(create_app(Settings(indexes, **settings)))


def problem_detail(answer, status):
    """Assert that an answer is a problem document of this status, and return its detail."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status
    assert body["type"] == "about:blank"
    assert body["title"]
    return body["detail"]
