"""The program in which ``candgen reproduce complexity`` measures a method: JSON in, JSON out."""

import json
import sys

from candgen.generators.registry import METHODS
from candgen.paper.complexity import run_job


def main() -> None:
    """Measure the job on standard input; write the result to standard output."""
    json.dump(run_job(METHODS, json.load(sys.stdin)), sys.stdout)


if __name__ == "__main__":
    main()
