"""Results that are kept in files."""

from candgen.paper.cache import ResultCache


def test_a_damaged_record_is_measured_anew(tmp_path):
    records = ResultCache(tmp_path)
    assert records.get("a", {"seed": 1}, lambda: {"x": 1}) == {"x": 1}
    (path,) = tmp_path.iterdir()
    assert records.get("a", {"seed": 1}, lambda: {"x": 2}) == {"x": 1}
    path.write_text(path.read_text(encoding="utf-8")[:-5], encoding="utf-8")
    assert records.get("a", {"seed": 1}, lambda: {"x": 3}) == {"x": 3}
    path.write_text("[1]", encoding="utf-8")
    assert records.get("a", {"seed": 1}, lambda: {"x": 4}) == {"x": 4}
