"""Downloads from a mirror that misbehaves in every way we could think of."""

import email.utils
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections import namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.dumps import http_client, published, wiki_codes
from candgen.dumps.download import KINDS, DownloadError, Kind, Network, State, download
from candgen.errors import ParameterError, StorageError
from tests.support.faulty_mirror import (
    ARTICLES,
    CONTACT,
    DATE,
    JOBS,
    PATH,
    PIECES,
    PROPS,
    Fault,
    here,
)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("CANDGEN_CONTACT", raising=False)


@pytest.fixture
def get(mirror, tmp_path):
    """Downloads into a folder; ``get.waits`` has the pauses that were made, in no time."""
    waits = []

    def run(*languages, **options):
        settings = {"timeout": 0.3, "attempts": 4, "sleep": waits.append}
        network = Network(**{**settings, **options.pop("network", {})})
        options = {"mirror": mirror.url, "contact": CONTACT, **options}
        return download(languages or ["fo"], tmp_path, network=network, **options)

    run.waits, run.folder = waits, tmp_path
    return run


def asked(mirror, path=PATH):
    return [request.headers for request in mirror.requests if request.path == path]


def assert_right(mirror, folder):
    """Everything that has a final name is what the mirror has, and nothing else is there."""
    published = {path.rsplit("/", 1)[1]: data for path, data in mirror.files.items()}
    assert ARTICLES in here(folder)
    for path in folder.iterdir():
        assert path.read_bytes() == published[path.name]


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


# What goes wrong, and is mended

MENDED = {
    "cut off": ([Fault(cut=70_000)], [1.0], "bytes=70000-"),
    "cut off at once": ([Fault(cut=0)], [1.0], None),
    "cut off again and again": (
        [Fault(cut=30_000), Fault(cut=30_000), Fault(cut=30_000)],
        [1.0, 1.0, 1.0],
        "bytes=90000-",
    ),
    "cut off, then no ranges": ([Fault(cut=70_000), Fault(ranges=False)], [1.0], "bytes=70000-"),
    "cut off, then 416": ([Fault(cut=70_000), Fault(status=416)], [1.0, 2.0], None),
    "cut off, then another version": ([Fault(cut=70_000), Fault(total=5)], [1.0, 2.0], None),
    "cut off, then from elsewhere": ([Fault(cut=70_000), Fault(shift=5)], [1.0, 2.0], None),
    "says it is longer": ([Fault(lie=10)], [], None),
    "says it is shorter": ([Fault(lie=-10)], [1.0], "bytes="),
    "is longer": ([Fault(more=b"more")], [], None),
    "other bytes, once": ([Fault(wrong=True)], [], None),
    "busy": ([Fault(status=429, headers=(("Retry-After", "7"),))], [7.0], None),
    "unavailable": ([Fault(status=503, headers=(("Retry-After", "999999"),))], [300.0], None),
    "a wait that is none": ([Fault(status=503, headers=(("Retry-After", "soon"),))], [1.0], None),
    "broken twice": ([Fault(status=500), Fault(status=502)], [1.0, 2.0], None),
    "stalls": ([Fault(stall=70_000)], [1.0], "bytes=70000-"),
}


@pytest.mark.parametrize("name", MENDED)
def test_mended(mirror, get, name):
    faults, waits, ranged = MENDED[name]
    mirror.faults[PATH] = list(faults)
    fetched = get()
    assert_right(mirror, get.folder)
    assert fetched[0].state is State.FETCHED
    assert get.waits == waits
    assert not mirror.faults[PATH]
    last = asked(mirror)[-1]
    assert last.get("Range", "").startswith(ranged) if ranged else "Range" not in last
    if ranged:
        etag = hashlib.sha1(mirror.files[PATH]).hexdigest()
        assert last["If-Range"] == f'"{etag}"'


def test_a_file_that_changes_on_the_way_is_begun_again(mirror, get):
    mirror.faults[PATH] = [Fault(cut=70_000, wrong=True, headers=(("ETag", '"old"'),))]
    get()
    assert_right(mirror, get.folder)
    assert asked(mirror)[-1]["If-Range"] == '"old"'


@pytest.mark.parametrize("path", [f"/fowiki/{DATE}/dumpstatus.json", "/fowiki/"])
@pytest.mark.parametrize(
    "fault", [Fault(status=500), Fault(cut=20), Fault(stall=3), Fault(cut=0), Fault(lie=5)]
)
def test_listings_are_asked_for_again(mirror, get, path, fault):
    mirror.faults[path] = [fault]
    get()
    assert_right(mirror, get.folder)
    assert get.waits == [1.0]


def test_redirects_are_followed(mirror, get):
    mirror.files["/elsewhere"] = mirror.files[PATH]
    mirror.faults[PATH] = [Fault(status=302, headers=(("Location", "/elsewhere"),))]
    get()
    assert_right(mirror, get.folder)
    assert "/elsewhere" in {request.path for request in mirror.requests}


def test_a_date_to_wait_for(mirror, get):
    now = 1_700_000_000.0
    date = email.utils.formatdate(now + 90, usegmt=True)
    mirror.faults[PATH] = [Fault(status=503, headers=(("Retry-After", date),))]
    get(network={"clock": lambda: now})
    assert get.waits == [90.0]


# What goes wrong for good

HOPELESS = {
    "cut off at once": (Fault(cut=0), "cannot be fetched: the connection ended early; try again"),
    "never gets on": (Fault(cut=500, ranges=False), "the connection ended early"),
    "ranges that are none": (Fault(cut=500, total=1), "another version of the file"),
    "416 and half": (Fault(status=416, only_ranges=True), None),
    "other bytes": (Fault(wrong=True), "came twice with a wrong checksum: try again later"),
    "too short": (Fault(cut=500, only_ranges=False, ranges=False, lie=-9), "ended early"),
    "not there": (Fault(status=404), "the server answers 404 Not Found"),
    "forbidden": (Fault(status=403), "the server answers 403 Forbidden"),
    "broken": (Fault(status=500), "the server answers 500"),
    "stalls": (Fault(stall=0), "the server does not answer in time|timed out"),
    "turns in circles": (Fault(status=302, headers=(("Location", PATH),)), "answers 302"),
    "leads to a file": (Fault(status=302, headers=(("Location", "file:///etc/passwd"),)), "file:"),
}


@pytest.mark.parametrize("name", HOPELESS)
def test_hopeless(mirror, get, name):
    fault, sentence = HOPELESS[name]
    if sentence is None:  # half of it comes, but never the other half
        mirror.faults[PATH] = [Fault(cut=500) if n % 2 == 0 else fault for n in range(50)]
        sentence = "cannot be fetched"
    mirror.always[PATH] = fault
    with pytest.raises(DownloadError, match=sentence) as caught:
        get()
    assert PATH in str(caught.value)
    assert "\n" not in str(caught.value)
    assert ARTICLES not in here(get.folder)
    assert len(asked(mirror)) <= 12
    for path in get.folder.iterdir():
        if path.suffix != ".part":
            assert path.read_bytes() == mirror.files[f"/fowiki/{DATE}/{path.name}"]
    if name == "other bytes":
        assert f"{ARTICLES}.part" not in here(get.folder)


def test_nobody_answers(tmp_path):
    with pytest.raises(DownloadError, match="cannot be fetched: Connection refused; try again"):
        download(
            ["fo"],
            tmp_path,
            mirror="http://127.0.0.1:9",
            contact=CONTACT,
            network=Network(attempts=2, sleep=lambda _seconds: None),
        )


@pytest.mark.parametrize("target", ["ftp://example.org/x", "file:///etc/passwd"])
def test_no_redirect_leaves_the_web(target):
    request = urllib.request.Request("http://example.org/x")
    with pytest.raises(DownloadError, match=r"redirects to .*, which is neither"):
        http_client._RedirectHandler().redirect_request(request, None, 302, "Found", {}, target)


@pytest.mark.parametrize(
    "target", ["http://example.org/x", "ftp://example.org/x", "file:///etc/passwd"]
)
def test_no_redirect_leaves_an_encrypted_connection(target):
    request = urllib.request.Request("https://example.org/x")
    with pytest.raises(DownloadError, match=r"redirects to .*, which is n(ot encrypted|either)"):
        http_client._RedirectHandler().redirect_request(request, None, 302, "Found", {}, target)
    followed = http_client._RedirectHandler().redirect_request(
        request, None, 302, "Found", {}, "https://other.example/x"
    )
    assert followed.full_url == "https://other.example/x"


# Which run


def test_an_unfinished_run_is_passed_over(mirror, get, caplog):
    mirror.add_run(date="20240120", status={"redirecttable": "in-progress"})
    mirror.files["/fowiki/20240201/"] = b""
    mirror.describe(mirror.jobs)  # the listing names a run that has no status yet
    fetched = get()
    assert {each.path.name.split("-")[1] for each in fetched} == {DATE}
    expected = (
        f"fowiki: the run of {DATE} is taken; that of 20240201 is not complete (it has no "
        "dumpstatus.json); that of 20240120 is not complete (redirecttable: in-progress)"
    )
    assert caplog.messages == [expected]


def test_files_that_are_not_wanted_need_not_be_finished(mirror, get):
    mirror.add_run(date="20240120", status={"redirecttable": "waiting"})
    fetched = get(kinds=[Kind.PAGE_PROPS, Kind.LANGLINKS])
    assert {each.path.name for each in fetched} == {
        "fowiki-20240120-page_props.sql.gz",
        "fowiki-20240120-langlinks.sql.gz",
    }


def test_no_run_is_complete(mirror, get):
    mirror.add_run(status={"pagepropstable": "failed"})
    with pytest.raises(DownloadError, match=r"no complete run: .* \(pagepropstable: failed\): try"):
        get()
    assert here(get.folder) == set()


def test_the_run_of_a_date(mirror, get):
    mirror.add_run(date="20231201")
    del mirror.files["/fowiki/"]  # no listing is needed
    fetched = get(date="20231201")
    assert {each.path.name.split("-")[1] for each in fetched} == {"20231201"}
    with pytest.raises(DownloadError, match="that of 20220101 is not complete"):
        get(date="20220101")


def test_a_wiki_that_the_mirror_has_not(get):
    with pytest.raises(DownloadError, match=r"/xxwiki/ does not exist: check the language"):
        get("xx")


def test_large_wikis_have_their_articles_whole(mirror, get):
    mirror.add_run(jobs=PIECES)
    names = [each.path.name for each in get(kinds=[Kind.ARTICLES])]
    assert names == [f"fowiki-{DATE}-{name}" for name in JOBS["articlesmultistreamdump"]]


def test_or_in_pieces_while_they_are_put_together(mirror, get):
    mirror.add_run(jobs=PIECES, status={"articlesmultistreamdumprecombine": "in-progress"})
    names = [each.path.name for each in get(kinds=[Kind.ARTICLES])]
    assert names == [f"fowiki-{DATE}-{name}" for name in PIECES["articlesmultistreamdump"]]


def test_old_runs_have_no_siteinfo(mirror, get):
    mirror.add_run(jobs={name: files for name, files in JOBS.items() if name != "namespaces"})
    (get.folder / "unrelated").touch()
    assert Kind.SITEINFO not in {each.kind for each in get()}


# What the mirror says of its files


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "fowiki-20240101-../../evil",
        "/etc/evil",
        "fowiki-20240101-a/b",
        "fowiki-20240101-a..b",
        "fowiki-20240101-",
        "iswiki-20240101-redirect.sql.gz",
        "fowiki-20240101-a\\b",
        "fowiki-20240101-a\n",
        "fowiki-20240101-.part\0",
    ],
)
def test_names_that_lead_elsewhere(mirror, get, name):
    files = mirror.jobs["redirecttable"]["files"]
    files[name] = files.pop(f"fowiki-{DATE}-redirect.sql.gz")
    mirror.describe(mirror.jobs)
    with pytest.raises(DownloadError, match="is not what a mirror publishes, it has a file named"):
        get()
    assert here(get.folder) == set()


@pytest.mark.parametrize(
    "about",
    [
        {"size": -1},
        {"size": "7"},
        {"size": True},
        {"size": None},
        {"size": 1e3},
        {"sha1": "xyz"},
        {"sha1": 7},
        {"md5": "0" * 33},
    ],
)
def test_sizes_and_checksums_that_are_none(mirror, get, about):
    mirror.jobs["redirecttable"]["files"][f"fowiki-{DATE}-redirect.sql.gz"].update(about)
    mirror.describe(mirror.jobs)
    with pytest.raises(DownloadError, match="is not what a mirror publishes"):
        get()
    assert here(get.folder) == set()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"<html>",
        b"[]",
        b"7",
        b"{}",
        b'{"jobs": []}',
        b'{"jobs": {"namespaces": 3}}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_damaged_json(mirror, get, text):
    mirror.files[f"/fowiki/{DATE}/dumpstatus.json"] = text
    with pytest.raises(DownloadError, match=r"dumpstatus\.json is not what a mirror publishes"):
        get()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("done"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["status", "files", "size", "sha1", "fowiki-1-x.gz", ""]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*JOBS, "other"]), JSON))
def test_any_json_is_either_described_or_refused(jobs):
    text = published.json.dumps({"jobs": jobs})
    try:
        found = published.select_files(
            published.parse_status(text, "x"), KINDS, prefix="fowiki-1-", url="x"
        )
    except DownloadError:
        return
    assert isinstance(found, str) or all(each.name == "fowiki-1-x.gz" for each in found)


@pytest.mark.parametrize("sums", [("md5",), ("sha1",)])
def test_one_checksum_is_enough(mirror, get, sums, caplog):
    mirror.add_run(sums=sums)
    mirror.faults[PATH] = [Fault(wrong=True)]
    get()
    assert_right(mirror, get.folder)
    assert len(asked(mirror)) == 2
    assert not caplog.messages


def test_without_checksums_the_length_must_do(mirror, get, caplog):
    mirror.add_run(sums=())
    (get.folder / f"{ARTICLES}.part").write_bytes(b"of something else")
    mirror.faults[PATH] = [Fault(cut=500), Fault()]
    get()
    assert_right(mirror, get.folder)
    assert "Range" not in asked(mirror)[0]
    assert len(caplog.messages) == 1
    assert f"no checksum of {ARTICLES}, " in caplog.messages[0]


def test_without_checksums_a_wrong_length_is_refused(mirror, get):
    mirror.add_run(sums=())
    mirror.always[PATH] = Fault(more=b"more")
    with pytest.raises(DownloadError, match=r"the server has \d+ bytes, \d+ were published"):
        get()
    assert ARTICLES not in here(get.folder)


def test_an_empty_file(mirror, get):
    mirror.files[PATH] = b""
    about = mirror.jobs["articlesmultistreamdump"]["files"][ARTICLES]
    about.update(size=0, sha1=hashlib.sha1(b"").hexdigest(), md5="")
    mirror.describe(mirror.jobs)
    get()
    assert (get.folder / ARTICLES).read_bytes() == b""


# What is here already


def test_files_that_are_right_are_not_fetched_again(mirror, get):
    get()
    mirror.requests.clear()
    assert {each.state for each in get()} == {State.THERE}
    assert {request.path for request in mirror.requests} == {
        "/fowiki/",
        f"/fowiki/{DATE}/dumpstatus.json",
    }


def test_files_that_are_wrong_are_replaced(mirror, get):
    get()
    (get.folder / ARTICLES).write_bytes(bytes(len(mirror.files[PATH])))
    (get.folder / PROPS).write_bytes(b"short")
    states = {each.path.name: each.state for each in get()}
    assert_right(mirror, get.folder)
    assert [name for name, state in states.items() if state is State.FETCHED] == [ARTICLES, PROPS]


@pytest.mark.parametrize("length", [1, 99_999])
def test_what_was_begun_is_continued(mirror, get, length):
    (get.folder / f"{ARTICLES}.part").write_bytes(mirror.files[PATH][:length])
    states = {each.path.name: each.state for each in get()}
    assert_right(mirror, get.folder)
    assert states[ARTICLES] is State.RESUMED
    assert [request["Range"] for request in asked(mirror)] == [f"bytes={length}-"]


def test_what_was_all_there_needs_no_request(mirror, get):
    (get.folder / f"{ARTICLES}.part").write_bytes(mirror.files[PATH])
    get()
    assert_right(mirror, get.folder)
    assert not asked(mirror)


@pytest.mark.parametrize("length", [500, 100_000, 300_000])
def test_what_was_begun_of_something_else_is_begun_again(mirror, get, length):
    (get.folder / f"{ARTICLES}.part").write_bytes(bytes(length))
    states = {each.path.name: each.state for each in get()}
    assert_right(mirror, get.folder)
    assert "Range" not in asked(mirror)[-1]
    assert len(asked(mirror)) == (1 if length > len(mirror.files[PATH]) else 2)
    if length == 500:
        assert states[ARTICLES] is State.FETCHED


def test_an_unlucky_file_does_not_cost_the_others(mirror, get):
    mirror.always[PATH] = Fault(cut=40_000, ranges=False)
    with pytest.raises(DownloadError):
        get()
    assert (get.folder / f"{ARTICLES}.part").read_bytes() == mirror.files[PATH][:40_000]
    mirror.always.clear()
    states = {each.path.name: each.state for each in get()}
    assert states[ARTICLES] is State.RESUMED
    assert_right(mirror, get.folder)


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


def test_a_disk_that_is_full_on_the_way(mirror, get, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match=r"\.part cannot be written: No space left on device"):
        get()
    assert not get.waits  # nobody waits for a full disk
    assert all(name.endswith(".part") for name in here(get.folder))


def test_folders_are_made_and_files_are_none(mirror, tmp_path):
    download(["fo"], tmp_path / "a" / "b", mirror=mirror.url + "/", contact=CONTACT)
    assert_right(mirror, tmp_path / "a" / "b")
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"file cannot be written: .*; choose another folder"):
        download(["fo"], tmp_path / "file", mirror=mirror.url, contact=CONTACT)


# Parameters


@pytest.mark.parametrize(
    ("language", "wiki"),
    [
        ("fo", "fowiki"),
        (" FO ", "fowiki"),
        ("zh-min-nan", "zh_min_nanwiki"),
        ("nan", "zh_min_nanwiki"),
        ("be-tarask", "be_x_oldwiki"),
        ("be-x-old", "be_x_oldwiki"),
        ("nb", "nowiki"),
        ("no", "nowiki"),
        ("als", "alswiki"),
        ("gsw", "alswiki"),
        ("simple", "simplewiki"),
        ("fowiki", "fowiki"),
        ("be_x_oldwiki", "be_x_oldwiki"),
        ("fowiktionary", "fowiktionary"),
        ("roa_tara", "roa_tarawiki"),
    ],
)
def test_names_of_wikis(language, wiki):
    assert wiki_codes.database_name(language) == wiki


@pytest.mark.parametrize("language", ["", "../x", "f", "fo/..", "fo wiki", "fø", "fo\n/x", "-fo"])
def test_languages_that_are_none(mirror, get, language):
    with pytest.raises(ParameterError, match="expected a code such as fo"):
        get(language)
    assert not mirror.requests


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


@pytest.mark.parametrize(
    "link",
    [
        '<a href="20240101/">x',
        "<a href='20240101/'>x",
        "<A href=20240101/>x",
        '<a href="/fowiki/20240101">x',
        '<a href="https://example.org/fowiki/20240101/">',
    ],
)
def test_links_to_runs(link):
    assert published.find_run_dates(
        f"20200101 {link} <a href='latest/'> <a href='a-20230101.gz'>"
    ) == ["20240101"]


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
