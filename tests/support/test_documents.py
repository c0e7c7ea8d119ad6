"""How examples are taken out of pages, and what they print compared."""

from tests.support.documents import Block, alike, commands, programs


def test_examples_are_cut_into_commands_and_these_into_programs():
    text = "$ echo a \\\n  b\na b\n$ ls <in | wc -l # files\n1\n"
    first, second = commands(Block("x.md", 1, "console", text))
    assert (first.shown, second.shown) == ("a b\n", "1\n")
    assert programs(first) == [["echo", "a", "b"]]
    assert programs(second) == [["ls"], ["in"], ["wc", "-l"]]
    assert len(commands(Block("x.md", 1, "sh", "ls\n\nls \\\n  -l\n"))) == 2


def test_numbers_may_differ_a_little_and_words_may_not():
    shown = "99.4 of 354"
    assert alike("99.7  of 354\n", shown, within=0.3)
    assert not alike("99.8 of 354", shown, within=0.3)
    assert not alike("99.4 in 354", shown, within=0.3)
