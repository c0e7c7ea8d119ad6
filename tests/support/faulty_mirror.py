"""A mirror of dumps on this machine that cuts off, lies, stalls and is busy, when it is told to."""

import contextlib
import hashlib
import json
import random
import re
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

DATE = "20240101"
JOBS = {
    "articlesmultistreamdump": (
        "pages-articles-multistream.xml.bz2",
        "pages-articles-multistream-index.txt.bz2",
    ),
    "pagepropstable": ("page_props.sql.gz",),
    "redirecttable": ("redirect.sql.gz",),
    "namespaces": ("siteinfo-namespaces.json.gz",),
    "langlinkstable": ("langlinks.sql.gz",),
}
PIECES = {
    **JOBS,
    "articlesmultistreamdump": (
        "pages-articles-multistream1.xml-p1p100.bz2",
        "pages-articles-multistream-index1.txt-p1p100.bz2",
        "pages-articles-multistream2.xml-p101p200.bz2",
        "pages-articles-multistream-index2.txt-p101p200.bz2",
    ),
    "articlesmultistreamdumprecombine": JOBS["articlesmultistreamdump"],
}
ARTICLES = f"fowiki-{DATE}-pages-articles-multistream.xml.bz2"
PATH = f"/fowiki/{DATE}/{ARTICLES}"
PROPS = f"fowiki-{DATE}-page_props.sql.gz"
CONTACT = "me@example.org"


def here(folder):
    """The names of the files in a folder."""
    return {path.name for path in folder.iterdir()}


class Fault(NamedTuple):
    """What goes wrong with an answer; by default nothing does."""

    cut: int | None = None  # ends the connection after so many bytes
    stall: int | None = None  # says nothing more after so many bytes
    lie: int = 0  # is added to Content-Length
    more: bytes = b""  # is sent after the file, and counted in Content-Length
    wrong: bool = False  # other bytes than those of the file
    ranges: bool = True  # whether Range is understood
    total: int = 0  # is added to the size in Content-Range
    shift: int = 0  # begins so many bytes after what was asked for
    status: int = 0  # is answered instead of the file
    headers: tuple[tuple[str, str], ...] = ()
    only_ranges: bool = False  # nothing is wrong as long as all of the file is asked for


class Request(NamedTuple):
    path: str
    headers: dict[str, str]


class Mirror:
    """Files by path, and what is to go wrong with them."""

    def __init__(self):
        self.files = {}
        self.faults = defaultdict(list)
        self.always = {}
        self.requests = []
        self.open = self.most_open = 0
        self.stopped = threading.Event()
        self.delay = 0.0
        self._lock = threading.Lock()

    def add_run(self, wiki="fowiki", date=DATE, *, jobs=JOBS, status=None, sums=("sha1", "md5")):
        """A run with files of random bytes; the description of its jobs, which can be changed."""
        described = {}
        for job, names in jobs.items():
            files = {}
            for name in names:
                full = f"{wiki}-{date}-{name}"
                data = random.Random(full).randbytes(100_000 + len(full))
                self.files[f"/{wiki}/{date}/{full}"] = data
                about = {"sha1": hashlib.sha1(data), "md5": hashlib.md5(data)}
                files[full] = {
                    "size": len(data),
                    "url": f"/{wiki}/{date}/{full}",
                    **{each: about[each].hexdigest() for each in sums},
                }
            state = (status or {}).get(job, "done")
            described[job] = {"status": state, "updated": "2024-01-02 03:04:05", "files": files}
        self.describe(described, wiki, date)
        return described

    def describe(self, jobs, wiki="fowiki", date=DATE):
        text = json.dumps({"version": "0.8", "jobs": jobs})
        self.files[f"/{wiki}/{date}/dumpstatus.json"] = text.encode()
        dates = sorted({m[1] for p in self.files if (m := re.match(rf"/{wiki}/(\d+)/", p))})
        links = "".join(f'<a href="{each}/">{each}/</a>\n' for each in [*dates, "latest"])
        self.files[f"/{wiki}/"] = f"<html><a href='../'>../</a>{links}</html>".encode()

    def enter(self):
        with self._lock:
            self.open += 1
            self.most_open = max(self.open, self.most_open)

    def leave(self):
        with self._lock:
            self.open -= 1

    def fault(self, path, ranged):
        with self._lock:
            waiting = self.faults[path]
            if waiting and (ranged or not waiting[0].only_ranges):
                return waiting.pop(0)
            always = self.always.get(path, Fault())
            return Fault() if always.only_ranges and not ranged else always


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_arguments):
        pass

    def do_GET(self):
        mirror = self.server.mirror
        mirror.enter()
        left = False
        try:
            mirror.requests.append(Request(self.path, dict(self.headers)))
            fault = mirror.fault(self.path, "Range" in self.headers)
            data = mirror.files.get(self.path)
            if fault.status or data is None:
                self._answer(fault.status or 404, {**dict(fault.headers), "Content-Length": "0"})
                return
            body, headers, status = self._body(data, fault)
            self._answer(status, headers)
            if mirror.delay:
                mirror.stopped.wait(mirror.delay)
            for end in (fault.cut, fault.stall):
                body = body if end is None else body[:end]
            self.wfile.write(body[:-1])
            if fault.stall is not None:
                self.wfile.write(body[-1:])
                mirror.stopped.wait(30)
                return
            mirror.leave()  # before the client can know that it has all
            left = True
            self.wfile.write(body[-1:])
        except OSError:
            pass  # the client went away
        finally:
            if not left:
                mirror.leave()

    def _body(self, data, fault):
        etag = f'"{hashlib.sha1(data).hexdigest()}"'
        whole = bytes(len(data)) if fault.wrong else data
        headers = {"ETag": etag, **dict(fault.headers)}
        start, status = 0, 200
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked and fault.ranges and self.headers.get("If-Range", etag) == etag:
            start, status = int(asked[1]) + fault.shift, 206
            size = len(data) + fault.total
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{size}"
        body = whole[start:] + fault.more
        headers["Content-Length"] = str(len(body) + fault.lie)
        return body, headers, status

    def _answer(self, status, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        pass


@contextlib.contextmanager
def serving():
    """A mirror that answers, with its address in ``url``."""
    mirror = Mirror()
    server = _Server(("127.0.0.1", 0), _Handler)
    server.mirror = mirror
    mirror.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield mirror
    finally:
        mirror.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


def asked(mirror, path=PATH):
    """The headers of the requests for a path."""
    return [request.headers for request in mirror.requests if request.path == path]


def assert_right(mirror, folder):
    """Everything that has a final name is what the mirror has, and nothing else is there."""
    published = {path.rsplit("/", 1)[1]: data for path, data in mirror.files.items()}
    assert ARTICLES in here(folder)
    for path in folder.iterdir():
        assert path.read_bytes() == published[path.name]
