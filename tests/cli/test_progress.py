"""Progress on a terminal."""

from tests.support.commands import on_terminal, process


def test_progress_is_for_terminals(world, tmp_path):
    pivot = ("--pivot", world / "is.tsv")
    shown, out, status = on_terminal("build", *pivot, "-o", tmp_path / "x")
    assert status == 0
    assert "reading" in shown
    assert "postings" in shown
    assert out == b""
    shown, out, status = on_terminal("query", tmp_path / "x", stdin=b"Rome\n" * 3000)
    assert status == 0
    assert "3,000 mentions" in shown
    assert len(out.splitlines()) == 3000
    assert b"mentions" not in out
    assert process("query", tmp_path / "x", input=b"Rome\n").stderr == b""
