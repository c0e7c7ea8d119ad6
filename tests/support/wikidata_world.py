"""A small dump in the format of Wikidata's, with everything odd in it, and a naive reader of it."""

import json

from candgen.wikidata.names import PAGE_CLASSES

WIKIS = {"fo": "fowiki", "is": "iswiki", "en": "enwiki", "no": "nowiki"}
LABELS = {"fo": "fo", "is": "is", "en": "en", "no": "nb"}


def texts(**values):
    return {code: {"language": code, "value": value} for code, value in values.items()}


def several(**values):
    return {
        code: [{"language": code, "value": each} for each in listed]
        for code, listed in values.items()
    }


def pages(**values):
    return {site: {"site": site, "title": t, "badges": []} for site, t in values.items()}


def statement(value, *, rank="normal", snaktype="value"):
    snak = {"snaktype": snaktype, "property": "P31", "datatype": "wikibase-item"}
    if snaktype == "value":
        snak["datavalue"] = {"value": value, "type": "wikibase-entityid"}
    return {"mainsnak": snak, "type": "statement", "rank": rank}


def instance_of(*numbers, **how):
    values = ({"entity-type": "item", "numeric-id": n, "id": f"Q{n}"} for n in numbers)
    return {"P31": [statement(value, **how) for value in values]}


def item(number, **fields):
    return {"type": "item", "id": f"Q{number}", **fields}


TORSHAVN = item(
    10704,
    labels=texts(fo="Tórshavn", en="Tórshavn", nb="Torshavn"),
    descriptions=texts(fo="høvuðsstaður í Føroyum"),
    aliases=several(fo=["Havnin", "Havn"], en=["Thorshavn", "Tórshavn"]),
    sitelinks=pages(fowiki="Tórshavn", enwiki="Tórshavn", iswiki="Þórshöfn (Færeyjum)"),
    claims=instance_of(515, 5119),
    modified="2024-05-01T10:20:30Z",
)
PARIS = item(
    167646,
    labels=texts(en="Paris", mul="Paris"),
    sitelinks=pages(enwiki="Paris (mythology)"),
    claims={
        "P31": [
            statement({"numeric-id": 95074}),  # as older dumps have it
            *instance_of(4271324, rank="preferred")["P31"],
            *instance_of(4167410, rank="deprecated")["P31"],
            statement(None, snaktype="somevalue"),
            statement(None, snaktype="novalue"),
            {"rank": "normal"},
        ]
    },
    modified="2023-01-01T00:00:00Z",
)
EMPTY = item(3, labels=[], descriptions=[], aliases=[], sitelinks=[], claims=[])
BARE = {"id": "Q4", "labels": texts(fo="Ber")}
ONLY_MUL = item(5, labels=texts(mul="Niels Bohr"), aliases=several(mul=["N. Bohr"]))
ONLY_ALIAS = item(6, aliases=several(fo=["  tvey \u00a0 orð\n"]), labels=texts(de="zwei"))
PAGE = item(7, labels=texts(fo="Havn"), claims=instance_of(4167410))
ODD_TEXTS = item(
    8,
    labels={"fo": {"language": "fo"}, "is": "texti", "en": {"value": " \t "}},
    aliases={"fo": [{"value": 7}, {"value": "gott"}, None], "en": {"value": "ein"}},
    sitelinks={"fowiki": {"site": "fowiki"}, "iswiki": []},
)
SURROGATE = b'{"type":"item","id":"Q9","labels":{"fo":{"value":"\\ud800x"},"is":{"value":"ja"}}}'
ESCAPED = b'{"type":"item","id":"Q10","labels":{"fo":{"value":"T\\u00f3rur \\ud83d\\ude00"}}}'
FULL = [
    TORSHAVN,
    PARIS,
    EMPTY,
    BARE,
    ONLY_MUL,
    ONLY_ALIAS,
    PAGE,
    ODD_TEXTS,
    item(12, labels=texts(fo="Havn"), claims=instance_of(5)),
]
OTHERS = [
    {"type": "property", "id": "P31", "labels": texts(fo="er")},
    {"type": "lexeme", "id": "L1", "lemmas": texts(fo="havn")},
    {"type": "mediainfo", "id": "M1", "labels": texts(fo="mynd")},
    {"entity": "Q11", "redirect": "Q10704"},
]
BAD = [
    b'{"type":"item","id":"Q13","labels":{"fo":{"value":"\xff"}}}',
    b'{"type":"item","id":"Q14","labels":{"fo":',
    b'{"type":"item","id":"Q15","labels":"Havn"}',
    b'{"type":"item","id":"Torshavn"}',
    b"[" * 100_000,
    b"17",
]


def encoded(entity):
    if isinstance(entity, bytes):
        return entity
    return json.dumps(entity, ensure_ascii=False, separators=(",", ":")).encode()


def dump_of(entities, *, end=b"\n", closed=True):
    text = b"[" + end + (b"," + end).join(map(encoded, entities))
    return text + end + b"]" + end if closed else text


def all_kinds():
    """Everything, with a line end of each kind and lines that have nothing."""
    good = [*FULL[:4], *OTHERS, *FULL[4:], SURROGATE, ESCAPED]
    lines = dump_of(good).split(b"\n")
    lines[3:3] = [b"", b"  \r", *(bad + b"," for bad in BAD[:3])]
    lines[-2:-2] = [b",", *(bad + b"," for bad in BAD[3:])]
    lines[2] += b"\r"
    return b"\n".join(lines)


def naive(text, languages, *, kinds=("label", "alias", "title")):
    """The names and what to show, read with dictionaries, and without any of our functions."""
    names, shown = {}, {}
    for line in text.split(b"\n"):
        try:
            entity = json.loads(line.strip().rstrip(b","))
        except (ValueError, RecursionError):
            continue
        if not isinstance(entity, dict) or entity.get("type", "item") != "item":
            continue
        if "redirect" in entity or not str(entity.get("id", "x"))[1:].isdigit():
            continue
        if isinstance(entity.get("labels"), str):
            continue
        classes = naive_classes(entity)
        if classes & set(PAGE_CLASSES):
            continue
        for language in [*languages, "mul"]:
            found = naive_names(entity, language)
            first = [*found["label"], *found["title"], *found["alias"]][:1]
            if language == "mul":
                first = found["label"]
            else:
                for kind in kinds:
                    for name in found[kind]:
                        key = (language, name, entity["id"])
                        names.setdefault(key, set()).add(kind)
            for name in first:
                description = naive_text((entity.get("descriptions") or {}).get(key_of(language)))
                shown[entity["id"], language] = (
                    name,
                    description[0] if description else None,
                    classes,
                    len(entity.get("sitelinks") or {}),
                )
    return {key: len(found) for key, found in names.items()}, shown


def key_of(language):
    return LABELS.get(language, language)


def naive_names(entity, language):
    key = key_of(language)
    titles = naive_text((entity.get("sitelinks") or {}).get(WIKIS.get(language)), "title")
    return {
        "label": naive_text((entity.get("labels") or {}).get(key)),
        "alias": naive_text((entity.get("aliases") or {}).get(key)),
        "title": [t[: t.index(" (")] if t.endswith(")") and " (" in t else t for t in titles],
    }


def naive_text(found, field="value"):
    found = found if isinstance(found, list) else [found]
    values = [each.get(field) for each in found if isinstance(each, dict)]
    folded = [" ".join(value.split()) for value in values if isinstance(value, str)]
    return [text for text in folded if text and not any("\ud800" <= c <= "\udfff" for c in text)]


def naive_classes(entity):
    found = set()
    for each in (entity.get("claims") or {}).get("P31", []):
        snak = each.get("mainsnak", {})
        if each["rank"] != "deprecated" and snak.get("snaktype") == "value":
            found.add(f"Q{snak['datavalue']['value']['numeric-id']}")
    return found
