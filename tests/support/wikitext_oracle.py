"""A slow and obvious reader of wikitext that judges the fast one.

It works as MediaWiki does: it cuts the page into worlds (the page, each reference, each template)
and splits each at every ``[[``. A piece up to its first ``]]`` is a link.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from candgen.kernels.wikitext_tokens import _TAGS

TAGS = "|".join(_TAGS)
OPENING = re.compile(rb"<(%s)(?=[ \t-\r]|>|/>)[^>]*>" % TAGS.encode(), re.IGNORECASE)


class World(NamedTuple):
    kind: str
    start: int
    end: int


class Page:
    """What each byte of a page belongs to."""

    def __init__(self, text):
        self.text = text
        self.hidden = [""] * len(text)  # "comment", "opaque", "tag", or "" for wikitext
        self.references = []
        self.hide(0, len(text))
        self.templates = self.find_templates()
        self.tables = self.find_tables()

    def hide(self, start, end):
        at = start
        while at < end:
            if self.text.startswith(b"<!--", at) and at + 3 < end:
                close = self.text.find(b"-->", at + 4)
                after = end if close < 0 else min(close + 3, end)
                self.mark(at, after, "comment")
                at = after
                continue
            opening = OPENING.match(self.text, at, end)
            at = at + 1 if opening is None else self.hide_tag(opening, end)

    def hide_tag(self, opening, end):
        """Tell where to go on after a tag."""
        name, at, inside = opening[1].lower(), opening.start(), opening.end()
        if opening[0].endswith(b"/>"):
            self.mark(at, inside, "tag")
            return inside
        closing = re.compile(rb"</%s[ \t-\r]*>" % name, re.IGNORECASE).search(self.text, inside)
        if closing is None or closing.end() > end:
            self.mark(at, inside, "tag")
            if name == b"includeonly":
                self.mark(inside, end, "opaque")
                return end
            return inside
        self.mark(at, inside, "tag")
        self.mark(closing.start(), closing.end(), "tag")
        if name == b"ref":
            self.references.append(World("reference", at, closing.end()))
            self.hide(inside, closing.start())
        else:
            self.mark(inside, closing.start(), "opaque")
        return closing.end()

    def mark(self, start, end, kind):
        self.hidden[start:end] = [kind] * (end - start)

    def reference_at(self, at):
        here = (n for n, each in enumerate(self.references) if each.start <= at < each.end)
        return next(here, -1)

    def runs(self, pattern):
        """Runs of one byte that are wikitext, none of which is cut in two."""
        for found in re.finditer(pattern, self.text):
            if not self.hidden[found.start()]:
                yield found.start(), found.end()

    def find_templates(self):
        found, open_runs = [], []
        for first, end in self.runs(rb"\{{2,}|\}{2,}"):
            start = first
            here = self.reference_at(start)
            open_runs = [run for run in open_runs if run[2] in (-1, here)]
            if self.text[start : start + 1] == b"{":
                open_runs.append([start, end, here])
                continue
            while end - start >= 2 and open_runs and open_runs[-1][2] == here:
                run = open_runs[-1]
                taken = min(3, end - start, run[1] - run[0])
                found.append(World("template", run[1] - taken, start + taken))
                start += taken
                run[1] -= taken
                if run[1] - run[0] < 2:
                    open_runs.pop()
        return found

    def find_tables(self):
        found, open_tables = [], []
        for start, end in self.runs(rb"\{+|\}+"):
            line = self.text.rfind(b"\n", 0, start) + 1
            before = self.text[line:start].strip(b" \t:")
            if end - start == 1 and self.text[start : end + 1] == b"{|" and not before:
                open_tables.append(start)
            closes = self.text[start : start + 1] == b"}" and before == b"|"
            closes = closes and self.text[start - 1 : start] == b"|"
            used = any(start < each.end <= end for each in self.templates)
            if closes and not used and open_tables:
                found.append(World("table", open_tables.pop(), start))
        return found

    def worlds(self):
        """Each world's symbols with their places: bytes, or what something else is."""
        worlds = [World("page", 0, len(self.text)), *self.references, *self.templates]
        worlds.sort(key=lambda world: world.start - world.end)
        owner = [None] * len(self.text)
        for world in worlds:
            owner[world.start : world.end] = [world] * (world.end - world.start)
        for world in worlds:
            symbols = []
            for at in range(world.start, world.end):
                if owner[at] == world:
                    symbols.append((at, self.hidden[at] or chr(self.text[at])))
                elif owner[at - 1] == world:
                    symbols.append((at, owner[at].kind))
            yield symbols


def find_links(text, trail, prefix, *, templates=True, refs=True, tables=True):
    """What LinkReader.raw_links gives, before it asks which heads are those of images."""
    page, trail, prefix = Page(text), frozenset(trail), frozenset(prefix)
    unwanted = [world for world in page.templates if not templates]
    unwanted += [world for world in page.references if not refs]
    unwanted += [world for world in page.tables if not tables]

    def wanted(at):
        return not any(world.start < at < world.end for world in unwanted)

    links, heads, templates_in = {}, {}, {}
    for symbols in page.worlds():
        ends = links_of(symbols, wanted)
        for start, end in ends.items():
            links[symbols[start][0]] = symbols[end - 1][0] + 1
            kinds = [kind for _, kind in symbols[start:end]]
            if "template" in kinds:
                templates_in[symbols[start][0]] = symbols[start + kinds.index("template")][0]
        for start in nested(symbols, ends):
            pipe = head_of(symbols, start, wanted)
            if pipe is not None and b":" in text[symbols[start][0] : symbols[pipe][0]]:
                heads[symbols[start][0]] = symbols[pipe][0] + 1
    every_opening = {symbols[n][0] for symbols in page.worlds() for n in openings(symbols)}
    whole = {start: end_of_trail(page, end, trail) for start, end in links.items()}
    links = dict(whole)
    for start, place in templates_in.items():
        # Of a link with a template and with links inside only the start is given.
        if any(start < each < whole[start] for each in every_opening):
            links[start] = len(text[:place].rstrip(b"{")) + 2
    found = []
    for start in sorted(links | heads):
        before = [end for end in whole.values() if end <= start]
        first = start_of_prefix(text, start, max(before, default=0), prefix)
        found.append((first, links.get(start) or heads[start]))
    return [text[start:end] for start, end in found]


def openings(symbols):
    found, at = [], 0
    while at + 1 < len(symbols):
        if symbols[at][1] == symbols[at + 1][1] == "[":
            found.append(at)
            at += 1
        at += 1
    return found


def links_of(symbols, wanted):
    """Where links begin and end; a piece between two openings has one if it is closed."""
    starts, links = openings(symbols), {}
    for start, stop in pairwise([*starts, len(symbols)]):
        kinds = [kind for _, kind in symbols[start + 2 : stop]]
        closed = [n for n in range(len(kinds) - 1) if kinds[n] == kinds[n + 1] == "]"]
        if not closed or not wanted(symbols[start][0]):
            continue
        end = closed[0]
        if not is_target(until_pipe(kinds[:end])):
            continue
        if "[" in kinds[:end] and kinds[end + 2 : end + 3] == ["]"]:
            end += 1
        links[start] = start + 2 + end + 2
    return links


def until_pipe(kinds):
    return kinds[: kinds.index("|")] if "|" in kinds else kinds


def is_target(kinds):
    for number, kind in enumerate(kinds):
        rest = [each for each in kinds[number:] if each != "{"]
        if kind == "template" or (kind == "{" and rest[:1] == ["template"]):
            return True
        if kind in ("reference", "tag", "opaque", *"\n<>[]{}"):
            return False
    return True


def nested(symbols, links):
    """Those openings that are closed and have others inside."""
    starts, found, stack, at = set(openings(symbols)), [], [], 0
    while at < len(symbols):
        if at in starts:
            stack = [(start, True) for start, _ in stack]
            stack.append((at, False))
            at += 2
        elif stack and [kind for _, kind in symbols[at : at + 2]] == ["]", "]"]:
            start, has_links = stack.pop()
            found += [start] * has_links
            at = links.get(start, at + 2)
        else:
            at += 1
    return found


def head_of(symbols, start, wanted):
    kinds = [kind for _, kind in symbols[start + 2 :]]
    target = until_pipe(kinds)
    legal = len(target) < len(kinds) and is_target(target) and "template" not in target
    return start + 2 + len(target) if legal and wanted(symbols[start][0]) else None


def character(text, at):
    """The character that begins there, if it is UTF-8."""
    for length in range(1, 5):
        try:
            return text[at : at + length].decode()
        except UnicodeDecodeError:
            continue
    return ""


def end_of_trail(page, end, trail):
    at = end
    while at < len(page.text):
        if page.hidden[at] == "comment":
            at += 1
            continue
        letter = character(page.text, at)
        if not letter or letter not in trail or page.text.startswith(b"''", at):
            break
        at = end = at + len(letter.encode())
    return end


def start_of_prefix(text, start, floor, prefix):
    while start > floor:
        lengths = [n for n in range(1, 5) if start - n >= floor]
        letters = [character(text, start - n) for n in lengths]
        fitting = [
            n
            for n, letter in zip(lengths, letters, strict=True)
            if letter and letter in prefix and len(letter.encode()) == n
        ]
        if not fitting or text.startswith(b"''", start - fitting[0]):
            break
        start -= fitting[0]
    return start
