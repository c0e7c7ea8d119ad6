"""Tables and indexes of the synthetic worlds, cached in data/ because they take long to make."""

import hashlib
import shutil
from pathlib import Path

from folders import DATA
from world import load_world
from world.table import VERSION

import candgen

LANGUAGE = "de"


def table_path(size: int) -> Path:
    """Return the Parquet file with the mention table of a world of ``size`` entities."""
    path = DATA / f"table-v{VERSION}-{size}.parquet"
    if not path.exists():
        candgen.MentionTable.from_arrow(load_world(size).table()).write(path)
    return path


def build_index(table: candgen.MentionTable) -> candgen.PivotTokenIndex:
    """Build the index that all benchmarks measure: one pivot, all other options by default."""
    return candgen.PivotTokenIndex.build(pivots={LANGUAGE: table})


def index_path(size: int) -> Path:
    """Return the stored index of such a world, built again whenever the library has changed."""
    path = DATA / f"index-v{VERSION}-{size}-{source_hash()}.candgen"
    if not path.exists():
        for stale in DATA.glob(f"index-v{VERSION}-{size}-*.candgen"):
            shutil.rmtree(stale)
        build_index(candgen.MentionTable.read(table_path(size))).save(path)
    return path


def source_hash() -> str:
    """Return a hash of the library's source, on which an index depends."""
    state = hashlib.sha256()
    for path in sorted(Path(candgen.__file__).parent.rglob("*.py")):
        state.update(path.read_bytes())
    return state.hexdigest()[:12]


def warm_up() -> None:
    """Compile all kernels, or read them from Numba's cache, before anything is measured."""
    table = candgen.MentionTable.from_pairs([("Havnin", "Q10704", 12), ("Tórshavn", "Q10704")])
    build_index(table).candidates(["Tórshavn"])
