"""Print the figures of a world, or write a family of related languages.

python -m world 50000
python -m world family FOLDER --pivots 50000 10000 2000 --pairs 5000
"""

import sys
import time

from world import family, make_world
from world.figures import figures

if sys.argv[1] == "family":
    family.main(sys.argv[2:])
else:
    started = time.perf_counter()
    world = make_world(int(sys.argv[1]))
    print(f"{'seconds to make':40}{time.perf_counter() - started:15.1f}")
    for name, figure in figures(world).items():
        print(f"{name:40}{figure:15,}")
