"""A mirror that means harm: what it answers stays in the folder, and ends.

`tests/dumps` has names that lead elsewhere, wrong lengths and redirects to files.
"""

import gzip
import json

import pytest

from candgen.dumps.download import Network, download
from candgen.dumps.published import DownloadError
from tests.support.faulty_mirror import CONTACT, DATE, PATH, Fault

LISTING, STATUS = "/fowiki/", f"/fowiki/{DATE}/dumpstatus.json"
QUICK = Network(timeout=10, attempts=3, sleep=lambda _seconds: None)
BOMB = gzip.compress(b" " * (1 << 26))

ANSWERS = {
    "a listing without an end": (LISTING, b"<a href='20240101/'>" * 1_000_000, Fault()),
    "a status without an end": (STATUS, b'{"jobs": {' + b" " * (1 << 25), Fault()),
    "a packed listing": (LISTING, BOMB, Fault(headers=(("Content-Encoding", "gzip"),))),
    "a packed status": (STATUS, BOMB, Fault(headers=(("Content-Encoding", "gzip"),))),
    "a deep status": (STATUS, b'{"jobs": ' + b"[" * 1_000_000, Fault()),
    "a long number": (STATUS, b'{"jobs": ' + b"9" * 1_000_000 + b"}", Fault()),
    "a redirect to itself": (LISTING, b"", Fault(status=302, headers=(("Location", LISTING),))),
    "a redirect to nowhere": (LISTING, b"", Fault(status=302, headers=(("Location", "//"),))),
    "a length that is none": (LISTING, b"x", Fault(headers=(("Content-Range", "bytes x"),))),
    "a date like a number": (LISTING, "<a href='٢٠٢٤٠١٠١/'>".encode(), Fault()),
}


@pytest.mark.parametrize("what", ANSWERS)
def test_answers_are_refused(what, mirror, tmp_path, tried):
    tried("dumps")
    path, body, fault = ANSWERS[what]
    mirror.files[path] = body
    mirror.always[path] = fault
    with pytest.raises(DownloadError) as raised:
        download(["fo"], tmp_path, mirror=mirror.url, contact=CONTACT, network=QUICK)
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_never_longer_than_was_published(mirror, tmp_path, tried):
    """The mirror sends more, packed or not: neither is the rest read nor is it unpacked."""
    tried("dumps")
    headers = (("Content-Encoding", "gzip"),)
    mirror.always[PATH] = Fault(more=b"x" * 1_000_000, headers=headers)
    fetched = download(["fo"], tmp_path, mirror=mirror.url, contact=CONTACT, network=QUICK)
    published = json.loads(mirror.files[STATUS])["jobs"]
    sizes = {
        name: about["size"] for job in published.values() for name, about in job["files"].items()
    }
    assert all(file.path.stat().st_size == sizes[file.path.name] for file in fetched)
