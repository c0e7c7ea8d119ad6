"""JSON values in lines for people."""

from candgen.cli.humanize import LISTED, POINTS, facts_of, sparkline


def test_facts_are_short():
    many = facts_of("many", {f"p{n}": [{"a": n}] for n in range(LISTED + 5)})
    assert many[-1] == ("  5 more", "(--format json has all)")
    assert facts_of("one", None) == [("one", "none")]
    assert facts_of("none", []) == [("none", "none")]
    assert facts_of("share", 0.25) == [("share", "0.25")]
    assert facts_of("big", 1234567) == [("big", "1,234,567")]
    assert facts_of("n", [1, 2, 3]) == [("n", "1, 2, 3")]
    assert facts_of("files", ["a" * 50, "b" * 50])[1:] == [
        ("  file0", "a" * 50),
        ("  file1", "b" * 50),
    ]
    assert facts_of("unnamed", {"en": 0, "is": 12}) == [("unnamed", "en 0, is 12")]
    long = sparkline([float(n) for n in range(200)])
    assert long.split()[0][0] == "▁"
    assert len(long.split()[0]) == POINTS
    assert long.endswith("0 to 199, highest 199")
    assert sparkline([2.0, 2.0]).startswith("▁▁ ")
