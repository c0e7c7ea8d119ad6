"""Kernels that find the links of a page of wikitext, as bytes of UTF-8, in linear time.

One pass over the bytes finds the tokens: runs of brackets and braces, tables, references and
comments, while it leaves out what is not wikitext (``nowiki`` and its like). Two passes over the
tokens match braces, then brackets. This follows what MediaWiki does, in its order: extension tags
first, templates second, links last; so a link ends inside the template or the reference that it
begins in, and of links inside each other only the inner one is a link. One thing is left out:
brackets or braces that only a comment parts, ``[<!-- -->[``, are not put together.
"""

import numpy as np

from candgen.kernels import kernel
from candgen.kernels.wikitext_tokens import (
    APOSTROPHE,
    BRACES,
    BRACKETS,
    COLON,
    COMMENT,
    COMMENT_SLOT,
    END_BRACES,
    END_BRACES_OR_TABLE,
    END_BRACKETS,
    END_REFERENCE,
    LESS,
    OPEN_BRACE,
    PIPE,
    REFERENCE,
    end_of,
    find_tokens,
    match_braces,
    opens_comment,
)

LINK_TRAIL, LINK_PREFIX = 1, 2
"""What the numbers in ``letters`` are made of."""

_NEVER_IN_TARGET = np.isin(np.arange(256), list(b"\n<>[]{}"))

# What is known of a link that is not closed yet.
_HAS_LINK, _HAS_BRACKET, _UNWANTED, _HAS_DEEPER_LINK = 1, 2, 4, 8


@kernel
def _end_of_target(text, start, stop, template):
    """Return the place of the first pipe, ``stop`` if there is none, -1 if it is not a target.

    If it has a template, the first of which begins at ``template``, it may be one.
    """
    at = start
    while at < stop:
        byte = text[at]
        if byte == PIPE:
            return at
        if byte == OPEN_BRACE and at == template:
            return stop
        if byte == LESS:
            if not opens_comment(text, at, stop):
                return -1
            at += 4
            while at < stop and end_of(text, at, COMMENT_SLOT) < 0:
                at += 1
            at += 3
            continue
        if _NEVER_IN_TARGET[byte]:
            return -1
        at += 1
    return stop


@kernel
def _end_of_link(text, start, stop, known, template):
    """Return where a link ends whose brackets close at ``stop``; 0 if it is none.

    Of what has links inside, and a colon before its first pipe, it is minus the end of the head.
    """
    pipe = _end_of_target(text, start + 2, stop, template)
    if pipe < 0 or known & _UNWANTED:
        return 0
    if known & _HAS_LINK == 0:
        return stop + 2
    if pipe == stop:
        return 0
    for at in range(start + 2, pipe):
        if text[at] == COLON:
            return -(pipe + 1)
    return 0


@kernel
def _length_of_letter(text, at, stop, letters, which):
    """Return how many bytes the letter of a link trail or prefix there has; 0 if there is none."""
    if at >= stop:
        return 0
    byte = np.int64(text[at])
    if byte < 128:
        if byte == APOSTROPHE and at + 1 < len(text) and text[at + 1] == APOSTROPHE:
            return 0
        return 1 if letters[byte] & which else 0
    length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
    if byte < 0xC2 or byte > 0xF4 or at + length > stop:
        return 0
    point = byte & (0x7F >> length)
    for i in range(at + 1, at + length):
        if text[i] & 0xC0 != 0x80:
            return 0
        point = point << 6 | np.int64(text[i]) & 0x3F
    if point >= len(letters) or not letters[point] & which:
        return 0
    # What has more bytes than it needs, or is half of a pair of UTF-16, is not UTF-8.
    overlong = (length == 3 and point < 0x800) or (length == 4 and point < 0x10000)
    return 0 if overlong or 0xD800 <= point < 0xE000 else length


@kernel
def _end_of_trail(text, end, token, kinds, starts, ends, letters):
    """Return where the letters end that belong to a link which a token closed at ``end``."""
    at = end
    while True:
        length = _length_of_letter(text, at, len(text), letters, LINK_TRAIL)
        at += length
        if length > 0:
            end = at
            continue
        token += 1  # a comment is not there for MediaWiki
        if token == len(kinds) or kinds[token] != COMMENT or starts[token] != at:
            return end
        at = np.int64(ends[token])


@kernel
def _start_of_prefix(text, start, floor, letters):
    """Return where the letters begin that belong to a link; not before ``floor``."""
    while start > floor:
        first = start - 1
        while first > floor and first > start - 4 and text[first] & 0xC0 == 0x80:
            first -= 1
        if _length_of_letter(text, first, start, letters, LINK_PREFIX) != start - first:
            return start
        start = first
    return start


@kernel
def _most_links(kinds, starts, ends):
    room = 0
    for token in range(len(kinds)):
        if kinds[token] == BRACKETS:
            room += (ends[token] - starts[token]) // 2
    return room


@kernel
def _match_brackets(text, kinds, starts, ends, pairs, unwanted, letters, first, last):
    """Write where the links begin and end, in the order of their beginnings; returns how many.

    The end is 0 for brackets that are not a link, and negative for heads: see ``find_links``.

    Open links stand on a stack. Templates and references are a world of their own, so each has a
    part of the stack: from ``base`` to ``height``. A link of an outer part cannot be closed in it.
    """
    has_prefixes = letters[0] & LINK_PREFIX
    opened = np.empty(len(first), dtype=np.int64)  # of each link: where its brackets open
    # Of each place of the stack: the number of the link, what is known of it, and where its first
    # template begins, -1 if it has none.
    stack = np.empty(len(first), dtype=np.int64)
    known = np.empty(len(first), dtype=np.uint8)
    template = np.empty(len(first), dtype=np.int64)
    bases = np.empty(np.sum(pairs) + 1, dtype=np.int64)  # the bases of the outer parts
    # ``floor`` is the end of the last token or link: no prefix begins before it.
    links, height, base, level, floor = 0, 0, 0, 0, 0
    for token in range(len(kinds)):
        kind, start, end = kinds[token], int(starts[token]), int(ends[token])

        # A run of [: every two open a link, and one alone opens an external link, or is text.
        if kind == BRACKETS:
            # Tell the link around it, which is on top of the stack. If that is in an outer part,
            # this link stands in a template of it.
            if height > base:
                known[height - 1] |= _HAS_BRACKET if end - start == 1 else _HAS_LINK
            elif height > 0 and end - start > 1:
                known[height - 1] |= _HAS_DEEPER_LINK
            # Push the links, outermost first.
            for at in range(start, end - 1, 2):
                first[links] = opened[links] = at
                if has_prefixes and at == start:
                    first[links] = _start_of_prefix(text, at, floor, letters)
                stack[height], template[height] = links, -1
                known[height] = _UNWANTED if unwanted[token] else 0
                if end - at > 3:  # [[[[: the next two open a link inside this one
                    known[height] |= _HAS_LINK
                links += 1
                height += 1

        # A run of ]: every two close the innermost open link of this part, if there is one.
        elif kind == END_BRACKETS:
            at = start
            while end - at >= 2 and height > base:
                height -= 1
                link = stack[height]
                last[link] = _end_of_link(text, opened[link], at, known[height], template[height])
                at += 2
                if last[link] > 0:
                    # In [[a|b [c]]] the first ] closes the single bracket, so skip one more.
                    if known[height] & _HAS_BRACKET and at < end:
                        at += 1
                    # The letters that follow belong to the link: [[link]]s.
                    floor = _end_of_trail(text, at, token, kinds, starts, ends, letters)
                    last[link] = floor
                    # With links in a template, only the part before the template is given.
                    if known[height] & _HAS_DEEPER_LINK and template[height] >= 0:
                        last[link] = template[height] + 2

        # {{ or <ref>: begin a part of the stack for each pair that match_braces has matched, and
        # remember for the link around it where its first template begins.
        elif kind in (BRACES, REFERENCE):
            opens = kind == BRACES and pairs[token] > 0
            if opens and height > base and template[height - 1] < 0:
                template[height - 1] = start
            for _ in range(pairs[token]):
                bases[level] = base
                base = height
                level += 1

        # }} or </ref>: links that are still open in this part are none; forget them.
        elif kind in (END_BRACES, END_BRACES_OR_TABLE, END_REFERENCE):
            for _ in range(pairs[token]):
                height = base
                level -= 1
                base = bases[level]
        if kind != COMMENT:  # MediaWiki removes comments first
            floor = max(floor, end)
    return links


@kernel
def _find_unwanted(kinds, pairs, table_steps, templates, references, tables, unwanted):
    """Write for each token whether it stands where links are not wanted."""
    in_templates, in_references, in_tables = 0, 0, 0
    for token in range(len(kinds)):
        kind = kinds[token]
        if kind == BRACES:
            in_templates += pairs[token]
        elif kind in (END_BRACES, END_BRACES_OR_TABLE):
            in_templates -= pairs[token]
        elif kind in (REFERENCE, END_REFERENCE):
            in_references = kind == REFERENCE
        in_tables += table_steps[token]
        unwanted[token] = (
            (not templates and in_templates > 0)
            or (not references and in_references)
            or (not tables and in_tables > 0)
        )


@kernel
def find_links(text, letters, templates, references, tables):
    """Return where each link of a page begins and ends, with prefix and trail, in page order.

    ``letters[code point]`` says what may be in a LINK_TRAIL or a LINK_PREFIX, and ``letters[0]``,
    since no NUL is ever a letter, whether there are prefixes at all. The others say whether links
    there are wanted.

    Links inside each other would take quadratic room. So of a link that has links in a template
    only the start is given, up to the braces of its first template. And of one that has links as
    an image has them in its caption, only the head is given, up to the first pipe, if there is a
    colon before it: without one, MediaWiki takes it for text. Returns also how many of these heads
    there are.
    """
    room = len(text)
    kinds = np.empty(room, dtype=np.uint8)
    starts = np.empty(room, dtype=np.int32)
    ends = np.empty(room, dtype=np.int32)
    number = find_tokens(text, kinds, starts, ends)
    kinds, starts, ends = kinds[:number], starts[:number], ends[:number]
    pairs = np.zeros(number, dtype=np.int32)
    table_steps = np.zeros(number, dtype=np.int32)
    match_braces(kinds, starts, ends, pairs, table_steps)
    unwanted = np.zeros(number, dtype=np.bool_)
    if not (templates and references and tables):
        _find_unwanted(kinds, pairs, table_steps, templates, references, tables, unwanted)
    room = _most_links(kinds, starts, ends)
    first = np.empty(room, dtype=np.int64)
    last = np.zeros(room, dtype=np.int64)
    _match_brackets(text, kinds, starts, ends, pairs, unwanted, letters, first, last)
    links, heads = 0, 0
    for link in range(room):
        if last[link] != 0:
            heads += last[link] < 0
            first[links], last[links] = first[link], abs(last[link])
            links += 1
    return first[:links], last[:links], heads
