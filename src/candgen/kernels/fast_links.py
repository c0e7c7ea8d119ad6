"""The kernel that understands plain links: those whose letters all stand for themselves."""

from candgen.kernels import kernel
from candgen.kernels.utf8 import put_character

TARGET, ANCHOR = 1, 2
"""What the numbers in ``kinds`` are made of: where a character stands for itself."""

_SPACE, _DOT, _OPEN, _CLOSE, _PIPE = 32, 46, 91, 93, 124
_NOT_UTF8 = -1
_BLOCK = 6  # bits: characters are known by blocks of 64


@kernel
def _character(text, at, end):
    """Return the character at a place, if it has up to three bytes of UTF-8, and the next place."""
    byte = int(text[at])
    if byte < 0x80:
        return byte, at + 1
    length = 2 if 0xC2 <= byte < 0xE0 else 3 if 0xE0 <= byte < 0xF0 else 0
    if length == 0 or at + length > end:
        return _NOT_UTF8, at
    point = byte & (0x1F if length == 2 else 0x0F)
    for i in range(at + 1, at + length):
        if text[i] & 0xC0 != 0x80:
            return _NOT_UTF8, at
        point = point << 6 | int(text[i]) & 0x3F
    if length == 3 and (point < 0x800 or 0xD800 <= point < 0xE000):
        return _NOT_UTF8, at
    return point, at + length


@kernel
def find_blocks(text, blocks):
    """Mark the blocks of 64 characters that occur; other bytes are skipped."""
    at = 0
    while at < len(text):
        point, after = _character(text, at, len(text))
        if point < 0:
            at += 1
        else:
            blocks[point >> _BLOCK] = True
            at = after


@kernel
def _end_of_target(text, at, end, longest, kinds, combining):
    """Return where the plain target that begins there ends (words in NFC); -1 if not plain."""
    before, characters, spaced = 0, 0, True
    if at < end and text[at] == _DOT:
        return -1
    while at < end and text[at] != _PIPE and text[at] != _CLOSE:
        point, at = _character(text, at, end)
        if point == _SPACE:
            if spaced:
                return -1
            spaced, before = True, 0
        elif point < 0 or not kinds[point] & TARGET:
            return -1
        else:
            mark = combining[point]
            if mark != 0 and before > mark:
                return -1
            spaced, before = False, mark
        characters += 1
    return -1 if spaced or characters > longest else at


@kernel
def _end_of_words(text, at, end, kinds):
    """Return where the words of a plain anchor end that begin there; -1 if it is not plain."""
    spaced = True
    while at < end and text[at] != _CLOSE:
        point, at = _character(text, at, end)
        if point == _SPACE:
            if spaced:
                return -1
            spaced = True
        elif point < 0 or not kinds[point] & ANCHOR:
            return -1
        else:
            spaced = False
    return -1 if spaced else at


@kernel
def _is_trail(text, at, end, kinds):
    while at < end:
        point, at = _character(text, at, end)
        if point < 0 or not kinds[point] & ANCHOR:
            return False
    return True


@kernel
def _put(source, start, end, target, at):
    for i in range(start, end):
        target[at] = source[i]
        at += 1
    return at


@kernel
def read_plain(
    text,
    ends,
    longest,
    kinds,
    combining,
    capitals,
    titles,
    title_ends,
    mentions,
    mention_ends,
    plain,
):
    """Write title and mention of every link that is plain, ``[[target|anchor]]trail``.

    The links lie one after the other in the text; ``ends`` tells where each ends, as the other
    ends do for titles and mentions. Those of a link that is not plain are empty.

    A target of at most so many characters is plain if its ``kinds`` say so, ``combining`` classes
    are in order, and words are parted by single spaces. The first letter becomes a capital.
    """
    start = title_at = mention_at = 0
    for link in range(len(ends)):
        end = ends[link]
        target = start + 2
        opened = target < end and text[start] == _OPEN and text[start + 1] == _OPEN
        stop = _end_of_target(text, target, end, longest, kinds, combining) if opened else -1
        shown, shown_stop = target, stop
        if stop >= 0 and stop < end and text[stop] == _PIPE:
            shown = stop + 1
            shown_stop = _end_of_words(text, shown, end, kinds)
        trail = shown_stop + 2
        if (
            stop >= 0
            and shown_stop >= 0
            and trail <= end
            and text[trail - 1] == _CLOSE
            and _is_trail(text, trail, end, kinds)
        ):
            plain[link] = True
            first, after = _character(text, target, end)
            title_at = put_character(capitals[first], titles, title_at)
            title_at = _put(text, after, stop, titles, title_at)
            mention_at = _put(text, shown, shown_stop, mentions, mention_at)
            mention_at = _put(text, trail, end, mentions, mention_at)
        title_ends[link], mention_ends[link] = title_at, mention_at
        start = end
