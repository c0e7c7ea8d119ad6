"""Every module has its test at its own path, or an entry here that names another file."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "candgen"
COVERED_BY = {
    "__main__.py": "cli/test_cli.py",
    "auto/build.py": "test_auto.py",
    "auto/normalizer.py": "test_auto.py",
    "auto/pivots.py": "test_auto.py",
    "auto/tuning.py": "test_auto.py",
    "cli/build_auto.py": "test_auto.py",
    "cli/console.py": "cli/test_query.py",
    "cli/time_left.py": "cli/test_progress.py",
    "cli/describe.py": "cli/test_methods.py",
    "cli/index_extras.py": "cli/test_methods.py",
    "cli/measure_process.py": "paper/test_complexity.py",
    "cli/output.py": "cli/test_query.py",
    "cli/warm_world.py": "cli/test_warm.py",
    "evaluation/pivot_measures.py": "evaluation/test_pivot_ranking.py",
    "generators/candidate.py": "generators/test_cascade.py",
    "generators/conditional_logit.py": "generators/rerank/test_weights.py",
    "generators/index_base.py": "test_protocols.py",
    "generators/inputs.py": "generators/pivot/test_pivot_token_index.py",
    "generators/neural/training.py": "generators/neural/test_charagram.py",
    "generators/pivot/parameters.py": "generators/pivot/test_weight_search.py",
    "generators/rerank/logarithms.py": "generators/rerank/test_spellings.py",
    "generators/summaries.py": "cli/test_methods.py",
    "generators/translation/fields.py": "generators/translation/test_translation.py",
    "generators/translation/method.py": "generators/test_conformance.py",
    "generators/wikipriors_method.py": "generators/test_wikipriors.py",
    "index/counts.py": "index/test_token_index.py",
    "index/layout.py": "index/test_token_index.py",
    "index/layout_validation.py": "adversarial/test_index.py",
    "index/vocabulary.py": "index/test_token_index.py",
    "integrations/cldr.py": "cli/test_demo.py",
    "integrations/uriel.py": "cli/test_pivots.py",
    "kernels/blocks.py": "index/test_token_index.py",
    "kernels/bounds.py": "index/test_token_index.py",
    "kernels/bzip2.py": "dumps/test_bzip2.py",
    "kernels/counting.py": "index/test_token_index.py",
    "kernels/entity_pass.py": "index/test_rivals.py",
    "kernels/edit_model.py": "generators/rerank/test_edit_model.py",
    "kernels/fast_links.py": "wikipedia/markup/test_fast_links.py",
    "kernels/heap.py": "index/test_token_index.py",
    "kernels/link_counter.py": "wikipedia/markup/test_link_counter.py",
    "kernels/score_breakdown.py": "generators/pivot/test_explanation.py",
    "kernels/rarity.py": "generators/rerank/test_rarity.py",
    "kernels/prefetch.py": "index/test_token_index.py",
    "kernels/rivals.py": "index/test_rivals.py",
    "kernels/scoring.py": "index/test_token_index.py",
    "kernels/rerank.py": "generators/rerank/test_rerank.py",
    "kernels/search.py": "index/test_token_index.py",
    "kernels/strings.py": "tables/test_string_table.py",
    "kernels/trie.py": "index/test_token_index.py",
    "kernels/trigram_similarity.py": "evaluation/test_trigram_similarity.py",
    "kernels/validation.py": "adversarial/test_index.py",
    "kernels/utf8.py": "wikipedia/test_page_xml.py",
    "kernels/wikitext.py": "wikipedia/markup/test_links_fuzz.py",
    "kernels/wikitext_tokens.py": "wikipedia/markup/test_links_fuzz.py",
    "kernels/word_match.py": "generators/rerank/test_rarity.py",
    "kernels/xml.py": "wikipedia/test_page_xml.py",
    "service/preview.py": "service/test_reconcile.py",
    "service/reconcile_queries.py": "service/test_reconcile.py",
    "service/reconcile_results.py": "service/test_reconcile.py",
    "service/state.py": "service/test_api.py",
    "storage/index_replacement.py": "storage/test_index_folder.py",
    "tables/folds.py": "tables/test_released.py",
    "tables/released_lines.py": "tables/test_released.py",
    "wikidata/read_part.py": "wikidata/test_extract.py",
    "wikidata/statistics.py": "wikidata/test_extract.py",
    "wikipedia/markup/reasons.py": "wikipedia/markup/test_links.py",
    "wikipedia/spark/outputs.py": "wikipedia/spark/test_extract.py",
    "wikipedia/statistics.py": "wikipedia/test_extract.py",
}
"""From a module to the test file that covers it, where that is not the file at its path."""
MODULES = sorted(
    path.relative_to(SOURCE).as_posix()
    for path in SOURCE.rglob("*.py")
    if path.name != "__init__.py"
)


def own_test(module):
    path = Path(module)
    return path.with_name(f"test_{path.name}").as_posix()


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_a_test(module):
    found = (TESTS / own_test(module)).exists()
    assert found != (module in COVERED_BY), "either at its path or in the list, and not in both"
    assert found or (TESTS / COVERED_BY[module]).is_file()


def test_the_list_names_modules():
    assert set(COVERED_BY) <= set(MODULES)
