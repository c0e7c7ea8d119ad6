"""The page of the service, in a real browser."""

import contextlib
import csv
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright")

import uvicorn
from playwright.sync_api import Error, expect, sync_playwright

import candgen
import candgen.service
from candgen import MentionTable, PivotTokenIndex
from candgen.service.app import create_app
from candgen.service.middleware import PAGE_FILES
from candgen.service.settings import Limits, Settings
from candgen.tables.entities import EntityTable
from tests.support.service_world import save_toy

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]
SHOTS = os.environ.get("CANDGEN_PAGE_SHOTS")
"""A folder for screenshots."""

FOLDER = Path(candgen.service.__file__).parent / "page"
VIEWS = ("one", "list", "compare", "programs")
KEY = "correct-horse-battery"

IMAGE = "<img src=x onerror=run()>"
SCRIPT = "\"'></script><script>run()</script>"
HOSTILE = [
    (f"{IMAGE} vín", IMAGE, 3),
    (f"{SCRIPT} vín", SCRIPT, 2),
    ("javascript:run()", "Q1&x", 1),
]
KURDISH = [("تاران", "Q3616", 1), ("هەولێر", "Q49111", 1)]
PERSIAN = [("تهران", "Q3616", 3), ("اربیل", "Q49111", 2), ("Tehran", "Q3616", 1)]

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs a Chromium: chromium, chromium-browser or google-chrome"
)


# ---------------------------------------------------------------- a service and a browser


def index_of(language, target, pivots):
    tables = {code: MentionTable.from_pairs(rows) for code, rows in pivots.items()}
    return PivotTokenIndex.build(
        tables,
        MentionTable.from_pairs(target),
        language=language,
        lam=1.0,
        tokenizer=candgen.CharNgrams(2, 3),
    )


def save_hostile(path):
    index_of("fo", HOSTILE, {"is": [(IMAGE, SCRIPT, 1)]}).save(path)
    EntityTable.from_rows(
        [(IMAGE, "en", f"name {IMAGE}", f"said {SCRIPT}", [SCRIPT]), (SCRIPT, "en", SCRIPT, "", [])]
    ).store(path)


@contextlib.contextmanager
def serving(indexes, **settings):
    """A service in a thread; its address."""
    app = create_app(Settings({name: str(path) for name, path in indexes.items()}, **settings))
    config = uvicorn.Config(app, ws="none", log_config=None, access_log=False, lifespan="on")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    paths = {name: folder / name for name in ("toy", "two", "described", "priors", "bad", "ckb")}
    save_toy(paths["toy"])
    save_toy(paths["two"], second_stage=True)
    save_toy(paths["described"], described=True)
    save_hostile(paths["bad"])
    index_of("ckb", KURDISH, {"fa": PERSIAN}).save(paths["ckb"])
    faroese = MentionTable.from_pairs([("Vín", "Q282", 2), ("Wien", "Q1741", 1)])
    candgen.WikiPriors.build({}, faroese, language="fo").save(paths["priors"])
    return paths


@pytest.fixture(scope="module")
def base(indexes):
    limits = Limits(batch=2, k=50, mention=200, characters=300)
    with serving(indexes, log=False, limits=limits) as address:
        yield address


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Visit:
    """A visitor; what the browser complains of, and whom it asks, is kept."""

    def __init__(self, chromium, base, **options):
        self.base = base
        self.context = chromium.new_context(
            **{"locale": "en-GB", "viewport": {"width": 1100, "height": 800}, **options}
        )
        self.context.set_default_timeout(8000)
        self.page = self.context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)
        self.page.add_init_script(
            "window.ran = []; window.run = () => window.ran.push('ran');"
            "addEventListener('securitypolicyviolation', (event) => "
            "window.ran.push(event.violatedDirective + ' ' + event.blockedURI));"
        )

    def _hear(self, message):
        # Chromium itself reports every answer above 399; the page has its own words for those.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def open(self, **state):
        self.page.goto(f"{self.base}#{urlencode(state)}")
        expect(self.page.locator("#index option").first).to_be_attached()
        return self.page

    def shoot(self, name):
        if SHOTS:
            self.page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)

    def check(self):
        """Assert that no foreign script ran, no other host was asked, and no error was logged."""
        assert self.page.evaluate("window.ran") == []
        assert self.complaints == []
        assert [url for url in self.requests if not url.startswith((self.base, "blob:"))] == []


@pytest.fixture
def visit(chromium, base):
    made = []

    def start(**options):
        made.append(Visit(chromium, options.pop("base", base), **options))
        return made[-1]

    yield start
    for each in made:
        each.check()
        each.context.close()


@pytest.fixture
def page(visit):
    return visit().open()


def api(base, path, **parameters):
    with urllib.request.urlopen(f"{base}api/v1/{path}?{urlencode(parameters)}") as answer:
        return json.load(answer)


def shown(page):
    """The ids and the scores of the candidates in the list."""
    return page.locator("#candidates").evaluate(
        """list => [...list.children].map(item => [
            item.dataset.entity,
            Number(item.querySelector(".legend data").value),
        ])"""
    )


def entities(page, where="#candidates"):
    return page.locator(where).evaluate("list => [...list.children].map(i => i.dataset.entity)")


def ask(page, mention, count):
    """Type a mention and wait until it has this number of candidates."""
    page.locator("#mention").fill(mention)
    if mention.strip():
        said = f"{count} candidate{'' if count == 1 else 's'} for {mention}"
        expect(page.locator("#one-said")).to_have_text(said)
        expect(page.locator("#candidates > li")).to_have_count(count)


# ---------------------------------------------------------------- one name


def test_typing_shows_what_python_answers(page, indexes):
    generator = candgen.load(indexes["toy"])
    page.locator("#mention").press_sequentially("Vínið", delay=20)
    expect(page.locator("#one-said")).to_have_text("3 candidates for Vínið")
    expected = [(e, pytest.approx(s)) for e, s in generator.candidates(["Vínið"], 10)[0]]
    assert [tuple(each) for each in shown(page)] == expected
    links = page.locator("#candidates h3 + a")
    assert [link.get_attribute("href") for link in links.all()] == [
        f"https://www.wikidata.org/wiki/{entity}" for entity, _ in expected
    ]
    assert links.first.get_attribute("rel") == "noopener noreferrer"
    expect(page.locator("#one-examples")).to_be_hidden()
    ask(page, " ", 0)
    expect(page.locator("#one-said")).to_contain_text("Type a name")
    page.locator("#one-examples").get_by_role("link", name="Wien").click()
    expect(page.locator("#one-said")).to_have_text("3 candidates for Wien")
    expect(page.locator("#mention")).to_have_value("Wien")
    page.locator("#mention").fill("Oslo")
    expect(page.locator("#one-said")).to_contain_text("No candidates")
    expect(page.locator("#candidates > li")).to_have_count(0)


def test_parts_of_a_score_are_told_in_numbers_and_as_bars(page, base):
    ask(page, "Vín", 3)
    first = page.locator("#candidates > li").first
    expect(first).to_contain_text("score 2.675 = prior 1.675 + posterior 1")
    (told,) = api(base, "candidates", mention="Vín", k=1, details="true")["candidates"]
    for language, share in told["languages"].items():
        expect(first).to_contain_text(f"{language} {round(100 * share)} %")
    widths = first.locator(".bar").evaluate_all(
        "bars => bars.map(bar => [...bar.querySelectorAll('.segment')].map(s => s.offsetWidth))"
    )
    assert widths[0][0] / widths[0][1] == pytest.approx(1.675, rel=0.05)
    shares = sorted(told["languages"].values(), reverse=True)
    assert widths[1][0] / widths[1][1] == pytest.approx(shares[0] / shares[1], rel=0.05)


def test_a_late_answer_never_takes_the_place_of_a_newer_one(visit):
    page = visit().open()
    held = []
    page.route("**/api/v1/candidates?mention=V*", lambda route: held.append(route))  # noqa: PLW0108
    page.locator("#mention").fill("Vín")
    expect(page.locator("#candidates")).to_have_attribute("aria-busy", "true")
    expect(page.locator("#one-said")).to_have_text("Searching …")
    page.locator("#mention").fill("Rín")
    expect(page.locator("#one-said")).to_have_text("3 candidates for Rín")
    with contextlib.suppress(Error):  # it was called off
        held[0].continue_()
    page.wait_for_timeout(150)
    expect(page.locator("#one-said")).to_have_text("3 candidates for Rín")
    assert entities(page)[0] == "Q584"


def test_index_k_and_lam_are_chosen_and_kept_in_the_address(visit, indexes):
    first = visit()
    page = first.open(mention="Vín")
    expect(page.locator("#lam")).to_have_attribute("placeholder", "1")
    assert [each for each, _ in shown_when(page, 3)] == ["Q282", "Q1741", "Q584"]
    page.locator("#lam").fill("0")
    expect(page.locator("#candidates > li").first).to_have_attribute("data-entity", "Q1741")
    page.locator("#k").fill("1")
    expect(page.locator("#one-said")).to_have_text("1 candidate for Vín")
    assert page.url == f"{first.base}#{urlencode({'mention': 'Vín', 'k': 1, 'lam': 0})}"

    again = visit()
    again.page.goto(page.url)
    expect(again.page.locator("#one-said")).to_have_text("1 candidate for Vín")
    expect(again.page.locator("#lam")).to_have_value("0")
    assert entities(again.page) == ["Q1741"]

    again.page.locator("#index").select_option("two")
    expect(again.page.locator("#lam")).to_be_disabled()
    expect(again.page.locator("#about-index")).to_contain_text("lam is fixed")
    expect(again.page.locator("#candidates")).to_contain_text("first stage: prior")
    expected = candgen.load(indexes["two"]).candidates(["Vín"], 1)[0][0].entity
    assert entities(again.page) == [expected]


def shown_when(page, count):
    expect(page.locator("#candidates > li")).to_have_count(count)
    return shown(page)


def test_an_index_that_cannot_explain_still_answers(visit):
    page = visit().open(mention="Vín", index="priors")
    expect(page.locator("#one-said")).to_have_text("1 candidate for Vín")
    expect(page.locator("#candidates button")).to_have_count(0)
    expect(page.locator("#one-legend")).to_be_hidden()
    expect(page.locator("#one-keys")).to_contain_text("This index has no explanations.")
    expect(page.locator("#one-enter")).to_be_hidden()


def test_an_index_that_is_not_there_is_told(visit):
    page = visit().open(mention="Vín", index="nosuch")
    expect(page.locator("#about-index")).to_contain_text("Unknown index nosuch: showing toy.")
    expect(page.locator("#candidates > li")).to_have_count(3)
    page.locator("#index").select_option("two")
    expect(page.locator("#about-index")).not_to_contain_text("nosuch")


def test_names_and_descriptions_come_from_the_table_of_entities(visit):
    page = visit(locale="da-DK").open(mention="Vín", index="described")
    item = page.locator("#candidates > li[data-entity=Q1741]")
    expect(item.locator("h3 bdi")).to_have_text("Wien")
    expect(item.locator("h3 bdi")).to_have_attribute("lang", "da")
    expect(item.locator(".description")).to_contain_text("Østrigs hovedstad")


# ---------------------------------------------------------------- why


def test_chips_are_of_three_kinds_told_apart_without_colour(visit):
    page = visit().open(mention="Vínið", entity="Q584")
    why = page.locator("#candidates > li[data-entity=Q584] .why")
    chips = why.locator(".ngrams .chip")
    expect(chips).to_have_count(6)
    kinds = chips.evaluate_all(
        """chips => chips.map(chip => {
            const token = chip.querySelector(".token");
            return [token.textContent, getComputedStyle(chip).borderStyle,
                    getComputedStyle(token).textDecorationLine, chip.title];
        })"""
    )
    elsewhere = "weak, known from other entities only"
    assert kinds == [
        ["^v", "dashed", "none", elsewhere],
        ["vi", "dashed", "none", elsewhere],
        ["in", "solid", "none", "matched, adds 0.5, 100 % of the score"],
        ["ni", "solid", "line-through", "unknown to the index"],
        ["ið", "solid", "line-through", "unknown to the index"],
        ["ð$", "solid", "line-through", "unknown to the index"],
    ]
    borders = chips.evaluate_all("chips => chips.map(c => getComputedStyle(c).borderColor)")
    assert {re.sub(r"\s", "", each) for each in borders[3:]} == {"rgba(0,0,0,0)"}
    expect(why.locator(".chip-legend")).to_contain_text("1 matched")
    expect(why.locator(".chip-legend")).to_contain_text("2 weak")
    expect(why.locator(".chip-legend")).to_contain_text("3 unknown")
    expect(why.locator(".sources tbody tr")).to_have_count(1)
    expect(why.locator(".sources tbody tr")).to_contain_text("RínIcelandic is2")


def test_one_candidate_is_explained_at_a_time(page):
    ask(page, "Vín", 3)
    buttons = page.locator("#candidates button[aria-expanded]")
    expect(buttons.nth(0)).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#why-0 .chip.matched").first).to_be_visible()
    buttons.nth(1).click()
    expect(buttons.nth(0)).to_have_attribute("aria-expanded", "false")
    expect(page.locator("#why-0")).to_be_hidden()
    expect(page.locator("#why-1 .sources")).to_contain_text("Wien")
    assert "entity=Q1741" in page.url
    buttons.nth(1).click()
    expect(page.locator("#why-1")).to_be_hidden()
    assert "entity" not in page.url


def test_what_was_closed_stays_closed(page):
    ask(page, "Vín", 3)
    expect(page.locator(".why:visible")).to_have_count(1)
    page.locator("#candidates button").first.click()
    expect(page.locator(".why:visible")).to_have_count(0)
    ask(page, "Rín", 3)
    expect(page.locator(".why:visible")).to_have_count(0)
    page.locator("#candidates button").first.click()
    ask(page, "Vín", 3)
    expect(page.locator(".why:visible")).to_have_count(1)


def test_of_two_stages_both_are_explained(visit, base):
    page = visit().open(mention="Víni", index="two")
    why = page.locator("#why-0")
    expect(why.locator("h4")).to_have_text(
        ["The second stage: why it is at place 1", "The first stage: how it was found"]
    )
    entity = entities(page)[0]
    said = api(base, "explain", mention="Víni", entity=entity, index="two")
    expect(why.locator(".properties tbody tr")).to_have_count(len(said["properties"]))
    cells = why.locator("tbody td:last-child data").all()
    ahead = [float(each.get_attribute("value")) for each in cells]
    assert ahead == [each["ahead"] for each in said["properties"]]
    expect(why.locator(".edits")).to_contain_text("vin stays")
    expect(why.locator(".edits")).to_contain_text("i is added")
    expect(why).to_contain_text(f"Compared with {said['leader_name']} {said['leader']}")
    page.locator("#mention").fill("Vín")
    expect(why).to_contain_text("It has exactly this name: vin.")


# ---------------------------------------------------------------- what others have written


def test_html_in_names_and_ids_is_text(visit):
    hostile = visit()
    page = hostile.open(index="bad")
    ask(page, IMAGE, 3)
    assert set(entities(page)) == {IMAGE, SCRIPT, "Q1&x"}
    expect(page.locator("#candidates")).to_contain_text(f"name {IMAGE}")
    expect(page.locator("#candidates")).to_contain_text(f"said {SCRIPT}")
    expect(page.locator("#why-0 .sources")).to_contain_text(IMAGE)
    ask(page, f"{SCRIPT} vín", 3)
    expect(page.locator("#why-0 .sources")).to_contain_text(SCRIPT)
    for view in VIEWS[1:]:
        page.locator(f"[data-view={view}]").click()
        expect(page.locator(f"#{view}")).to_be_visible()
    page.locator("[data-view=list]").click()
    page.locator("#names").fill(f"{IMAGE}\n{SCRIPT}")
    page.locator("#list-start").click()
    expect(page.locator("#list-rows")).to_contain_text(IMAGE)
    expect(page.locator("#list-rows")).to_contain_text(SCRIPT)
    assert page.locator("main img, main script, body > script").count() == 0
    links = page.locator("a").evaluate_all("links => links.map(link => link.href)")
    assert all(link.startswith((hostile.base, "https://www.wikidata.org/wiki/Q")) for link in links)
    page.goto(f"{hostile.base}#mention={IMAGE}&index={SCRIPT}&with={IMAGE}&view={SCRIPT}&k={IMAGE}")
    expect(page.locator("#mention")).to_have_value(IMAGE)
    expect(page.locator("#index")).to_have_value("toy")


def test_scripts_that_run_from_right_to_left_do(visit):
    arabic = visit()
    page = arabic.open(index="ckb", mention="تاران")
    expect(page.locator("#candidates > li").first).to_have_attribute("data-entity", "Q3616")
    chips = page.locator("#why-0 .ngrams .chips").first
    expect(chips.locator(".chip").first).to_contain_text("^ت")

    def direction(where):
        return page.locator(where).first.evaluate("each => getComputedStyle(each).direction")

    assert direction("#mention") == "rtl"
    assert direction("#candidates h3 bdi") == "rtl"
    assert direction("#why-0 .sources th bdi") == "rtl"
    assert direction("#why-0 .ngrams .chips") == "rtl"
    assert direction("#candidates") == "ltr"
    boxes = [chips.locator(".chip").nth(place).bounding_box() for place in (0, 1)]
    assert boxes[0]["x"] > boxes[1]["x"]
    latin = page.locator("#why-0 .sources th bdi", has_text="Tehran")
    assert latin.evaluate("each => getComputedStyle(each).direction") == "ltr"
    arabic.shoot("rtl")


# ---------------------------------------------------------------- a list


NAMES = ["Vín", "", 'Vín, "rein"', "Oslo", "=1+2+vín", " Wien ", "x" * 201]


def test_a_list_becomes_a_table_and_files(visit, base):
    visitor = visit()
    page = visitor.open(view="list", index="described", k=2)
    page.locator("#list-start").click()
    expect(page.locator("#list-said")).to_have_text("The list is empty.")
    page.locator("#names").fill("\n".join(NAMES))
    page.locator("#list-start").click()
    expect(page.locator("#list-said")).to_have_text(
        "5 names processed. 1 line skipped: over 200 characters."
    )
    expect(page.locator("#list-caption")).to_have_text(
        "5 names, 4 with candidates in the index described"
    )
    rows = page.locator("#list-rows tr")
    assert [row.split("\t")[:2] for row in rows.all_inner_texts()] == [
        ["1", "Vín"],
        ["3", 'Vín, "rein"'],
        ["4", "Oslo"],
        ["5", "=1+2+vín"],
        ["6", "Wien"],
    ]
    expect(rows.nth(2)).to_contain_text("no candidates")
    visitor.shoot("list-toy")

    expected = [
        {
            "line": line,
            "mention": name,
            "candidates": api(
                base, "candidates", mention=name, k=2, index="described", details="true"
            )["candidates"],
        }
        for line, name in ((1, "Vín"), (3, NAMES[2]), (4, "Oslo"), (5, NAMES[4]), (6, "Wien"))
    ]
    with page.expect_download() as downloading:
        page.locator("#json").click()
    assert downloading.value.suggested_filename == "candidates.json"
    kept = json.loads(downloading.value.path().read_text(encoding="utf-8"))
    assert kept == {"index": "described", "k": 2, "results": expected}

    with page.expect_download() as downloading:
        page.locator("#csv").click()
    assert downloading.value.suggested_filename == "candidates.csv"
    assert list(read_csv(downloading.value.path())) == list(rows_of(expected))


def read_csv(path):
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")  # or Excel takes it for something else than UTF-8
    assert content.count(b"\r\n") == content.count(b"\n")
    return csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))


def rows_of(results):
    """The rows that a CSV file should have; a formula is one no more."""
    texts, numbers = (
        ("entity", "name", "language", "description"),
        ("probability", "score", "prior", "posterior"),
    )
    columns = (*texts, *numbers)
    for result in results:
        start = {"line": str(result["line"]), "mention": re.sub("^=", "'=", result["mention"])}
        if not result["candidates"]:
            yield {**start, **dict.fromkeys((*columns, "rank", "types"), "")}
        for rank, each in enumerate(result["candidates"], 1):
            yield {
                **start,
                "rank": str(rank),
                "types": "|".join(kind["id"] for kind in each["types"]),
                **{column: javascript(each[column]) for column in columns},
            }


def javascript(value):
    """A value as JavaScript writes it: 1.0 is 1."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def test_a_list_of_long_names_is_sent_within_the_limit_of_characters(visit):
    page = visit().open(view="list")
    sent = []
    page.on("request", lambda request: sent.append(request.post_data_json))
    page.locator("#names").fill("\n".join(each * 190 for each in "abc"))
    page.locator("#list-start").click()
    expect(page.locator("#list-said")).to_have_text("3 names processed.")
    assert [len(each["mentions"]) for each in sent if each] == [1, 1, 1]


def test_a_list_can_be_stopped_and_a_busy_service_is_asked_again(visit):
    page = visit().open(view="list")
    tries = []

    def busy_once(route):
        tries.append(route.request.post_data_json["mentions"])
        if len(tries) == 2:
            problem = {"title": "Busy", "status": 503, "detail": "too busy"}
            route.fulfill(status=503, headers={"Retry-After": "1"}, json=problem)
        elif len(tries) < 4:
            route.continue_()  # the fourth is left waiting

    page.route("**/api/v1/candidates", busy_once)
    page.locator("#names").fill("\n".join(f"Vín {n}" for n in range(8)))
    page.locator("#list-start").click()
    expect(page.locator("#list-said")).to_have_text("4 of 8 names")
    assert tries[1] == tries[2] == ["Vín 2", "Vín 3"]
    assert page.locator("#list-progress").evaluate("bar => [bar.value, bar.max]") == [4, 8]
    page.locator("#list-stop").click()
    expect(page.locator("#list-said")).to_have_text("Stopped after 4 of 8 names.")
    expect(page.locator("#list-rows tr")).to_have_count(4)


def test_a_list_goes_on_where_the_service_was_lost(visit):
    page = visit().open(view="list")
    tries = []

    def lost_once(route):
        tries.append(route.request.post_data_json["mentions"])
        if len(tries) == 2:
            route.abort()
        else:
            route.continue_()

    page.route("**/api/v1/candidates", lost_once)
    page.locator("#names").fill("\n".join(f"Vín {n}" for n in range(6)))
    page.locator("#list-start").click()
    expect(page.get_by_role("alert")).to_contain_text("The service cannot be reached")
    expect(page.locator("#list-said")).to_have_text("Stopped after 2 of 6 names.")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#list-said")).to_have_text("6 names processed.")
    expect(page.locator("#list-rows tr")).to_have_count(6)
    expect(page.get_by_role("alert")).to_be_hidden()
    assert tries == [[f"Vín {n}", f"Vín {n + 1}"] for n in (0, 2, 2, 4)]


# ---------------------------------------------------------------- compare, programs


def test_two_indexes_side_by_side(visit, indexes):
    visitor = visit()
    page = visitor.open(mention="Vín", view="compare", lam=0, **{"with": "two"})
    expect(page.locator(".side h3")).to_have_text(["toy, lam 0", "two"])
    expect(page.locator(".compared > li")).to_have_count(6)
    left, right = page.locator(".compared").nth(0), page.locator(".compared").nth(1)
    assert entities(page, ".compared >> nth=0") == ["Q1741", "Q282", "Q584"]
    expected = [each.entity for each in candgen.load(indexes["two"]).candidates(["Vín"], 10)[0]]
    assert entities(page, ".compared >> nth=1") == expected
    place = expected.index("Q1741") + 1
    expect(left.locator("li").first).to_contain_text(f"▲ {place} in the other")
    expect(right.locator("li[data-entity=Q584]")).to_contain_text("= same place in both")
    expect(page.locator("#compare-said")).to_contain_text("3 and 3 candidates, 3 in both.")
    boxes = [each.bounding_box() for each in (left, right)]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]

    page.locator("#with").select_option("toy")
    page.locator("#withlam").fill("1")
    expect(page.locator(".side h3").nth(1)).to_have_text("toy, lam 1")
    expect(right.locator("li").first).to_have_attribute("data-entity", "Q282")
    page.locator("#with").select_option("priors")
    expect(page.locator("#compare-said")).to_contain_text("3 and 1 candidate, 1 in both.")
    assert "with=priors" in page.url
    page.locator("#mention").fill("Rín")
    expect(page.locator("#compare-said")).to_have_text("Only one index has candidates.")
    page.locator("#mention").fill("Oslo")
    expect(page.locator("#compare-said")).to_have_text("No candidates in either index.")
    same = page.locator("#compare-one")
    expect(same).to_be_hidden()
    page.locator("#with").select_option("toy")
    page.locator("#withlam").fill("0")
    expect(page.locator(".side h3").nth(1)).to_have_text("toy, lam 0")  # nothing is asked later
    expect(same).to_be_visible()
    page.route("**/api/v1/candidates?*", lambda route: route.abort())
    page.locator("#mention").fill("Vín")
    expect(page.get_by_role("alert")).to_contain_text("The service cannot be reached")
    page.unroute("**/api/v1/candidates?*")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#compare-said")).to_contain_text("3 and 3 candidates")


AWKWARD = """Vín 'a' "b" $HOME `id` \\n <b> & ñ"""


def test_lines_to_copy_work(visit, base, tmp_path):
    visitor = visit(permissions=["clipboard-read", "clipboard-write"])
    page = visitor.open(view="programs", mention=AWKWARD, k=2, lam=0.5, index="described")
    expect(page.locator("#curl")).to_contain_text("curl")
    expected = api(
        base, "candidates", mention=AWKWARD, k=2, lam=0.5, index="described", details="true"
    )

    copied = copy(page, "curl")
    assert copied == page.locator("#curl").text_content()
    done = subprocess.run(["bash", "-c", copied], capture_output=True, check=True)
    assert json.loads(done.stdout) == expected

    script = tmp_path / "ask.py"
    script.write_text(copy(page, "python"), encoding="utf-8")
    done = subprocess.run([sys.executable, "-X", "utf8", script], capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == [
        "\t".join([AWKWARD, each["entity"], each["name"], str(each["probability"])])
        for each in expected["candidates"]
    ]

    with urllib.request.urlopen(copy(page, "openrefine")) as answer:
        assert json.load(answer)["versions"] == ["0.2"]
    visitor.shoot("programs-toy")


def copy(page, what):
    page.evaluate("navigator.clipboard.writeText('')")
    page.locator(f"[data-copy={what}]").click()
    expect(page.locator("#copied")).to_contain_text("copied")
    return page.evaluate("navigator.clipboard.readText()")


# ---------------------------------------------------------------- by keyboard, by ear, on a phone


def test_everything_is_reached_by_keyboard(page):
    def focused(script):
        return page.evaluate(f"(each => {script})(document.activeElement)")

    assert focused("each.id") == "mention"
    page.keyboard.type("Vín")
    expect(page.locator("#one-said")).to_have_text("3 candidates for Vín")
    page.keyboard.press("ArrowDown")
    assert focused("each.closest('li').dataset.entity") == "Q282"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#why-1 .sources")).to_be_visible()
    page.keyboard.press("Tab")
    assert focused("each.getAttribute('href')") == "https://www.wikidata.org/wiki/Q1741"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("End")
    assert focused("each.closest('li').dataset.entity") == "Q584"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    assert focused("each.id") == "mention"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    assert focused("each.id") == "mention"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#compare")).to_be_visible()
    assert focused("each.getAttribute('aria-current')") == "page"
    outline = focused("getComputedStyle(each).outlineStyle + getComputedStyle(each).outlineWidth")
    assert outline == "solid3px"
    for _ in range(3):
        page.keyboard.press("Shift+Tab")
    assert focused("each.id") == "skip"
    page.keyboard.press("Enter")
    assert focused("each.id") == "main"
    assert "view=compare" in page.url


NAMELESS = """() => {
  const visible = (each) => each.checkVisibility() && !each.closest("[hidden]");
  const named = (each) => each.labels?.length || each.ariaLabel || each.textContent.trim()
    || each.getAttribute("aria-labelledby");
  const controls = "a, button, input, select, textarea, progress, [role=region], [tabindex]";
  return [...document.querySelectorAll(controls)]
    .filter((each) => visible(each) && each.id !== "main" && !named(each))
    .map((each) => each.outerHTML);
}"""

UNREADABLE = """() => {
  const channel = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) =>
    0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (each) => {
    for (; each; each = each.parentElement) {
      const color = parse(getComputedStyle(each).backgroundColor);
      if (color[3] !== 0) return color;
    }
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const each = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !each.checkVisibility()) continue;
    if (each.closest(".unseen, script, :disabled, .skip, noscript")) continue;
    const pair = [light(parse(getComputedStyle(each).color)), light(behind(each))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < 4.5) found.push([walker.currentNode.data, ratio]);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_can_be_read_heard_and_held(visit, scheme):
    visitor = visit(color_scheme=scheme)
    page = visitor.open(mention="Vínið", index="two")
    expect(page.locator("#why-0 .sources")).to_be_visible()
    for view in VIEWS:
        page.locator(f"[data-view={view}]").click()
        expect(page.locator(f"#{view}")).to_be_visible()
        if view == "list":
            page.locator("#names").fill("Vín\nVínið\nOslo")
            page.locator("#list-start").click()
            expect(page.locator("#list-rows tr")).to_have_count(3)
        if view == "compare":
            expect(page.locator(".compared > li")).to_have_count(6)
        for width in (360, 1100):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, view
            visitor.shoot(f"{view}-{scheme}-{width}")
        assert page.evaluate(NAMELESS) == []
        assert page.evaluate(UNREADABLE) == []
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert paper == {"light": "rgb(246, 245, 241)", "dark": "rgb(20, 23, 26)"}[scheme]


def test_the_page_has_the_structure_that_screen_readers_read(page):
    ask(page, "Vín", 3)
    expect(page.locator("#why-0 .sources")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "en"
    assert [page.locator(each).count() for each in ("h1", "main", "header", "nav")] == [1] * 4
    levels = page.locator("h1, h2, h3, h4, h5").evaluate_all(
        "all => all.filter(each => each.checkVisibility()).map(each => Number(each.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = page.locator("[id]").evaluate_all("all => all.map(each => each.id)")
    assert len(ids) == len(set(ids))
    pointed = page.locator("[aria-labelledby], [aria-describedby], [aria-controls]").evaluate_all(
        """all => all.flatMap(each => ["labelledby", "describedby", "controls"].flatMap(
            kind => each.getAttribute(`aria-${kind}`)?.split(" ") ?? []))"""
    )
    assert set(pointed) <= set(ids)
    assert page.locator("th:not([scope])").count() == 0
    expect(page.get_by_role("status").filter(has_text="3 candidates for Vín")).to_be_visible()


# ---------------------------------------------------------------- when something is wrong


def test_what_is_wrong_is_said_in_the_words_of_the_service(visit):
    visitor = visit()
    page = visitor.open(mention="Vín", k=51)
    alert = page.get_by_role("alert")
    expect(alert).to_have_text("k is 51: this service allows at most 50")
    page.locator("#mention").fill("")
    expect(alert).to_be_hidden()
    page.locator("#mention").fill("Vín")
    expect(alert).to_be_visible()
    page.locator("#k").fill("3")
    expect(alert).to_be_hidden()
    expect(page.locator("#candidates > li")).to_have_count(3)
    page.locator("#k").fill("2e0")
    expect(page.locator("#candidates > li")).to_have_count(2)
    page.locator("#k").fill("3")

    problem = {"title": "Busy", "status": 503, "detail": "more than 64 concurrent requests"}
    page.route("**/api/v1/candidates?*", lambda route: route.fulfill(status=503, json=problem))
    page.locator("#mention").fill("Wien")
    expect(alert).to_contain_text("more than 64 concurrent requests")
    expect(page.locator("#candidates > li")).to_have_count(0)
    visitor.shoot("busy")
    page.unroute("**/api/v1/candidates?*")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#one-said")).to_contain_text("for Wien")

    page.route("**/api/v1/candidates?*", lambda route: route.abort())
    page.locator("#mention").fill("Rín")
    expect(alert).to_contain_text("The service cannot be reached")


def test_a_key_is_asked_for_kept_for_the_tab_and_sent(visit, indexes):
    with serving({"toy": indexes["toy"]}, key=KEY, log=False) as base:
        visitor = visit(base=base)
        page = visitor.page
        page.goto(f"{base}#mention=Vín")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("API key required")
        assert page.locator("#key").get_attribute("type") == "password"
        visitor.shoot("key")
        page.locator("#key").fill("wrong")
        page.keyboard.press("Enter")
        expect(dialog).to_contain_text("Wrong API key.")
        page.keyboard.press("Escape")
        expect(page.get_by_role("alert").first).to_contain_text("This service requires an API key")
        page.get_by_role("button", name="Try again").click()
        page.locator("#key").fill(KEY)
        page.get_by_role("button", name="Use this key").click()
        expect(page.locator("#one-said")).to_have_text("3 candidates for Vín")
        expect(dialog).to_be_hidden()
        page.reload()
        expect(page.locator("#one-said")).to_have_text("3 candidates for Vín")
        assert KEY not in page.url + page.content()
        assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
        page.locator("[data-view=programs]").click()
        expect(page.locator("#curl")).not_to_be_empty()  # it is filled after the click
        line = page.locator("#curl").text_content()
        environment = {**os.environ, "CANDGEN_API_KEY": KEY}
        done = subprocess.run(["bash", "-c", line], capture_output=True, env=environment)
        assert len(json.loads(done.stdout)["candidates"]) == 3
        expect(page.locator("#openrefine-key")).to_be_visible()
        page.goto("about:blank")
        visitor.check = lambda: None  # its service is gone; it contacted no other host:
        assert all(url.startswith((base, "about:")) for url in visitor.requests)
        assert visitor.complaints == []


def test_the_page_is_made_of_files_that_are_served_and_write_no_html():
    assert {each.name for each in FOLDER.iterdir()} == {"index.html", *PAGE_FILES}
    code = "".join(each.read_text(encoding="utf-8") for each in sorted(FOLDER.glob("*.js")))
    unsafe = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|setHTML"
    assert re.findall(unsafe, code) == []
    html = (FOLDER / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"\sstyle=|<style|\son[a-z]+=|https?://", html) == []
