"""Reads files in a process of its own, where a crash or a full memory is only a result.

``python -m tests.adversarial.read_files`` takes lines ``reader<TAB>path`` from stdin and answers
each with a line of JSON: what was said, and the peak of the memory.
"""

import json
import logging
import resource
import sys
from pathlib import Path

from candgen.errors import CandgenError
from candgen.tables.entities import read_entities
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import read_queries
from candgen.tables.released import read_training, read_typed
from candgen.tables.target_file import read_target
from candgen.wikipedia.title_entities import read_ids

READERS = {
    "mentions": MentionTable.read,
    "skipping": lambda path: MentionTable.read(path, skip_bad_rows=True),
    "entities": read_entities,
    "queries": read_queries,
    "target": read_target,
    "training": read_training,
    "typed": read_typed,
    "ids": read_ids,
}
MAX_ADDRESS_SPACE = 8 << 30


def peak_memory() -> int:
    """The most memory that was in use since `forget_peak`, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line)


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def main() -> None:
    logging.disable()
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE, MAX_ADDRESS_SPACE))
    for line in sys.stdin:
        reader, _, path = line.rstrip("\n").partition("\t")
        forget_peak()
        before = peak_memory()
        said, traceback = None, None
        try:
            READERS[reader](Path(path))
        except CandgenError as error:
            said = str(error)
        except BaseException as error:
            traceback = repr(error)
        answer = {"said": said, "traceback": traceback, "memory": peak_memory() - before}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
