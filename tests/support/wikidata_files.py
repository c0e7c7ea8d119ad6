"""Files of Wikidata's dump for tests, and what became of them."""

import bz2
import gzip
import random

import pyarrow.parquet as pq

import candgen
from candgen.wikidata.extract import extract_wikidata
from candgen.wikidata.names import Selection
from tests.support import wikidata_world as world

LANGUAGES = ("fo", "is", "en", "no")


def write_dump(folder, text, kind="plain", *, stem="dump.json"):
    path = folder / (stem + {"plain": "", "gz": ".gz", "members": ".gz"}.get(kind, ".bz2"))
    path.write_bytes(compressed(text, kind))
    return path


def compressed(text, kind):
    if kind == "plain":
        return text
    if kind == "gz":
        return gzip.compress(text)
    if kind == "members":
        return b"".join(gzip.compress(text[at : at + 300]) for at in range(0, len(text), 300))
    if kind == "bz2":
        return bz2.compress(text, 1)
    return b"".join(bz2.compress(text[at : at + 300]) for at in range(0, len(text), 300))


KINDS = ("plain", "gz", "members", "bz2", "streams")


def extract(dump, output, *, languages=LANGUAGES, **options):
    chosen = {
        name: options.pop(name) for name in tuple(options) if name in Selection.__dataclass_fields__
    }
    return extract_wikidata(
        dump, output, selection=Selection(languages=languages, **chosen), **options
    )


def tables(output, languages=LANGUAGES):
    """What `naive` returns, from the files."""
    names = {
        (code, mention, entity): count
        for code in languages
        for mention, entity, count in candgen.MentionTable.read(output / f"{code}.parquet")
    }
    rows = pq.read_table(output / "entities.parquet").to_pylist()
    shown = {
        (row["entity"], row["language"]): (
            row["name"],
            row["description"],
            set(row["instance_of"]),
            row["sitelinks"],
        )
        for row in rows
    }
    assert len(shown) == len(rows)
    return names, shown


def contents(output):
    return {path.name: path.read_bytes() for path in output.iterdir()}


def many_items(number, seed=0):
    """A dump of more than one block of bzip2 and, with the parts of the tests, many parts."""
    draw = random.Random(seed)
    made = [
        world.item(
            draw.randrange(1, 10**6) * 1000 + at,
            labels=world.texts(fo=f"heiti {draw.randrange(number)}", is_=draw.randbytes(30).hex()),
            aliases=world.several(fo=[f"heiti {draw.randrange(number)}" for _ in range(3)]),
            sitelinks=world.pages(fowiki=f"heiti {draw.randrange(number)} (bygd)"),
            claims=world.instance_of(draw.randrange(1, 9)),
        )
        for at in range(number)
    ]
    return world.dump_of(made)
