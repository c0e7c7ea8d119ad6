"""Downloads from a mirror that misbehaves in every way we could think of."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple

import pytest

from candgen.dumps.download import Kind, State, download
from candgen.errors import ParameterError, StorageError
from tests.support.faulty_mirror import (
    ARTICLES,
    CONTACT,
    DATE,
    PATH,
    PROPS,
    Fault,
    asked,
    assert_right,
    here,
)


def test_all_files_of_the_newest_run(mirror, get):
    mirror.add_run(date="20231201")
    fetched = get("fo")
    assert_right(mirror, get.folder)
    assert [(each.wiki, each.kind, each.state) for each in fetched] == [
        ("fowiki", Kind.ARTICLES, State.FETCHED),
        ("fowiki", Kind.ARTICLES, State.FETCHED),
        ("fowiki", Kind.PAGE_PROPS, State.FETCHED),
        ("fowiki", Kind.REDIRECTS, State.FETCHED),
        ("fowiki", Kind.SITEINFO, State.FETCHED),
    ]
    assert {each.path.name for each in fetched} == here(get.folder)
    assert all(each.path.stat().st_size == each.size for each in fetched)
    assert not get.waits


def test_the_user_agent_says_who_asks(mirror, get, caplog):
    get()
    agents = {request.headers["User-Agent"] for request in mirror.requests}
    assert len(agents) == 1
    assert agents.pop().startswith("candgen/")
    assert all(CONTACT in request.headers["User-Agent"] for request in mirror.requests)
    assert not caplog.messages
    get(contact="")
    assert "no contact given" in mirror.requests[-1].headers["User-Agent"]
    assert "CANDGEN_CONTACT" in caplog.messages[0]


@pytest.mark.parametrize("contact", ["a\r\nX: y", "ø@example.org", "(x)", "a\0"])
def test_a_contact_that_no_header_can_hold(mirror, get, contact):
    with pytest.raises(ParameterError, match="expected a mail address"):
        get(contact=contact)
    assert not mirror.requests


def test_two_connections(mirror, get):
    mirror.add_run("iswiki")
    mirror.delay = 0.05
    assert len(get("fo", "is", "fowiki")) == 10
    assert mirror.most_open == 2


def test_progress_ends_at_the_size(mirror, get):
    told = []
    fetched = get(progress=lambda *update: told.append(update))
    for each in fetched:
        updates = [update for update in told if update[0] == each.path.name]
        done = [update[1] for update in updates]
        assert done == sorted(done)
        assert done[0] == 0
        assert updates[-1] == (each.path.name, each.size, each.size)


# The disk


def test_no_room(mirror, get, monkeypatch):
    usage = namedtuple("usage", "total used free")(1, 1, 400_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(
        StorageError, match=r"has 0\.0 GB of free space, but 0\.0 GB are needed: make"
    ):
        get()
    assert here(get.folder) == set()
    (get.folder / f"{ARTICLES}.part").write_bytes(mirror.files[PATH])
    (get.folder / PROPS).write_bytes(mirror.files[f"/fowiki/{DATE}/{PROPS}"])
    get()  # of 500,000 bytes 200,000 are here


def test_folders_are_made_and_files_are_none(mirror, tmp_path):
    download(["fo"], tmp_path / "a" / "b", mirror=mirror.url + "/", contact=CONTACT)
    assert_right(mirror, tmp_path / "a" / "b")
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"file cannot be written: .*; choose another folder"):
        download(["fo"], tmp_path / "file", mirror=mirror.url, contact=CONTACT)


@pytest.mark.parametrize(
    "mirror_url", ["", "dumps", "ftp://x/", "file:///x", "http://", "http://a b"]
)
def test_mirrors_that_are_none(get, mirror_url):
    with pytest.raises(ParameterError, match=r"the mirror is .*: it "):
        get(mirror=mirror_url)


@pytest.mark.parametrize("date", ["", "2024", "../20240", "newest", "2024-01-01"])
def test_dates_that_are_none(get, date):
    with pytest.raises(ParameterError, match="expected YYYYMMDD or latest"):
        get(date=date)


def test_languages_are_a_list(tmp_path):
    for languages in ("fo", []):
        with pytest.raises(ParameterError, match="expected a list such as"):
            download(languages, tmp_path, contact=CONTACT)


INTERRUPTED = """
import sys
from candgen.dumps.download import download
try:
    download(["fo"], sys.argv[1], mirror=sys.argv[2], contact="me@example.org")
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send")
def test_an_interrupted_download_is_continued(mirror, get):
    mirror.always[PATH] = Fault(stall=60_000)
    arguments = [sys.executable, "-c", INTERRUPTED, str(get.folder), mirror.url]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE) as process:
        part = get.folder / f"{ARTICLES}.part"
        until = time.monotonic() + 30
        while time.monotonic() < until and not (
            len(here(get.folder)) == 5 and part.exists() and part.stat().st_size
        ):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"")
    assert ARTICLES not in here(get.folder)
    begun = part.read_bytes()
    assert mirror.files[PATH].startswith(begun)
    assert len(begun) > 0
    mirror.always.clear()
    mirror.requests.clear()
    get()
    assert_right(mirror, get.folder)
    assert [request["Range"] for request in asked(mirror)] == [f"bytes={len(begun)}-"]
