"""Kernels that find the tokens of a page of wikitext: see ``wikitext``."""

import numpy as np

from candgen.kernels import kernel

TAB, LINE, SPACE, EXCLAMATION, APOSTROPHE, DASH, SLASH, COLON = 9, 10, 32, 33, 39, 45, 47, 58
LESS, GREATER = 60, 62
OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, PIPE, CLOSE_BRACE = 91, 93, 123, 124, 125

# What a token is.
NOTHING, BRACKETS, END_BRACKETS, BRACES, END_BRACES = 0, 1, 2, 3, 4
TABLE, END_BRACES_OR_TABLE, REFERENCE, END_REFERENCE, COMMENT = 5, 6, 7, 8, 9

_REFERENCE_TAG, _INCLUDE_ONLY_TAG = 0, 1
# fmt: off
_TAGS = (
    "ref", "includeonly",
    # What is inside these is not wikitext.
    "nowiki", "pre", "math", "chem", "ce", "syntaxhighlight", "source", "score", "timeline",
    "graph", "hiero", "templatedata", "templatestyles", "mapframe", "maplink", "inputbox",
    "charinsert", "categorytree", "quiz", "dynamicpagelist", "phonos",
)
# fmt: on
_NAMES = np.array([list(tag.ljust(16, "\0").encode()) for tag in _TAGS], dtype=np.uint8)
_LENGTHS = np.array([len(tag) for tag in _TAGS], dtype=np.int64)
_NUMBER_OF_TAGS = len(_TAGS)
# After the closing tags, what else is looked for, and remembered where it is found next.
_GREATER_SLOT, COMMENT_SLOT = _NUMBER_OF_TAGS, _NUMBER_OF_TAGS + 1

_SPECIAL = np.isin(np.arange(256), list(b"<[]{}"))
_TAG_INITIAL = np.isin(np.arange(256) | 32, _NAMES[:, 0]) & (np.arange(256) > 64)


@kernel
def _is_space(byte):
    return byte == SPACE or (TAB <= byte <= 13)


@kernel
def _name_at(text, at, tag):
    """Return whether the name of a tag stands there, in small or capital letters."""
    length = _LENGTHS[tag]
    if at + length > len(text):
        return False
    same = 0
    while same < length and text[at + same] | 32 == _NAMES[tag, same]:
        same += 1
    return same == length


@kernel
def _tag_at(text, at):
    """Return the number of the tag that opens at a ``<``, or -1."""
    size = len(text)
    if at + 1 >= size or not _TAG_INITIAL[text[at + 1]]:
        return -1
    for tag in range(_NUMBER_OF_TAGS):
        if _name_at(text, at + 1, tag):
            after = at + 1 + _LENGTHS[tag]
            if after < size and (_is_space(text[after]) or text[after] == GREATER):
                return tag
            if after + 1 < size and text[after] == SLASH and text[after + 1] == GREATER:
                return tag
    return -1


@kernel
def end_of(text, at, slot):
    """Return where what is looked for ends if it begins there, else -1."""
    size = len(text)
    if slot == _GREATER_SLOT:
        return at + 1 if text[at] == GREATER else -1
    if slot == COMMENT_SLOT:
        dashes = at + 2 < size and text[at] == DASH and text[at + 1] == DASH
        return at + 3 if dashes and text[at + 2] == GREATER else -1
    if text[at] != LESS or at + 1 >= size or text[at + 1] != SLASH:
        return -1
    if not _name_at(text, at + 2, slot):
        return -1
    end = at + 2 + _LENGTHS[slot]
    while end < size and _is_space(text[end]):
        end += 1
    return end + 1 if end < size and text[end] == GREATER else -1


@kernel
def _look_for(text, at, slot, found):
    """Write where the next one begins and ends; no byte is read twice for the same slot."""
    if found[slot, 0] >= at:
        return
    initial = GREATER if slot == _GREATER_SLOT else DASH if slot == COMMENT_SLOT else LESS
    for i in range(at, len(text)):
        if text[i] == initial:
            end = end_of(text, i, slot)
            if end >= 0:
                found[slot, 0], found[slot, 1] = i, end
                return
    found[slot, 0] = found[slot, 1] = len(text) + 1


@kernel
def opens_comment(text, at, limit):
    """Return whether a comment opens at a ``<``."""
    if at + 3 >= limit or text[at + 1] != EXCLAMATION:
        return False
    return text[at + 2] == DASH and text[at + 3] == DASH


@kernel
def _read_angle(text, at, limit, found):
    """Return what begins at a ``<``: the kind of token, and where the scan goes on."""
    if opens_comment(text, at, limit):
        _look_for(text, at + 4, COMMENT_SLOT, found)
        return COMMENT, min(found[COMMENT_SLOT, 1], limit)
    tag = _tag_at(text, at)
    if tag < 0:
        return NOTHING, at + 1
    _look_for(text, at, _GREATER_SLOT, found)
    inside = found[_GREATER_SLOT, 1]
    if inside > limit:
        return NOTHING, at + 1
    if text[inside - 2] == SLASH:
        return NOTHING, inside
    _look_for(text, inside, tag, found)
    closed = found[tag, 1] <= limit
    if tag == _INCLUDE_ONLY_TAG:
        return NOTHING, found[tag, 1] if closed else limit
    if not closed:  # then it is text like any other
        return NOTHING, inside
    if tag == _REFERENCE_TAG:
        return REFERENCE, inside
    return NOTHING, found[tag, 1]


@kernel
def _begins_line(text, at):
    """Return whether only white space, and colons that indent, stand before it on its line."""
    while at > 0 and (text[at - 1] == SPACE or text[at - 1] == COLON or text[at - 1] == TAB):
        at -= 1
    return at == 0 or text[at - 1] == LINE


@kernel
def _kind_of_run(text, start, end):
    """Return what a run of equal brackets or braces is."""
    byte, length = text[start], end - start
    if byte == OPEN_BRACKET:
        return BRACKETS
    if byte == CLOSE_BRACKET:
        return END_BRACKETS if length > 1 else NOTHING
    if byte == OPEN_BRACE:
        if length > 1:
            return BRACES
        opens = end < len(text) and text[end] == PIPE and _begins_line(text, start)
        return TABLE if opens else NOTHING
    if start > 0 and text[start - 1] == PIPE and _begins_line(text, start - 1):
        return END_BRACES_OR_TABLE
    return END_BRACES if length > 1 else NOTHING


@kernel
def _next_special(text, at):
    """Return the place of the next byte that may begin a token."""
    for i in range(at, len(text)):
        if _SPECIAL[text[i]]:
            return i
    return len(text)


@kernel
def find_tokens(text, kinds, starts, ends):
    """Write the tokens of a page in their order; returns how many."""
    size = len(text)
    found = np.full((_NUMBER_OF_TAGS + 2, 2), -1, dtype=np.int64)
    number, at, limit = 0, _next_special(text, 0), size
    while at < size:
        if text[at] != LESS:
            after = at + 1
            while after < size and text[after] == text[at]:
                after += 1
            kind = _kind_of_run(text, at, after)
        elif at == limit:  # the end of the reference that we are in
            kind, after, limit = END_REFERENCE, found[_REFERENCE_TAG, 1], size
        else:
            kind, after = _read_angle(text, at, limit, found)
            if kind == REFERENCE:
                limit = found[_REFERENCE_TAG, 0]
        if kind != NOTHING:
            kinds[number], starts[number], ends[number] = kind, at, after
            number += 1
        at = _next_special(text, after)
    return number


@kernel
def match_braces(kinds, starts, ends, pairs, tables):
    """Write how many pairs of braces each token opens or closes, and how tables change there.

    As in MediaWiki, braces close the innermost run that is open, three at once if both have them,
    and a reference is a world of its own.
    """
    number = len(kinds)
    opened = np.empty(number, dtype=np.int64)
    left = np.empty(number, dtype=np.int64)
    open_tables = np.empty(number, dtype=np.int64)
    height, base, table_height = 0, 0, 0
    for token in range(number):
        kind = kinds[token]
        if kind == BRACES:
            opened[height], left[height] = token, ends[token] - starts[token]
            height += 1
        elif kind == REFERENCE:
            base, pairs[token] = height, 1
        elif kind == END_REFERENCE:
            height, base, pairs[token] = base, 0, 1
        elif kind == TABLE:
            open_tables[table_height] = token
            table_height += 1
        elif kind in (END_BRACES, END_BRACES_OR_TABLE):
            more = ends[token] - starts[token]
            while more >= 2 and height > base:
                taken = 3 if min(more, left[height - 1]) >= 3 else 2
                pairs[opened[height - 1]] += 1
                pairs[token] += 1
                more -= taken
                left[height - 1] -= taken
                if left[height - 1] < 2:
                    height -= 1
            if kind == END_BRACES_OR_TABLE and pairs[token] == 0 and table_height > 0:
                table_height -= 1
                tables[open_tables[table_height]] += 1
                tables[token] -= 1
