"""Every module has its test at its own path, or an entry here that names another file."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "candgen"
COVERED_BY = {
    "__main__.py": "cli/test_cli.py",
    "cli/build.py": "cli/test_cli.py",
    "cli/build_auto.py": "test_auto.py",
    "cli/describe.py": "cli/test_methods.py",
    "cli/evaluate.py": "cli/test_experiments.py",
    "cli/explain.py": "cli/test_cli.py",
    "cli/humanize.py": "cli/test_methods.py",
    "cli/index_extras.py": "cli/test_methods.py",
    "cli/info.py": "cli/test_cli.py",
    "cli/measure_process.py": "paper/test_reproduce.py",
    "cli/options.py": "cli/test_cli.py",
    "cli/output.py": "cli/test_cli.py",
    "cli/progress.py": "cli/test_cli.py",
    "cli/query.py": "cli/test_cli.py",
    "cli/reproduce.py": "cli/test_experiments.py",
    "cli/split.py": "cli/test_experiments.py",
    "cli/stdin.py": "cli/test_cli.py",
    "cli/tune.py": "cli/test_experiments.py",
    "dumps/bzip2_parts.py": "wikidata/test_lines.py",
    "dumps/fetch.py": "dumps/test_download.py",
    "dumps/http_client.py": "dumps/test_download.py",
    "dumps/parenthesis.py": "wikipedia/test_extract.py",
    "dumps/parquet_writer.py": "wikipedia/test_extract.py",
    "dumps/published.py": "dumps/test_download.py",
    "evaluation/pivot_measures.py": "evaluation/test_pivot_ranking.py",
    "evaluation/report.py": "evaluation/test_evaluate.py",
    "evaluation/shuffle.py": "evaluation/test_split.py",
    "evaluation/trigram_similarity.py": "evaluation/test_pivot_ranking.py",
    "evaluation/tuning.py": "evaluation/test_evaluate.py",
    "generators/candidate.py": "generators/test_cascade.py",
    "generators/conditional_logit.py": "generators/rerank/test_weights.py",
    "generators/index_base.py": "test_protocols.py",
    "generators/inputs.py": "generators/pivot/test_pivot_token_index.py",
    "generators/neural/training.py": "generators/neural/test_charagram.py",
    "generators/pivot/parameters.py": "generators/pivot/test_weight_search.py",
    "generators/summaries.py": "cli/test_methods.py",
    "generators/wikipriors_method.py": "generators/test_wikipriors.py",
    "index/counts.py": "index/test_token_index.py",
    "index/layout.py": "index/test_token_index.py",
    "index/pooling.py": "index/test_token_index.py",
    "index/vocabulary.py": "index/test_token_index.py",
    "integrations/cldr.py": "cli/test_demo.py",
    "integrations/uriel.py": "cli/test_pivots.py",
    "kernels/blocks.py": "index/test_token_index.py",
    "kernels/bzip2.py": "dumps/test_bzip2.py",
    "kernels/counting.py": "index/test_token_index.py",
    "kernels/edit_model.py": "generators/rerank/test_edit_model.py",
    "kernels/fast_links.py": "wikipedia/markup/test_fast_links.py",
    "kernels/link_counter.py": "wikipedia/markup/test_fast_links.py",
    "kernels/score_breakdown.py": "generators/pivot/test_explanation.py",
    "kernels/search.py": "index/test_token_index.py",
    "kernels/sorted_strings.py": "storage/test_index_folder.py",
    "kernels/trie.py": "index/test_token_index.py",
    "kernels/trigram_similarity.py": "evaluation/test_pivot_ranking.py",
    "kernels/utf8.py": "wikipedia/test_page_xml.py",
    "kernels/wikitext.py": "wikipedia/markup/test_links_fuzz.py",
    "kernels/wikitext_tokens.py": "wikipedia/markup/test_links_fuzz.py",
    "kernels/xml.py": "wikipedia/test_page_xml.py",
    "paper/cache.py": "paper/test_reproduce.py",
    "paper/complexity.py": "paper/test_reproduce.py",
    "paper/corpus.py": "paper/test_reproduce.py",
    "paper/findings.py": "paper/test_reproduce.py",
    "paper/plan.py": "paper/test_reproduce.py",
    "paper/tables/cost.py": "paper/tables/test_tables.py",
    "paper/tables/coverage.py": "paper/tables/test_tables.py",
    "paper/tables/curves.py": "paper/tables/test_tables.py",
    "paper/tables/groups.py": "paper/tables/test_tables.py",
    "paper/tables/recall.py": "paper/tables/test_tables.py",
    "paper/training_budget.py": "paper/test_reproduce.py",
    "reporting/cells.py": "reporting/test_table.py",
    "reporting/figure.py": "reporting/test_plot.py",
    "reporting/plot_style.py": "reporting/test_plot.py",
    "service/accept_language.py": "service/test_api.py",
    "service/access_log.py": "service/test_attacks_start.py",
    "service/app.py": "service/test_api.py",
    "service/executor.py": "service/test_attacks.py",
    "service/http_timeouts.py": "service/test_attacks.py",
    "service/index_registry.py": "service/test_attacks_processes.py",
    "service/loaded_index.py": "service/test_api.py",
    "service/metrics.py": "service/test_api.py",
    "service/middleware.py": "service/test_attacks_requests.py",
    "service/preview.py": "service/test_reconcile.py",
    "service/problems.py": "service/test_attacks_requests.py",
    "service/reconcile_queries.py": "service/test_reconcile.py",
    "service/reconcile_results.py": "service/test_reconcile.py",
    "service/schemas.py": "service/test_api.py",
    "service/server.py": "service/test_attacks_start.py",
    "service/settings.py": "cli/test_serve.py",
    "service/state.py": "service/test_api.py",
    "storage/atomic.py": "storage/test_index_folder.py",
    "storage/atomic_folder.py": "storage/test_index_folder.py",
    "storage/manifest.py": "storage/test_index_folder.py",
    "storage/versions.py": "storage/test_index_folder.py",
    "tables/folds.py": "tables/test_released.py",
    "tables/released_lines.py": "tables/test_released.py",
    "tables/rows.py": "tables/test_mention_table.py",
    "tables/source_mentions.py": "generators/pivot/test_pivot_token_index.py",
    "tables/string_table.py": "storage/test_index_folder.py",
    "tables/table_files.py": "tables/test_mention_table.py",
    "tables/table_folder.py": "paper/test_reproduce.py",
    "tables/target_file.py": "evaluation/test_pivot_ranking.py",
    "text/alphabets.py": "text/test_romanize.py",
    "text/brahmic.py": "text/test_romanize.py",
    "wikidata/items.py": "wikidata/test_extract.py",
    "wikidata/languages.py": "wikidata/test_extract.py",
    "wikidata/names.py": "wikidata/test_extract.py",
    "wikidata/read_part.py": "wikidata/test_extract.py",
    "wikidata/statistics.py": "wikidata/test_extract.py",
    "wikidata/tables.py": "wikidata/test_extract.py",
    "wikidata/work_folder.py": "wikidata/test_extract.py",
    "wikipedia/inputs.py": "wikipedia/test_extract.py",
    "wikipedia/markup/anchors.py": "wikipedia/markup/test_links.py",
    "wikipedia/markup/link_counter.py": "wikipedia/markup/test_fast_links.py",
    "wikipedia/markup/reasons.py": "wikipedia/markup/test_links.py",
    "wikipedia/mysqldump.py": "wikipedia/test_sql.py",
    "wikipedia/options.py": "wikipedia/test_extract.py",
    "wikipedia/read_part.py": "wikipedia/test_extract.py",
    "wikipedia/read_parts.py": "wikipedia/test_extract.py",
    "wikipedia/report.py": "wikipedia/test_extract.py",
    "wikipedia/spark/outputs.py": "wikipedia/spark/test_dump_folder.py",
    "wikipedia/spark/queries.py": "wikipedia/spark/test_dump_folder.py",
    "wikipedia/spark/tasks.py": "wikipedia/spark/test_dump_folder.py",
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
