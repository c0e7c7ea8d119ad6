"""Which run and which files of a mirror are taken, whatever its listing says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.dumps import published
from candgen.dumps.download import KINDS, DownloadError, Kind
from tests.support.faulty_mirror import DATE, JOBS, PIECES, here


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
