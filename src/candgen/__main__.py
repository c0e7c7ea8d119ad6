"""``python -m candgen`` is the command ``candgen``."""

from candgen.cli import run

if __name__ == "__main__":
    run()
