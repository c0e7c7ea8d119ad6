"""The Reconciliation API: what clients send is understood, what they get is what the specification
says."""

import json
from functools import cache

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from starlette.testclient import TestClient

import candgen
from candgen.generators.calibration import Calibration
from candgen.service.app import create_app
from candgen.service.settings import Limits, Settings, name_indexes
from candgen.tables.entities import EntityTable
from tests.support.service_world import problem_detail, save_toy, toy_index

VIENNA = {"id": "Q515", "name": "city"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    save_toy(folder / "described.candgen", described=True)
    save_toy(folder / "bare.candgen")
    save_toy(folder / "two.candgen", second_stage=True, described=True)
    hostile = candgen.MentionTable.from_pairs(
        [("<img src=x onerror=alert(1)>", 'x:"<b>&'), ("Vín", "x:2"), ("\u2028</script>", "x:3")]
    )
    candgen.PivotTokenIndex.build({"is": hostile}).save(folder / "hostile.candgen")
    return folder


@pytest.fixture(scope="module")
def client(folder):
    names = [str(folder / f"{name}.candgen") for name in ("described", "bare", "two", "hostile")]
    with TestClient(create_app(Settings(name_indexes(names)))) as client:
        yield client


@pytest.fixture(scope="module")
def valid(shared_data):
    """``valid("manifest", value)`` checks a value against a schema of the specification."""
    folder = shared_data.parent / "schemas" / "reconciliation-0.2"
    if not folder.is_dir():
        pytest.skip(f"the schemas of the Reconciliation API are not here: {folder}")
    jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema")
    referencing = pytest.importorskip("referencing", reason="needs referencing")
    from referencing.jsonschema import DRAFT7

    schemas = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")
    }
    registry = referencing.Registry().with_resources(
        (schema["$id"], DRAFT7.create_resource(schema)) for schema in schemas.values()
    )

    @cache
    def validator(name):
        return jsonschema.Draft7Validator(schemas[name], registry=registry)

    return lambda name, value: validator(name).validate(value)


def ask(client, queries, index="", **more):
    form = {"queries": json.dumps(queries), **more.pop("form", {})}
    answer = client.post(f"/reconcile{index}", data=form, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def one(client, query, index="", **more):
    return ask(client, {"q": query}, index, **more)["q"]["result"]


def ids(results):
    return [each["id"] for each in results]


def problem(answer, status):
    assert answer.headers["access-control-allow-origin"] == "*"
    return problem_detail(answer, status)


# Examples of our own, without the specification's schemas


def test_a_batch(client):
    found = ask(
        client, {"a": {"query": "Vín", "limit": 2}, "b": {"query": "Oslo"}, "": {"query": ""}}
    )
    assert list(found) == ["a", "b", ""]
    assert found["b"] == found[""] == {"result": []}
    wine, vienna = found["a"]["result"]
    assert (wine["id"], wine["name"], wine["description"]) == ("Q282", "wine", "alcoholic drink")
    assert vienna["type"] == [{"id": "Q1549591", "name": "Q1549591"}, VIENNA]
    assert isinstance(wine["match"], bool)
    assert 100 >= wine["score"] > vienna["score"] >= 0
    features = {each["id"]: each["value"] for each in wine["features"]}
    explanation = toy_index().explain("Vín", "Q282")
    assert features["prior"] == explanation.prior
    assert features["posterior"] == explanation.posterior
    assert features["language:is"] == explanation.languages["is"]
    assert features["score"] == pytest.approx(explanation.score)


def test_the_score_is_the_probability_whatever_the_limit(client, folder):
    answer = toy_index().candidates(["Vín"], 30)[0]
    chances = Calibration.load(folder / "described.candgen").probabilities("Vín", answer)
    for limit in (1, 2, 3, 50):
        scores = [each["score"] for each in one(client, {"query": "Vín", "limit": limit})]
        assert scores == [round(100 * chance, 4) for chance in chances[:limit]]


@pytest.mark.parametrize("index", ["", "/described", "/bare", "/two"])
def test_every_index_has_an_address(client, index):
    assert ids(one(client, {"query": "Vín"}, index))[0] == "Q282"
    manifest = client.get(f"/reconcile{index}").json()
    assert manifest["versions"] == ["0.2"]
    assert manifest["preview"]["url"] == f"http://testserver/reconcile{index}/preview?id={{{{id}}}}"
    assert manifest["view"]["url"] == "https://www.wikidata.org/wiki/{{id}}"
    assert manifest["identifierSpace"] == "http://www.wikidata.org/entity/"
    assert manifest["defaultTypes"] == [{"id": "Q35120", "name": "entity"}]
    assert manifest["batchSize"] == 50


def test_queries_by_get_post_and_jsonp(client):
    queries = json.dumps({"q0": {"query": "Vínið"}})
    posted = client.post("/reconcile", data={"queries": queries}).json()
    got = client.get("/reconcile", params={"queries": queries})
    assert got.json() == posted
    called = client.get("/reconcile", params={"queries": queries, "callback": "jQuery_12.x$"})
    assert called.headers["content-type"].startswith("application/javascript")
    text = called.text.removeprefix("/**/jQuery_12.x$(").removesuffix(");")
    assert json.loads(text) == posted
    for callback in ("alert(1)//", "", "a b", "<script>", "a" * 200, "1a"):
        answer = client.get("/reconcile", params={"queries": queries, "callback": callback})
        assert "callback" in problem(answer, 400)


def test_the_address_of_the_page_answers_as_well(client):
    """Who pastes it into OpenRefine has done nothing wrong."""
    queries = {"queries": json.dumps({"q0": {"query": "Vínið"}})}
    expected = client.post("/reconcile", data=queries).json()
    assert expected["q0"]["result"]
    for answer in (client.post("/", data=queries), client.get("/", params=queries)):
        assert answer.json() == expected
        assert answer.headers["access-control-allow-origin"] == "*"
    called = client.get("/", params={**queries, "callback": "f"})
    assert called.text.startswith("/**/f(")
    assert client.post("/").json() == client.get("/reconcile").json()
    assert "not JSON" in problem(client.post("/", data={"queries": "{"}), 400)


def test_separators_of_lines_are_escaped_in_jsonp(client):
    params = {"queries": json.dumps({"q": {"query": "\u2028</script>"}}), "callback": "f"}
    called = client.get("/reconcile/hostile", params=params)
    assert "\u2028" not in called.text
    assert "\\u2028" in called.text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"query": "Vín", "type": "Q515"}, ["Q1741"]),
        ({"query": "Vín", "type": ["Q515", "Q154"]}, ["Q282", "Q1741"]),
        ({"query": "Vín", "type": ["Q515", "Q1549591"], "type_strict": "all"}, ["Q1741"]),
        ({"query": "Vín", "type": ["Q515", "Q154"], "type_strict": "all"}, []),
        ({"query": "Vín", "type": ["Q515"], "type_strict": "should"}, ["Q1741", "Q282", "Q584"]),
        ({"query": "Vín", "type": "Q35120"}, ["Q282", "Q1741", "Q584"]),
        ({"query": "Vín", "type": "Q0"}, []),
        ({"query": "Vín", "type": []}, ["Q282", "Q1741", "Q584"]),
        ({"query": "Vín", "type": None}, ["Q282", "Q1741", "Q584"]),
        ({"query": "Vín", "properties": [{"pid": "P17", "v": "x"}]}, ["Q282", "Q1741", "Q584"]),
        ({"properties": [{"pid": "P17", "v": "x"}]}, []),
        ({"query": "Vín", "limit": 2.0}, ["Q282", "Q1741"]),
        ({"query": "Vín", "limit": 0}, ["Q282", "Q1741", "Q584"]),
    ],
)
def test_types_and_limits_are_honoured(client, query, expected):
    assert ids(one(client, query)) == expected


def test_a_type_that_is_preferred_takes_from_the_others(client):
    def scores(**more):
        return {each["id"]: each["score"] for each in one(client, {"query": "Vín", **more})}

    plain, preferred = scores(), scores(type="Q515", type_strict="should")
    assert preferred["Q1741"] > plain["Q1741"]
    assert preferred["Q282"] < plain["Q282"]
    assert preferred["Q584"] > plain["Q584"]  # its type is unknown, so it may be this one
    assert sum(preferred.values()) <= 100


def test_a_rare_type_is_found_far_down(tmp_path):
    """Of 200 entities that are all called almost the same, one is a city, and not among the 30."""
    names = [(f"Havn {number:03}", f"Q{number + 1}") for number in range(200)]
    path = tmp_path / "fo.candgen"
    index = candgen.PivotTokenIndex.build({"is": candgen.MentionTable.from_pairs(names)})
    index.save(path)
    last = index.candidates(["Havn 007"], 1000)[0][150].entity
    EntityTable.from_rows([(last, "en", "the city", "", ["Q515"])]).store(path)
    with TestClient(create_app(Settings({"fo": str(path)}))) as client:
        assert ids(one(client, {"query": "Havn 007", "type": "Q515"})) == [last]


def test_a_match_is_likely_and_alone(tmp_path):
    twins = [("Vín", "Q1"), ("Vín", "Q2"), ("Tórshavn", "Q3")]
    path = tmp_path / "fo.candgen"
    candgen.PivotTokenIndex.build({"is": candgen.MentionTable.from_pairs(twins)}).save(path)

    def matches(query, match):
        app = create_app(Settings({"fo": str(path)}, match_threshold=match))
        with TestClient(app) as client:
            return [each["match"] for each in one(client, {"query": query})]

    assert matches("Tórshavn", 0.5) == [True, False, False]
    assert matches("Tórshavn", 1.0) == [False, False, False]
    assert matches("Vín", 0.0) == [False, False, False]  # equally likely: neither is ahead


def test_names_are_in_the_language_of_the_client(client):
    def name(language, index=""):
        headers = {"Accept-Language": language}
        return one(client, {"query": "Wien", "limit": 1}, index, headers=headers)[0]["name"]

    assert [name("da"), name("en"), name("is, da;q=0.5")] == ["Wien", "Vienna", "Wien"]
    assert [name("is", "/bare"), name("fo", "/bare")] == ["Vín", "Wien"]


def test_entities_are_suggested_by_name_and_by_id(client):
    found = client.get("/reconcile/suggest/entity", params={"prefix": "Vín"}).json()["result"]
    assert ids(found)[0] == "Q282"
    assert found[0]["notable"] == [{"id": "Q154", "name": "Q154"}]
    by_id = client.get("/reconcile/suggest/entity", params={"prefix": "Q1741"}).json()["result"]
    assert ids(by_id)[0] == "Q1741"
    more = client.get("/reconcile/suggest/entity", params={"prefix": "Vín", "cursor": 1}).json()
    assert ids(more["result"]) == ids(found)[1:]
    assert client.get("/reconcile/suggest/entity").json() == {"result": []}
    typed = client.get("/reconcile/suggest/entity", params={"prefix": "Vín", "type": "Q515"}).json()
    assert ids(typed["result"]) == ["Q1741"]


def test_types_are_suggested(client):
    def suggested(prefix, **headers):
        answer = client.get("/reconcile/suggest/type", params={"prefix": prefix}, headers=headers)
        return answer.json()["result"]

    assert suggested("ci") == [VIENNA]
    assert suggested("BY", **{"Accept-Language": "da"}) == [{"id": "Q515", "name": "by"}]
    assert ids(suggested("")) == ["Q35120", "Q154", "Q1549591", "Q515"]
    assert ids(suggested("q15")) == ["Q154", "Q1549591"]
    assert client.get("/reconcile/bare/suggest/type").json()["result"] == [
        {"id": "Q35120", "name": "entity"}
    ]


def test_previews_are_small_pages(client):
    answer = client.get("/reconcile/preview", params={"id": "Q1741"})
    assert answer.headers["content-type"].startswith("text/html")
    assert "frame-ancestors *" in answer.headers["content-security-policy"]
    for said in ("Vienna", "capital of Austria", "city", "wikidata.org/wiki/Q1741", "Wien"):
        assert said in answer.text
    piece = client.get("/reconcile/flyout", params={"id": "Q1741"}).json()
    assert piece["id"] == "Q1741"
    assert "Vienna" in piece["html"]
    assert "unknown entity 'Q0'" in problem(
        client.get("/reconcile/preview", params={"id": "Q0"}), 404
    )
    assert problem(client.get("/reconcile/flyout"), 404)


def test_what_is_in_names_and_ids_is_text(client):
    found = one(client, {"query": "<img src=x onerror=alert(1)>"}, "/hostile")
    assert found[0]["id"] == 'x:"<b>&'
    page = client.get("/reconcile/hostile/preview", params={"id": 'x:"<b>&'}).text
    assert "<img" not in page
    assert "<b>" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    manifest = client.get("/reconcile/hostile").json()
    assert manifest["defaultTypes"] == [{"id": "entity", "name": "entity"}]
    assert manifest["view"]["url"].startswith("http://testserver/reconcile/hostile/preview")


def test_the_address_of_the_service(client, folder):
    assert "--allowed-host" in problem(client.get("/reconcile", headers={"Host": "a.example"}), 421)
    settings = Settings({"fo": str(folder / "bare.candgen")}, allowed_hosts=("names.example",))
    with TestClient(create_app(settings)) as named:
        odd = named.get("/reconcile", headers={"Host": "names.example:8443"}).json()
    assert odd["preview"]["url"].startswith("http://names.example:8443/reconcile/preview")
    for host in ("evil/../x", "a b", "<script>", ""):
        assert "Host" in problem(client.get("/reconcile", headers={"Host": host}), 400)
    settings = Settings({"fo": str(folder / "bare.candgen")}, url="https://names.example/fo/")
    with TestClient(create_app(settings)) as behind:
        urls = behind.get("/reconcile").json()
        assert urls["suggest"]["entity"]["service_url"] == "https://names.example/fo/reconcile"


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ("", "queries is not JSON"),
        ("{", "queries is not JSON"),
        ("[" * 100_000, "queries is not JSON"),
        ("[]", "not a JSON object"),
        ('{"q": 1}', "query 'q' is not a JSON object"),
        ('{"q": {"query": 1}}', "expected valid text"),
        ('{"q": {"query": "\\ud800"}}', "expected valid text"),
        ('{"\\ud800": {"query": "a"}}', "expected valid text"),
        ('{"q": {"query": "a", "limit": "b"}}', "limit"),
        ('{"q": {"query": "a", "limit": -1}}', "limit"),
        ('{"q": {"query": "a", "limit": NaN}}', "limit"),
        ('{"q": {"query": "a", "type": 1}}', "type"),
        ('{"q": {"query": "a", "type": [1]}}', "type"),
        ('{"q": {"query": "a", "type_strict": "none"}}', "type_strict"),
    ],
)
def test_bad_batches_are_told_what_is_wrong(client, queries, said):
    assert said in problem(client.post("/reconcile", data={"queries": queries}), 400)


def test_other_bad_requests(client, folder):
    assert "unknown index 'nothing'" in problem(client.get("/reconcile/nothing"), 404)
    assert "batch" in problem(client.get("/reconcile", params={"query": "Vín"}), 400)
    assert "batch" in problem(client.get("/reconcile", params={"extend": "{}"}), 400)
    assert "form" in problem(client.post("/reconcile", json={"queries": {}}), 415)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert "UTF-8" in problem(client.post("/reconcile", content=b"queries=\xff", headers=form), 400)
    assert "UTF-8" in problem(client.post("/reconcile", content=b"queries=%ff", headers=form), 400)
    cursor = {"prefix": "a", "cursor": "x"}
    assert "cursor" in problem(client.get("/reconcile/suggest/entity", params=cursor), 400)
    settings = Settings({"fo": str(folder / "bare.candgen")}, Limits(batch=2, mention=5))
    with TestClient(create_app(settings)) as small:
        many = json.dumps({f"q{n}": {"query": "a"} for n in range(3)})
        assert "the number of queries is 3" in problem(
            small.post("/reconcile", data={"queries": many}), 422
        )
        mixed = {"long": {"query": "a" * 6}, "short": {"query": "Vín"}}
        found = ask(small, mixed)  # a cell that is too long must not affect the other rows
        assert found["long"] == {"result": []}
        assert ids(found["short"]["result"])[0] == "Q282"
        prefix = {"prefix": "a" * 6}
        said = problem(small.get("/reconcile/suggest/entity", params=prefix), 422)
        assert said == "the length of prefix is 6: this service allows at most 5"


# The schemas of the specification

QUERIES = {
    "q0": {"query": "Vín"},
    "q1": {"query": "Vín", "type": "Q515", "limit": 1},
    "q2": {"query": "Wien", "type": ["Q515", "Q154"], "type_strict": "should"},
    "q3": {"query": "Oslo", "properties": [{"pid": "P17", "v": {"id": "Q20"}}]},
    "q4": {"query": ""},
}


@pytest.mark.parametrize("index", ["", "/bare", "/two", "/hostile"])
def test_every_response_is_valid(client, valid, index):
    valid("reconciliation-query-batch", QUERIES)
    valid("manifest", client.get(f"/reconcile{index}").json())
    valid("reconciliation-result-batch", ask(client, QUERIES, index))
    for prefix in ("Vín", "Q1741", "", "<"):
        params = {"prefix": prefix}
        entities = client.get(f"/reconcile{index}/suggest/entity", params=params).json()
        valid("suggest-entities-response", entities)
        types = client.get(f"/reconcile{index}/suggest/type", params=params).json()
        valid("suggest-types-response", types)


def test_a_manifest_that_wants_a_key_is_valid(folder, valid):
    settings = Settings({"fo": str(folder / "bare.candgen")}, key="open-sesame")
    with TestClient(create_app(settings)) as client:
        manifest = client.get("/reconcile", headers={"X-API-Key": "open-sesame"}).json()
    assert manifest["authentication"]["in"] == "header"
    valid("manifest", manifest)


def test_a_wrong_answer_is_not_valid(valid):
    import jsonschema

    with pytest.raises(jsonschema.ValidationError):
        valid("reconciliation-result-batch", {"q": {"result": [{"id": "Q1", "name": "x"}]}})
    with pytest.raises(jsonschema.ValidationError):
        valid(
            "manifest", {"versions": ["0.1"], "name": "", "identifierSpace": "", "schemaSpace": ""}
        )
