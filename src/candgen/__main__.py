"""``python -m candgen`` is the command ``candgen``."""

import sys

from candgen.cli import main

if __name__ == "__main__":
    sys.exit(main())
