"""How many names of a column does OpenRefine match automatically, and how many correctly?

    candgen serve fo.candgen &
    python benchmarks/openrefine.py http://127.0.0.1:8000 names.tsv

It starts OpenRefine without a browser, sends the requests that its pages send (add the service,
create a project, guess the type, reconcile the column, search for a match, fetch a preview), reads
the cells, and stops OpenRefine. Only the standard library is needed.
"""

import argparse
import contextlib
import gzip
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qs, quote, urlencode, urlsplit
from urllib.request import Request, urlopen

COLUMN = "Column 1"
"""The name OpenRefine gives to the column of a text file; table formats lose quotation marks."""
START = 120.0
"""Timeout in seconds for the start of OpenRefine."""
PATIENCE = 60.0
"""Timeout in seconds for each HTTP request."""
MEMORY = "512M"
ENGINE = json.dumps({"facets": [], "mode": "row-based"})
"""All rows."""
LOGGING = """log4j.rootLogger=WARN, all
log4j.appender.all=org.apache.log4j.ConsoleAppender
log4j.appender.all.layout=org.apache.log4j.PatternLayout
log4j.appender.all.layout.ConversionPattern=%p [%c] %m%n
"""
SOME = ("Tórshavn", "Føroyar", "Keypmannahavn", "Kjøpinhavn", "Ísland", "Noreg", "Havnin", "Zzqx")
"""Names to use without a file: well known, misspelled, ambiguous, and one that is not a name."""


class Failed(Exception):  # noqa: N818
    """An error for the user, in one sentence."""


class Asked(NamedTuple):
    """A name, with its correct entity and its type of query if the file has them."""

    name: str
    entity: str = ""
    type: str = ""


class Candidate(NamedTuple):
    """A candidate of a cell."""

    entity: str
    name: str
    score: float


class Cell(NamedTuple):
    """A cell after reconciliation: the judgment of OpenRefine, and the candidates.

    ``judgment`` is "matched", "none", or "" if there was no answer for it. Of a matched cell the
    one candidate is the match.
    """

    name: str
    judgment: str
    candidates: tuple[Candidate, ...]


class Counts(NamedTuple):
    """The outcome for names whose correct entity is known."""

    names: int
    matched: int
    right: int
    first: int
    offered: int
    """Names whose entity is the match, or among the candidates where there is none."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if every name was answered, 1 if not, and 2 after an error of the user."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    options = _parser().parse_args(arguments)
    try:
        asked = read_names(options.names)[: options.most]
        service = service_address(options.service)
        manifest = read_manifest(service)
        with _openrefine(options.openrefine, options.program) as (address, log):
            refine = OpenRefine(address)
            print(f"OpenRefine {refine.version()}: {manifest['name']}, {service}")
            print(f"{len(asked):,} names, {asked[0].name!r} to {asked[-1].name!r}")
            cells = reconcile(
                refine, service, manifest, asked, type_id=options.type, wait=options.wait
            )
            show(asked, cells, most=options.show)
            tell_counts(asked, cells)
            tell_pages(manifest, service, cells)
            complaints = _complaints(log)
    except Failed as failure:
        print(f"openrefine: {failure}", file=sys.stderr)
        return 2
    if complaints:
        print(f"\nOpenRefine complains {len(complaints):,} times, first of this: {complaints[0]}")
    silent = sum(not cell.judgment for cell in cells)
    if silent:
        print(f"openrefine: {silent:,} names got no answer at all", file=sys.stderr)
    return 1 if silent or complaints else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="openrefine.py", description="Reconcile a column of names with a real OpenRefine."
    )
    parser.add_argument(
        "service", help="where candgen serve answers; /reconcile/NAME may be part of it"
    )
    parser.add_argument(
        "names",
        nargs="?",
        type=Path,
        help="names, one a line, or a table with the columns mention and, if known, entity and "
        "type (of query); .gz too; without it, a few Faroese names",
    )
    parser.add_argument("--openrefine", metavar="URL", help="use one that is running")
    parser.add_argument(
        "--program", default="openrefine", help="how to start one (default: %(default)s)"
    )
    parser.add_argument("--type", metavar="ID", help="a type to prefer; none for no type at all")
    parser.add_argument("--most", type=_natural, metavar="N", help="only the first N names")
    parser.add_argument("--show", type=_natural, metavar="N", default=20, help="rows of the table")
    parser.add_argument(
        "--wait", type=_natural, metavar="S", default=600, help="seconds for the reconciliation"
    )
    return parser


def _natural(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


# ---------------------------------------------------------------- what is asked


def read_names(path: Path | None) -> list[Asked]:
    """Return the names of a file, in its order, without empty lines."""
    if path is None:
        return [Asked(name) for name in SOME]
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        lines = content.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    except OSError as error:
        raise Failed(f"{path} cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, EOFError, zlib.error) as error:
        raise Failed(f"{path} cannot be read: expected text in UTF-8") from error
    header = lines[0].split("\t")
    if "mention" not in header:
        asked = [Asked(line.strip()) for line in lines if line.strip()]
    else:
        asked = list(_rows(path, header, lines[1:]))
    if not asked:
        raise Failed(f"{path} has no names")
    if any("\t" in each.name for each in asked):
        raise Failed(f"{path} has tabs, but no header: expected the columns mention and entity")
    return asked


def _rows(path: Path, header: list[str], lines: Sequence[str]) -> Iterator[Asked]:
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != len(header):
            raise Failed(
                f"{path} line {number}: expected {len(header)} columns, found {len(fields)}"
            )
        row = dict(zip(header, fields, strict=True))
        if row["mention"].strip():
            yield Asked(row["mention"].strip(), row.get("entity", ""), row.get("type", ""))


def service_address(text: str) -> str:
    """Return the address of the Reconciliation API of a service.

    >>> service_address("http://127.0.0.1:8000/"), service_address("https://e.org/reconcile/fo")
    ('http://127.0.0.1:8000/reconcile', 'https://e.org/reconcile/fo')
    """
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise Failed(f"{text!r} is no address: expected one such as http://127.0.0.1:8000")
    address = text.rstrip("/")
    return address if re.search(r"/reconcile(/[^/]+)?$", address) else f"{address}/reconcile"


# ---------------------------------------------------------------- HTTP


def fetch(
    url: str, *, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[str, Any, str]:
    """Return the text at an address, its headers, and the address after redirects."""
    try:
        with urlopen(Request(url, body, headers or {}), timeout=PATIENCE) as answer:
            return answer.read().decode("utf-8"), answer.headers, answer.url
    except HTTPError as error:
        said = error.read(300).decode("utf-8", "replace")
        raise Failed(f"{url} answered {error.code}: {said}") from error
    except (URLError, OSError) as error:
        raise Failed(f"{url} does not answer: {getattr(error, 'reason', error)}") from error
    except UnicodeDecodeError as error:
        raise Failed(f"{url} has answered something that is not UTF-8") from error


def fetch_json(url: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the JSON object at an address."""
    text, _, _ = fetch(url, **options)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Failed(f"{url} has not answered with JSON, but with {text[:60]!r}") from error
    if not isinstance(value, dict):
        raise Failed(f"{url} has answered with {text[:60]!r}: expected a JSON object")
    return value


def read_manifest(service: str) -> dict[str, Any]:
    """Return the manifest of a service, fetched like a page of another site (CORS)."""
    text, headers, _ = fetch(service, headers={"Origin": "http://127.0.0.1:3333"})
    if headers.get("Access-Control-Allow-Origin") not in ("*", "http://127.0.0.1:3333"):
        raise Failed(f"{service} does not let pages of OpenRefine read its answers (CORS)")
    try:
        manifest = json.loads(text)
        missing = {"name", "identifierSpace", "schemaSpace"} - set(manifest)
    except (ValueError, TypeError) as error:
        raise Failed(f"{service} is no reconciliation service: it has no manifest") from error
    if missing:
        raise Failed(f"the manifest of {service} lacks {', '.join(sorted(missing))}")
    return dict(manifest)


# ---------------------------------------------------------------- OpenRefine


class OpenRefine:
    """The HTTP commands of a running OpenRefine."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")

    def version(self) -> str:
        """Return the version of OpenRefine."""
        return str(self._get("get-version").get("version", "?"))

    def create(self, names: Sequence[str]) -> str:
        """Create a project with one column of names; return its id."""
        reading = {
            "linesPerRow": 1,
            "ignoreLines": -1,
            "storeBlankRows": True,
            "guessCellValueTypes": False,
            "trimStrings": False,
            "encoding": "UTF-8",
        }
        lines = "".join(f"{name}\n" for name in names)
        form = [
            ('name="project-name"', "candgen"),
            ('name="format"', "text/line-based"),
            ('name="options"', json.dumps(reading)),
            ('name="project-file"; filename="names.txt"', lines),
        ]
        mark = f"----{os.urandom(16).hex()}"
        body = "".join(
            f"--{mark}\r\nContent-Disposition: form-data; {name}\r\n\r\n{value}\r\n"
            for name, value in form
        )
        url = self._url("create-project-from-upload", csrf_token=self._token())
        kind = {"Content-Type": f"multipart/form-data; boundary={mark}"}
        _, _, where = fetch(url, body=f"{body}--{mark}--\r\n".encode(), headers=kind)
        project = parse_qs(urlsplit(where).query).get("project")
        if not project:
            raise Failed("OpenRefine has made no project of the names")
        return project[0]

    def delete(self, project: str) -> None:
        """Delete a project."""
        self._post("delete-project", {}, {"project": project})

    def guess_types(self, project: str, service: str) -> list[dict[str, Any]]:
        """Return the types that OpenRefine guesses from the names, most frequent first."""
        where = {"project": project, "columnName": COLUMN, "service": service}
        return list(self._post("guess-types-of-column", where, {})["types"])

    def start(self, project: str, config: dict[str, Any]) -> None:
        """Start to reconcile the column."""
        said = {"columnName": COLUMN, "config": json.dumps(config), "engine": ENGINE}
        self._post("reconcile", {"project": project}, said)

    def wait(self, project: str, seconds: float) -> None:
        """Wait until OpenRefine has no running process."""
        deadline = time.monotonic() + seconds
        while (state := self._get("get-processes", project=project)).get("processes"):
            if time.monotonic() > deadline:
                done = state["processes"][0].get("progress", 0)
                raise Failed(
                    f"OpenRefine has not reconciled the names in {seconds:.0f} seconds: it is at "
                    f"{done}%; wait longer with --wait"
                )
            time.sleep(0.25)
        if state.get("exceptions"):
            raise Failed(f"OpenRefine could not reconcile: {state['exceptions'][0].get('message')}")

    def rows(self, project: str, most: int) -> dict[str, Any]:
        """Return the rows, and the pool of their reconciliation results."""
        where = {"project": project, "start": "0", "limit": str(most)}
        return self._post("get-rows", where, {"engine": ENGINE})

    def _url(self, command: str, **parameters: str) -> str:
        return f"{self.address}/command/core/{command}?{urlencode(parameters)}"

    def _token(self) -> str:
        return str(self._get("get-csrf-token").get("token", ""))

    def _get(self, command: str, **parameters: str) -> dict[str, Any]:
        return fetch_json(self._url(command, **parameters))

    def _post(self, command: str, where: dict[str, str], said: dict[str, str]) -> dict[str, Any]:
        body = urlencode({**said, "csrf_token": self._token()}).encode()
        answer = fetch_json(self._url(command, **where), body=body)
        if answer.get("code") == "error":
            raise Failed(f"OpenRefine refuses {command}: {answer.get('message')}")
        return answer


def reconcile(
    refine: OpenRefine,
    service: str,
    manifest: dict[str, Any],
    asked: Sequence[Asked],
    *,
    type_id: str | None,
    wait: float,
) -> list[Cell]:
    """Create a project with the names, reconcile it, and return its cells."""
    project = refine.create([each.name for each in asked])
    try:
        kind = choose_type(refine.guess_types(project, service), manifest, type_id)
        print(f"type: {kind['id']} ({kind['name']})" if kind else "no type")
        began = time.monotonic()
        refine.start(
            project,
            {
                "mode": "standard-service",
                "service": service,
                "identifierSpace": manifest["identifierSpace"],
                "schemaSpace": manifest["schemaSpace"],
                "type": kind,
                "autoMatch": True,
                "columnDetails": [],
                "limit": 0,
            },
        )
        refine.wait(project, wait)
        print(f"reconciled in {time.monotonic() - began:.1f} s")
        cells = read_cells(refine.rows(project, len(asked)))
    finally:
        with contextlib.suppress(Failed):
            refine.delete(project)
    if [cell.name for cell in cells] != [each.name for each in asked]:
        raise Failed("OpenRefine has other names in its rows than those that it was given")
    return cells


def choose_type(
    guessed: Sequence[dict[str, Any]], manifest: dict[str, Any], wanted: str | None
) -> dict[str, str] | None:
    """Return the wanted type, or else the default of the dialog of OpenRefine."""
    if wanted == "none":
        return None
    every = [*guessed, *manifest.get("defaultTypes", [])]
    if wanted is not None:
        every = [each for each in every if each["id"] == wanted] or [{"id": wanted}]
    return {"id": every[0]["id"], "name": every[0].get("name", every[0]["id"])} if every else None


def read_cells(answer: dict[str, Any]) -> list[Cell]:
    """Return the cells of the first column, from the response to get-rows."""
    pool = answer.get("pool", {}).get("recons", {})
    cells = []
    for row in answer["rows"]:
        value = next(iter(row["cells"]), None) or {}
        recon = pool.get(value.get("r"), {})
        kept = [recon["m"]] if recon.get("m") else recon.get("c", [])
        found = tuple(Candidate(each["id"], each["name"], float(each["score"])) for each in kept)
        cells.append(Cell(str(value.get("v", "")), recon.get("j", ""), found))
    return cells


@contextlib.contextmanager
def _openrefine(address: str | None, program: str) -> Iterator[tuple[str, Path | None]]:
    """Start OpenRefine unless there is an address; yield the address and the log, if any."""
    if address is not None:
        yield address, None
        return
    path = shutil.which(program)
    if path is None:
        raise Failed(
            f"there is no program {program!r}: install OpenRefine, name its program with "
            "--program, or a running one with --openrefine"
        )
    with tempfile.TemporaryDirectory(prefix="openrefine-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        (home / "log4j.properties").write_text(LOGGING, encoding="utf-8")
        (home / "data").mkdir()
        log, port = home / "log", _free_port()
        command = [
            path,
            "-p",
            str(port),
            "-i",
            "127.0.0.1",
            "-d",
            str(home / "data"),
            "-m",
            MEMORY,
            "-x",
            "refine.headless=true",
        ]
        options = f"-Dlog4j.configuration=file:{home / 'log4j.properties'}"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "HOME": folder, "JAVA_OPTIONS": options},
            )
        try:
            where = f"http://127.0.0.1:{port}"
            _wait_for(where, process, log)
            yield where, log
        finally:
            _end(process)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START
    while True:
        with contextlib.suppress(Failed):
            OpenRefine(address).version()
            return
        if process.poll() is not None or time.monotonic() > deadline:
            last = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
            raise Failed(f"OpenRefine has not started; the last it said is {' '.join(last)!r}")
        time.sleep(0.5)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop the launcher, a shell that waits for Java, and Java: both are in one process group."""
    for way in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, way)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
            return


def _complaints(log: Path | None) -> list[str]:
    """Return the messages about the service in the log of OpenRefine."""
    if log is None:
        return []
    return find_complaints(log.read_text("utf-8", "replace"))


def find_complaints(text: str) -> list[str]:
    """Return warnings and errors of those parts of OpenRefine that call services."""
    pattern = r"(?:WARN|ERROR|FATAL) \[[^\]]*(?:recon|[Hh]ttp-?[Cc]lient|GuessTypes)[^\]]*\] .*"
    return re.findall(pattern, text)


# ---------------------------------------------------------------- what is told


def show(asked: Sequence[Asked], cells: Sequence[Cell], *, most: int) -> None:
    """Print a table of names with their match or best candidate."""
    known = any(each.entity for each in asked)
    rows = [("name", "judgment", "entity", "its name", "score", *(["right"] if known else []))]
    for each, cell in list(zip(asked, cells, strict=True))[:most]:
        best = cell.candidates[0] if cell.candidates else None
        right = ["yes" if best and best.entity == each.entity else each.entity] if known else []
        rows.append(
            (
                cell.name[:40],
                cell.judgment or "no answer",
                best.entity if best else "",
                best.name[:40] if best else "",
                f"{best.score:.1f}" if best else "",
                *right,
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print()
    for row in rows:
        print(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        )
    if len(cells) > most:
        print(f"... and {len(cells) - most:,} more")


def count(asked: Sequence[Asked], cells: Sequence[Cell]) -> Counts:
    """Count the matched and the correct cells; a name counts once for each of its rows."""
    matched = right = first = offered = 0
    for each, cell in zip(asked, cells, strict=True):
        entities = [candidate.entity for candidate in cell.candidates]
        is_first = entities[:1] == [each.entity]
        matched += cell.judgment == "matched"
        right += cell.judgment == "matched" and is_first
        first += is_first
        offered += each.entity in entities
    return Counts(len(cells), matched, right, first, offered)


def tell_counts(asked: Sequence[Asked], cells: Sequence[Cell]) -> None:
    """Print totals, with precision and recall by type of query where entities are known."""
    matched = sum(cell.judgment == "matched" for cell in cells)
    some = sum(bool(cell.candidates) for cell in cells) - matched
    print(
        f"\n{len(cells):,} names: {matched:,} matched, {some:,} with candidates to choose from, "
        f"{len(cells) - matched - some:,} without"
    )
    pairs = [pair for pair in zip(asked, cells, strict=True) if pair[0].entity]
    if not pairs:
        return
    types = list(dict.fromkeys(each.type for each, _ in pairs))
    groups = [("all", pairs)]
    if types != [""]:
        groups += [(name, [pair for pair in pairs if pair[0].type == name]) for name in types]
    print(
        f"{'':8}{'names':>7}{'matched':>9}{'right':>7}{'precision':>11}{'recall':>8}"
        f"{'first':>7}{'offered':>9}{'mean score':>12}"
    )
    for name, members in groups:
        got = count(*zip(*members, strict=True))
        best = [cell.candidates[0].score if cell.candidates else 0.0 for _, cell in members]
        precision = f"{100 * got.right / got.matched:.1f}" if got.matched else "-"
        shares = [f"{100 * each / got.names:.1f}" for each in (got.right, got.first, got.offered)]
        print(
            f"{name:8}{got.names:7,}{got.matched:9,}{got.right:7,}{precision:>11}{shares[0]:>8}"
            f"{shares[1]:>7}{shares[2]:>9}{sum(best) / len(best):12.1f}"
        )
    print(
        "precision: of the matched; recall: matched rightly, of all; first, offered: the right "
        "entity is the\nfirst, or any, of the candidates; mean score: of the first ones. "
        "In percent."
    )


def tell_pages(manifest: dict[str, Any], service: str, cells: Sequence[Cell]) -> None:
    """Send the requests of OpenRefine's pages to the service: search, flyout, preview, types."""
    text, _, _ = fetch(f"{service}?callback=jQuery_1")
    print(f"\nmanifest: JSON, {'and' if 'jQuery_1(' in text else 'but not'} JSONP")
    name = cells[0].name
    found: list[dict[str, Any]] = []
    suggest = manifest.get("suggest", {})
    if "entity" in suggest:
        options = suggest["entity"]
        found = _suggested(options, name)
        first = f"{found[0]['id']} {found[0]['name']}" if found else "nothing"
        print(f"search for match {name!r}: {first}, {len(found)} in all")
        if found and "flyout_service_path" in options:
            path = options["flyout_service_path"].replace("${id}", quote(found[0]["id"], safe=""))
            flyout = fetch_json(options.get("flyout_service_url", service) + path)
            print(f"flyout of {flyout['id']}: {len(flyout['html'])} characters of HTML")
    if "type" in suggest:
        kinds = _suggested(suggest["type"], "")
        print(f"types: {', '.join(each['name'] for each in kinds[:5])}, {len(kinds)} in all")
    if found and "preview" in manifest:
        url = manifest["preview"]["url"].replace("{{id}}", quote(found[0]["id"], safe=":/"))
        page, headers, _ = fetch(url)
        framed = may_be_framed(headers.get("Content-Security-Policy"))
        print(
            f"preview of {found[0]['id']}: {len(page)} characters of {headers['Content-Type']}, "
            f"{'may' if framed else 'may not'} be shown in a frame"
        )
        if not framed or headers.get("X-Frame-Options"):
            raise Failed(f"{url} does not let OpenRefine show it in a frame")


def _suggested(options: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    url = options["service_url"] + options["service_path"]
    return list(fetch_json(f"{url}?{urlencode({'prefix': prefix})}")["result"])


def may_be_framed(policy: str | None) -> bool:
    """Return whether a Content-Security-Policy lets pages of any site show this one in a frame.

    >>> may_be_framed("default-src 'none'; frame-ancestors *"), may_be_framed(None)
    (True, True)
    """
    said = re.search(r"(?:^|;)\s*frame-ancestors\s+([^;]*)", policy or "")
    return said is None or "*" in said[1].split()


if __name__ == "__main__":
    sys.exit(main())
