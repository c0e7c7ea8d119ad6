"""The paper's tables and figures, made of findings."""

from collections.abc import Callable

from candgen.evaluation.exhibits.cost import complexity, thresholding
from candgen.evaluation.exhibits.coverage import ceilings, data
from candgen.evaluation.exhibits.curves import recall_at_k, training_size
from candgen.evaluation.exhibits.recall import high_resource, main_results, query_types
from candgen.evaluation.page import Exhibit
from candgen.evaluation.results import Results

MAKERS: dict[str, Callable[[Results], Exhibit]] = {
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
