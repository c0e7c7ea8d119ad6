"""Redirects followed and titles replaced by entities in SQL, as `resolve` does, for many wikis.

Each query defines a view, in terms of those before it and of ``task_rows``, the rows of all tasks.
"""

from collections.abc import Collection

from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.options import Options
from candgen.wikipedia.resolve import MAX_HOPS

_DOUBLINGS = MAX_HOPS.bit_length() - 1
if 1 << _DOUBLINGS != MAX_HOPS:
    raise AssertionError("redirects are followed by doubling: MAX_HOPS must be a power of two")

# Of several pages with one title the one with the lowest id is taken, and its redirect from the
# database rather than from the dump. Structs are compared by their first fields.
_PAGES = """
SELECT language, title, page.id AS id, page.namespace AS namespace,
       page.mention AS mention, page.fold AS fold,
       coalesce(known.redirect, page.redirect) AS redirect,
       coalesce(known.redirect_namespace, page.redirect_namespace) AS redirect_namespace,
       coalesce(known.outside, page.outside) AS outside
FROM (
    SELECT language, title, page.id AS id, page
    FROM (
        SELECT language, title, min(struct(
            id, task, namespace, mention, fold, redirect, redirect_namespace, outside)) AS page
        FROM task_rows
        WHERE kind = 'pages' AND (redirect IS NOT NULL OR namespace IN ({namespaces}))
        GROUP BY language, title
    )
)
LEFT JOIN (
    SELECT language, id, known.redirect, known.redirect_namespace, known.outside
    FROM (
        SELECT language, id, min(struct(redirect, redirect_namespace, outside)) AS known
        FROM task_rows WHERE kind = 'redirects' GROUP BY language, id
    )
) AS known USING (language, id)
"""

_REDIRECTS = """
SELECT language, title, redirect AS target, redirect_namespace AS namespace, outside
FROM pages WHERE redirect IS NOT NULL
"""

# Twice as far: if the target of a redirect is a redirect too, its target. A redirect to another
# wiki has an empty target, which is not a title.
_FURTHER = """
SELECT near.language, near.title, coalesce(far.target, near.target) AS target,
       coalesce(far.namespace, near.namespace) AS namespace,
       coalesce(far.outside, near.outside) AS outside
FROM {hops} AS near LEFT JOIN {hops} AS far
ON near.language = far.language AND near.target = far.title
"""

_ENDS = """
SELECT ends.language, ends.title, ends.target,
       CASE WHEN redirects.title IS NOT NULL THEN '{loop}'
            WHEN ends.outside THEN '{outside}'
            WHEN ends.namespace NOT IN ({namespaces}) THEN '{namespace}' END AS reason
FROM {hops} AS ends LEFT JOIN redirects
ON ends.language = redirects.language AND ends.target = redirects.title
"""

_ENTITIES = """
SELECT language, title, entity
FROM pages JOIN (
    SELECT language, id, min(entity) AS entity
    FROM task_rows WHERE kind = 'entities' GROUP BY language, id
) USING (language, id)
"""

# The numbers of pages and redirects whose names may be mentions.
_NAMED = """
SELECT language, redirect IS NOT NULL AS redirects, count(*) AS seen
FROM pages WHERE namespace IN ({namespaces}) GROUP BY language, redirect IS NOT NULL
"""

# One row for every title with a redirect or an entity, so that links are joined once.
_DESTINATIONS = """
SELECT ends.language, ends.title, ends.target, ends.reason, entities.entity
FROM ends LEFT JOIN entities
ON ends.language = entities.language AND ends.target = entities.title
UNION ALL
SELECT language, title, title, CAST(NULL AS string), entity
FROM entities LEFT ANTI JOIN redirects USING (language, title)
"""

_LINKS = "SELECT language, fold, mention, title, count FROM task_rows WHERE kind = 'links'"
_NAMES = """
SELECT language, fold, mention, title, CAST(1 AS bigint) AS count
FROM pages WHERE redirect {which} AND namespace IN ({namespaces})
"""

_RESOLVED = """
SELECT language, fold, mention, count, entity,
       CASE WHEN reason IS NOT NULL THEN reason WHEN entity IS NULL THEN '{unmapped}' END AS reason
FROM (
    SELECT links.language, fold, mention, count, reason,
           CASE WHEN links.language IN ({with_ids}) THEN entity
                ELSE concat(links.language, ':', coalesce(target, links.title)) END AS entity
    FROM links LEFT JOIN destinations
    ON links.language = destinations.language AND links.title = destinations.title
)
"""

# Dropped links are one row for each reason, without mention and entity.
_PAIRS = """
SELECT language, fold, mention, entity, reason, sum(count) AS count
FROM (
    SELECT language, fold, count, reason,
           CASE WHEN reason IS NULL THEN mention END AS mention,
           CASE WHEN reason IS NULL THEN entity END AS entity
    FROM resolved
)
GROUP BY language, fold, mention, entity, reason
HAVING reason IS NOT NULL OR sum(count) >= {minimum}
ORDER BY language, fold, mention, entity
"""


def define_views(options: Options, with_ids: Collection[str]) -> dict[str, str]:
    """Return the definitions of the views by name, in order; ``with_ids`` are language codes.

    The last, ``pairs``, has the rows of the tables, sorted, and one row for each reason for which
    links were dropped; pairs below the minimum are left out.
    """
    words = {
        "namespaces": ", ".join(map(str, options.namespaces)),
        "with_ids": ", ".join(f"'{language}'" for language in sorted(with_ids)) or "NULL",
        "minimum": options.minimum,
        "loop": Reason.LOOP,
        "outside": Reason.OUTSIDE,
        "namespace": Reason.NAMESPACE,
        "unmapped": Reason.UNMAPPED,
    }
    made = {"pages": _PAGES, "named": _NAMED, "redirects": _REDIRECTS}
    hops = "redirects"
    for doubling in range(1, _DOUBLINGS + 1):
        made[f"hops{1 << doubling}"] = _FURTHER.replace("{hops}", hops)
        hops = f"hops{1 << doubling}"
    made |= {
        "ends": _ENDS.replace("{hops}", hops),
        "entities": _ENTITIES,
        "destinations": _DESTINATIONS,
        "links": _select_links(options),
        "resolved": _RESOLVED,
        "pairs": _PAIRS,
    }
    return {name: query.format(**words) for name, query in made.items()}


def _select_links(options: Options) -> str:
    """Return the query for links and, if requested, for the names of pages and redirects."""
    names = [
        _NAMES.replace("{which}", which)
        for wanted, which in ((options.titles, "IS NULL"), (options.redirect_titles, "IS NOT NULL"))
        if wanted
    ]
    return " UNION ALL ".join([_LINKS, *names])
