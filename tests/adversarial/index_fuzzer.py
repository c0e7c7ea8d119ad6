"""Forges indexes with right checksums, and tries whether one of them does harm when it is used.

    python -m tests.adversarial.index_fuzzer --trials 10000 --seed 1

Every trial changes the arrays or parameters of a valid index in one to three places, saves it, and
opens and asks it in every way. It must answer, or raise a CandgenError. A trial that raises another
exception, ends the process or takes too long is reported by its number: ``--only NUMBER`` repeats
it. Nothing here is needed to use candgen.
"""

import argparse
import copy
import faulthandler
import os
import random
import resource
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import candgen
from candgen.cache_folder import CACHE_VARIABLE
from candgen.errors import CandgenError
from candgen.generators import registry
from candgen.generators.calibration import Calibration
from candgen.generators.calibration import Weights as CalibrationWeights
from candgen.generators.promise import Promise
from candgen.protocols import Explains, ScoreBreakdown
from candgen.storage import index_folder
from candgen.storage.index_folder import Contents, add_prefix
from candgen.tables.entities import PREFIX, EntityTable

ANSWERED, REFUSED = "answered", "refused"
MAX_SECONDS = 60
"""A trial may take this long; most take a hundredth of a second."""
MAX_MEMORY = 6 << 30
MENTIONS = ["Tórsvøll", "a", "", "no such name at all", "norrøna bygd", "𝔸é", "x" * 300]
JUNK: list[Any] = [
    *(None, True, False, 0, 1, -1, 7, 2**31, 2**63, 10**30, 10**400, 0.5, -0.5, 1e308, 5e-324),
    *("", "x", "is", "ngrams", "lstm", "x" * 5000, "\x1b[2J", "日本", "\ud800"),
    *([], {}, [[]], [None], ["is", "is"], {"": {}}, {"kind": "pti", "parameters": {}}),
]
"""What takes the place of a parameter."""


class Result(NamedTuple):
    """What a run of trials came to."""

    tried: int
    answered: int
    failures: list[str]


def make_indexes(*, neural: bool) -> dict[str, Contents]:
    """Return the contents of a valid index of every kind, by name."""
    icelandic, danish, faroese = (_table(seed) for seed in (1, 2, 3))
    tables: dict[str, Any] = {"pivots": {"is": icelandic, "da": danish}, "target": faroese}
    build = candgen.PivotTokenIndex.build
    plain = build(**tables, language="fo")
    fused: dict[str, Any] = {"fusion": "probabilities", "smoothing": 0.01}
    graphemes = candgen.CharNgrams(1, 3, "grapheme")
    made: dict[str, Any] = {
        "pti": plain,
        "pti-wildcards": build(**tables, tokenizer=candgen.CharNgrams(2, 4, wildcards=True)),
        "pti-fusion": build(**tables, **fused),
        "pti-threshold": build(**tables, tokenizer=graphemes, threshold=0.05),
        "wikipriors": candgen.WikiPriors.build(**tables),
        "wikipriors-released": candgen.WikiPriors.build(**tables, released=True),
        "translation": candgen.Translation.build(**tables, english=danish, language="fo"),
        "rerank": candgen.Rerank(
            plain, **tables, language="fo", names=_inflected(tables["target"])
        ),
    }
    made["cascade"] = candgen.Cascade(made["wikipriors"], plain)
    if neural:
        for encoder in ("ngrams", "lstm", "cnn"):
            made[encoder] = candgen.Charagram.build(
                **tables, english=danish, encoder=encoder, epochs=1, dimensions=8
            )
    return {name: _with_extras(index.contents()) for name, index in made.items()}


def _inflected(table: candgen.MentionTable) -> list[str]:
    """Return the names of a table as they are, and with two endings."""
    return [mention + ending for mention in table.mentions for ending in ("", "na", "ar")]


def _table(seed: int) -> candgen.MentionTable:
    """Return two hundred names with some letters changed by the seed, and many different counts."""
    names, spelled = random.Random(0), random.Random(seed)
    rows = []
    for number in range(200):
        letters = [
            names.choice("aábdeéfgðhiíjklmnoóprstuúvyýæø") for _ in range(names.randint(3, 9))
        ]
        letters[spelled.randrange(len(letters))] = spelled.choice("aeiouz")
        kind = names.choice(["", "", " bygd", " vøllur"])
        rows.append(("".join(letters) + kind, f"Q{number % 180 + 1}", spelled.randint(1, 900)))
    rows += [("Tórsvøll", "Q1", 5), ("norrøna bygd", "Q2", 2), ("𝔸é", "Q3", 1)]
    return candgen.MentionTable.from_pairs(rows)


def _with_extras(contents: Contents) -> Contents:
    """Add names of entities and a calibration, as they are stored with an index."""
    described = EntityTable.from_rows(
        [("Q1", "fo", "Tórsvøllur", "vøllur", ["Q515"]), ("Q2", "en", "Norse village", "", [])]
    )
    calibration = Calibration("log", CalibrationWeights(2.0, -1.0, 0.5), 20)
    extras = {
        **add_prefix(PREFIX, described.arrays()),
        **add_prefix("calibration", calibration.arrays()),
        **add_prefix("promise", Promise("held-back names", 9, 50.0, 60.0, 70.0, 50.0).arrays()),
    }
    arrays = {name: np.array(array) for name, array in {**contents.arrays, **extras}.items()}
    return contents._replace(arrays=arrays)


# ---------------------------------------------------------------- forging


def forge(contents: Contents, random_: random.Random) -> tuple[Contents, list[str]]:
    """Return other contents that differ in one to three places, and what was changed."""
    arrays = dict(contents.arrays)
    parameters = copy.deepcopy(dict(contents.parameters))
    inputs = copy.deepcopy(dict(contents.inputs))
    changes = []
    for _ in range(random_.choice([1, 1, 1, 2, 3])):
        where = random_.random()
        if where < 0.72:
            changes.append(_forge_array(arrays, random_))
        elif where < 0.94:
            changes.append(f"parameters {_forge_json(parameters, random_)}")
        else:
            changes.append(f"inputs {_forge_json(inputs, random_)}")
    return contents._replace(arrays=arrays, parameters=parameters, inputs=inputs), changes


def _forge_array(arrays: dict[str, Any], random_: random.Random) -> str:
    name = random_.choice(sorted(arrays))
    change = random_.choice(ARRAY_CHANGES)
    made = change(arrays[name], arrays, random_)
    if made is None:
        del arrays[name]
    else:
        arrays[name] = made
    return f"{change.__name__} {name}"


def _set_values(array: Any, arrays: dict[str, Any], random_: random.Random) -> Any:
    made = array.copy()
    for _ in range(random_.choice([1, 1, 3, 50])):
        if made.size:
            at = random_.choice([0, made.size - 1, random_.randrange(made.size)])
            made.flat[at] = _value(made, at, arrays, random_)
    return made


def _value(array: Any, at: int, arrays: dict[str, Any], random_: random.Random) -> Any:
    """Return an extreme value, a length of some array, or a neighbour of what is there."""
    if array.dtype.kind == "f":
        return random_.choice([0.0, -1.0, np.nan, np.inf, -np.inf, 3e38, 1e-38, random_.random()])
    if array.dtype.kind == "b":
        return random_.random() < 0.5
    limits = np.iinfo(array.dtype)
    length = arrays[random_.choice(sorted(arrays))].size
    old = int(array.flat[at])
    some = [0, 1, limits.max, limits.min, limits.max - 1, old + 1, old - 1, old * 2]
    some += [length, length - 1, length + 1, random_.randint(limits.min, limits.max)]
    return min(max(random_.choice(some), limits.min), limits.max)


def _fill(array: Any, arrays: dict[str, Any], random_: random.Random) -> Any:
    return np.full_like(array, _value(array, 0, arrays, random_)) if array.size else array


def _shorten(array: Any, _: object, random_: random.Random) -> Any:
    return array[: random_.randint(0, len(array))] if array.ndim else array.reshape(1)


def _lengthen(array: Any, _: object, random_: random.Random) -> Any:
    return np.concatenate([array, array[: random_.randint(0, 9)]]) if array.ndim else array


def _shuffle(array: Any, _: object, random_: random.Random) -> Any:
    return np.random.default_rng(random_.randrange(2**32)).permutation(array)


def _reshape(array: Any, _: object, random_: random.Random) -> Any:
    shapes = [(-1,), (1, -1), (-1, 1), array.shape[::-1], (*array.shape, 1)]
    return array.reshape(random_.choice(shapes)) if array.size else array[None]


def _retype(array: Any, _: object, random_: random.Random) -> Any:
    types = ["u1", "i1", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "b1"]
    with np.errstate(all="ignore"):
        return array.astype(random_.choice(types))


def _exchange(array: Any, arrays: dict[str, Any], random_: random.Random) -> Any:
    del array
    return arrays[random_.choice(sorted(arrays))].copy()


def _delete(*_: object) -> None:
    return None


ARRAY_CHANGES: list[Callable[..., Any]] = [
    *([_set_values] * 6),
    *(_fill, _shorten, _lengthen, _shuffle, _reshape, _retype, _exchange, _delete),
]


def _forge_json(value: dict[str, Any], random_: random.Random) -> str:
    """Change one value somewhere inside JSON; return where."""
    places = list(_places(value))
    if not places:
        value["x"] = 1
        return "x"
    container, key = random_.choice(places)
    change = random_.random()
    if change < 0.2 and isinstance(container, dict):
        del container[key]
        return f"without {key!r:.40}"
    if change < 0.3:
        container[key] = [container[key], container[key]]
    elif change < 0.4 and isinstance(container[key], int | float):
        container[key] = container[key] * 10**6 + 1
    else:
        container[key] = copy.deepcopy(random_.choice(JUNK))
    return f"{key!r:.40} = {container[key]!r:.60}"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in JSON with every key or index of it."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield value, key
        yield from _places(value[key])


# ---------------------------------------------------------------- trying


def use(folder: Path) -> None:
    """Open an index and ask it in every way; raise only CandgenError if all is well."""
    index: Any = candgen.load(folder)
    repr(index)
    for k in (1, 30, 10_000):
        answers = index.candidates(MENTIONS, k)
    for mention, answer in zip(MENTIONS, answers, strict=True):
        index.probabilities(mention, answer[:30])
        entities = [entity for entity, _ in answer[:3]]
        index.knows([*entities, "Q1", "no such entity"])
        for entity in [*entities, "Q2"]:
            index.names(entity)
            if isinstance(index, Explains):
                _suppress(index.explain, mention, entity)
        if isinstance(index, ScoreBreakdown):
            _suppress(index.shares, mention, entities)
    if (table := EntityTable.from_stored(index_folder.load(folder))) is not None:
        for entity in ("Q1", "Q2", "Q515", "no such entity"):
            table.of(entity)
            table.types_of(entity)


def _suppress(call: Callable[..., object], *arguments: object) -> None:
    with suppress(CandgenError):  # an entity that cannot be explained does not end the trial
        call(*arguments)


def describe(folder: Path) -> None:
    """Let ``candgen info`` show an index; raise AssertionError for anything but status 0 or 2."""
    from candgen.cli import main

    out, errors = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(errors):
        status = main(["info", str(folder)])
    errors.seek(0)
    lines = errors.read().splitlines()
    assert status in (0, 2), f"info ended with status {status}"
    assert len(lines) <= 1, lines


def try_one(number: int, seed: int, valid: dict[str, Contents], folder: Path) -> str:
    """Forge, save and use one index; return "answered", "refused", or what is wrong."""
    random_ = random.Random(f"{seed} {number}")
    name = random_.choice(sorted(valid))
    forged, changes = forge(valid[name], random_)
    try:
        index_folder.save(folder, **forged._asdict())
    except CandgenError:
        return REFUSED  # it cannot even be written
    outcome = ANSWERED
    for ask in (use, describe):
        try:
            ask(folder)
        except CandgenError as error:
            outcome = REFUSED
            if "\n" in str(error):
                return f"trial {number}: {name}, {changes}: two lines: {error}"
        except BaseException:
            return f"trial {number}: {name}, {changes}:\n{traceback.format_exc()}"
    return outcome


def _work(numbers: range, seed: int, *, neural: bool, trusting: bool) -> None:
    """Try some in this process; print the number of each before it is tried."""
    if trusting:  # as if every index had been validated before
        registry.LOADERS = {
            kind: lambda stored, load=load: load(replace(stored, is_verified=True))
            for kind, load in registry.LOADERS.items()
        }
        for kind in (
            *(candgen.PivotTokenIndex, candgen.WikiPriors, candgen.Translation),
            *(candgen.Rerank, candgen.Cascade),
        ):
            kind.validate = lambda self: None
    os.environ[CACHE_VARIABLE] = os.devnull  # nothing is ever recorded as verified
    os.fsync = lambda _: None  # type: ignore[assignment]
    valid = make_indexes(neural=neural)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder, np.errstate(all="ignore"):
        for name, contents in valid.items():  # a fuzzer of indexes that are refused anyway is none
            index_folder.save(Path(folder) / name, **contents._asdict())
            use(Path(folder) / name)
        for number in numbers:
            print(number, flush=True)  # noqa: T201
            faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
            outcome = try_one(number, seed, valid, Path(folder) / "forged")
            failed = outcome not in (ANSWERED, REFUSED)
            print(f"{'FAILURE ' * failed}{outcome}".replace("\n", "\n  "), flush=True)  # noqa: T201
            faulthandler.cancel_dump_traceback_later()
    print("done", flush=True)  # noqa: T201


def fuzz(
    trials: int, *, first: int = 0, seed: int = 0, neural: bool = False, trusting: bool = False
) -> Result:
    """Try so many in worker processes: one that dies is replaced and its trial reported.

    With ``trusting``, indexes are not validated: what validation is for must then be found.
    """
    failures: list[str] = []
    answered = 0
    at, last = first, first + trials
    while at < last:
        command = [sys.executable, "-m", __spec__.name, "--worker", f"--seed={seed}"]
        command += [f"--first={at}", f"--trials={last - at}"]
        command += ["--neural"] * neural + ["--trusting"] * trusting
        done = subprocess.run(command, capture_output=True, text=True)
        lines = done.stdout.splitlines()
        numbers = [int(line) for line in lines if line.isdigit()]
        answered += lines.count(ANSWERED)
        for line in lines:  # those of a failure begin with FAILURE or with spaces
            if line.startswith("FAILURE "):
                failures.append(line.removeprefix("FAILURE "))
            elif line.startswith("  "):
                failures[-1] += f"\n{line}"
        if lines[-1:] == ["done"]:
            break
        if not numbers:
            raise RuntimeError(f"the worker did not start: {done.stderr[-2000:]}")
        failures.append(f"trial {numbers[-1]}: status {done.returncode}\n{done.stderr[-2000:]}")
        at = numbers[-1] + 1
    return Result(trials, answered, failures)


def main() -> int:
    """Run trials and print what failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--neural", action="store_true", help="also neural methods (PyTorch)")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--trusting", action="store_true", help="without validation")
    options = parser.parse_args()
    kinds = {"neural": options.neural, "trusting": options.trusting}
    if options.worker:
        numbers = range(options.first, options.first + options.trials)
        _work(numbers, options.seed, **kinds)
        return 0
    if options.only is not None:
        options.first, options.trials = options.only, 1
    print(f"seed {options.seed}", flush=True)  # noqa: T201
    found = fuzz(options.trials, first=options.first, seed=options.seed, **kinds)
    for failure in found.failures:
        print(failure)  # noqa: T201
    print(  # noqa: T201
        f"{found.tried:,} forged indexes: {found.answered:,} answered, "
        f"{found.tried - found.answered - len(found.failures):,} were refused, "
        f"{len(found.failures):,} did harm"
    )
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
