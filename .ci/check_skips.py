"""Print how many tests were skipped and why; fail if a skip was not expected.

    python .ci/check_skips.py build/tests.xml build/tests-extras.xml

The files are what ``pytest --junit-xml`` writes. A skip is expected if EXPECTED has its reason; the
numbers are for all files together. Only the standard library is needed.
"""

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ANY = sys.maxsize
_MODULE_SKIP = re.compile(r"\('.*', \d+, ['\"](?:Skipped: )?(.*)['\"]\)")
SHARED = Path(__file__).resolve().parents[2] / "shared"


def has_chromium() -> bool:
    """Return whether there is a browser for the tests of the page."""
    return any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))


def has_nginx() -> bool:
    """Return whether there is a proxy for the tests of HTTP."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is not None


def has_java() -> bool:
    """Return whether Spark can start."""
    return shutil.which("java") is not None or "JAVA_HOME" in os.environ


def has_shared() -> bool:
    """Return whether the real data, the paper and the schemas are there."""
    return SHARED.is_dir()


def is_root() -> bool:
    """Return whether permissions do not apply to this user."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


class Expected(NamedTuple):
    """A reason to skip, as a regular expression, how many tests may have it, and when."""

    reason: str
    most: int
    when: Callable[[], bool] = lambda: True


EXPECTED = (
    Expected("there is no GPU here", 3),
    Expected("this user may write everywhere", 1, is_root),
    Expected("starts OpenRefine, which takes half a minute", 1),
    Expected("cannot mount a small disk|there is no mount command", 1),
    # `make test` comes first, without PySpark; in a .venv of an earlier run it is there
    Expected("PySpark is not installed: make test-extras", 1),
    Expected("PySpark is installed", 1),
    # what a machine may lack
    Expected("needs a Chromium", ANY, lambda: not has_chromium()),
    Expected("needs nginx", ANY, lambda: not has_nginx()),
    Expected("Java, which Spark needs, is not on this machine", ANY, lambda: not has_java()),
    Expected("is not here: |are not here: ", ANY, lambda: not has_shared()),
)


class Skip(NamedTuple):
    """A skipped test and its reason."""

    test: str
    reason: str


class Outcome(NamedTuple):
    """The tests of some files: how many ran or were skipped, and those that were skipped."""

    tests: int
    skips: list[Skip]


def read(paths: Sequence[Path]) -> Outcome:
    """Read the skipped tests from JUnit files."""
    cases = [case for path in paths for case in ElementTree.parse(path).iter("testcase")]
    return Outcome(len(cases), [skip for case in cases for skip in _skips(case)])


def _skips(case: ElementTree.Element) -> Iterator[Skip]:
    for element in case.iter("skipped"):
        if element.get("type") != "pytest.xfail":
            name = f"{case.get('classname')}::{case.get('name')}"
            texts = (element.get("message") or "", element.text or "")
            # The reason of a whole module is in a tuple, as text, in one of the two.
            found = next(filter(None, map(_MODULE_SKIP.fullmatch, texts)), None)
            yield Skip(name, found[1] if found else texts[0])


def unexpected(skips: Sequence[Skip], expected: Sequence[Expected] = EXPECTED) -> list[Skip]:
    """Return the skips that are not expected, or beyond the expected number."""
    left = [each.most if each.when() else 0 for each in expected]
    found = []
    for skip in skips:
        for place, each in enumerate(expected):
            if left[place] > 0 and re.search(each.reason, skip.reason):
                left[place] -= 1
                break
        else:
            found.append(skip)
    return found


def summary(outcome: Outcome) -> str:
    """Return the number of skipped tests, and a line for each reason."""
    counts = Counter(skip.reason for skip in outcome.skips)
    lines = [f"{number:5}  {reason}" for reason, number in counts.most_common()]
    return "\n".join([f"{len(outcome.skips)} of {outcome.tests:,} tests were skipped", *lines])


def main(arguments: Sequence[str]) -> int:
    """Print the summary; return 1 if a skip was not expected or nothing was tested."""
    outcome = read([Path(each) for each in arguments])
    print(summary(outcome))
    surprises = unexpected(outcome.skips)
    for skip in surprises:
        print(f"not expected: {skip.test}: {skip.reason}", file=sys.stderr)
    if not outcome.tests:
        print("no test was run", file=sys.stderr)
    return 1 if surprises or not outcome.tests else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
