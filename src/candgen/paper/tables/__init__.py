"""The paper's tables and figures, made of findings."""

from collections.abc import Callable

from candgen.paper.findings import Findings
from candgen.paper.tables.cost import complexity, thresholding
from candgen.paper.tables.coverage import ceilings, data
from candgen.paper.tables.curves import recall_at_k, training_size
from candgen.paper.tables.recall import high_resource, main_results, query_types
from candgen.reporting.html import Exhibit

MAKERS: dict[str, Callable[[Findings], Exhibit]] = {
    "main-results": main_results,
    "query-types": query_types,
    "high-resource": high_resource,
    "data": data,
    "thresholding": thresholding,
    "complexity": complexity,
    "ceilings": ceilings,
    "training-size": training_size,
    "recall-at-k": recall_at_k,
}
"""The function that makes each exhibit."""
