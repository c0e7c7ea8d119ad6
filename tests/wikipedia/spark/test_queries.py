"""The views of Spark's SQL."""

from candgen.wikipedia.options import Options
from candgen.wikipedia.spark.queries import define_views


def test_every_view_is_made_of_those_before_it():
    made_so_far = {"task_rows"}
    made = define_views(Options(titles=True, namespaces=(0, 4)), {"is", "fo"})
    for name, query in made.items():
        words = set(query.replace("(", " ").replace(")", " ").split())
        assert "{" not in query
        assert words & made_so_far, name
        made_so_far.add(name)
    assert "IN ('fo', 'is')" in made["resolved"]
    assert "IN (0, 4)" in made["pages"]


def test_names_are_among_the_links_only_if_they_are_asked_for():
    assert "pages" not in define_views(Options(), ())["links"]
    assert "redirect IS NULL" in define_views(Options(titles=True), ())["links"]
    assert "redirect IS NOT NULL" in define_views(Options(redirect_titles=True), ())["links"]
