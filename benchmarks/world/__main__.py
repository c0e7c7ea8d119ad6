"""Print the figures of a world, e.g. ``python -m world 50000``."""

import sys
import time

from world import make_world
from world.figures import figures

started = time.perf_counter()
world = make_world(int(sys.argv[1]))
print(f"{'seconds to make':40}{time.perf_counter() - started:15.1f}")
for name, figure in figures(world).items():
    print(f"{name:40}{figure:15,}")
