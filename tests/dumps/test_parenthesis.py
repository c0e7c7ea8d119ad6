"""Titles without the parenthesis that tells pages of one name apart."""

import pytest

from candgen.dumps.parenthesis import remove_parenthesis


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Paris (mythology)", "Paris"),
        ("Foo, Bar", "Foo, Bar"),
        ("Foo (bar (baz))", "Foo"),
        ("Foo (bar) (baz)", "Foo (bar)"),
        ("(500) Days of Summer", "(500) Days of Summer"),
        ("(Untitled)", "(Untitled)"),
        ("f(x)", "f(x)"),
        ("Iron(II)", "Iron(II)"),
        ("東京（曖昧さ回避）", "東京"),
        ("A) (b", "A) (b"),
        ("Foo ()", "Foo"),
    ],
)
def test_titles_without_their_parenthesis(title, name):
    assert remove_parenthesis(title) == name
