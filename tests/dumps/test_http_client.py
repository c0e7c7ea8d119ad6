"""Requests are repeated, and redirects followed where that is safe."""

import email.utils
import urllib.request

import pytest

from candgen.dumps import http_client
from candgen.dumps.download import DownloadError, Network, download
from tests.support.faulty_mirror import CONTACT, DATE, PATH, Fault, assert_right


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
