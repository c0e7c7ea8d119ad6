"""From tables to a trained encoder: names, pairs, candidate space, and all that is stored."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError, check_whole_number
from candgen.generators.candidate import check_weight
from candgen.generators.inputs import TARGET, describe_table
from candgen.generators.neural.english_names import (
    ENGLISH,
    Names,
    check_space,
    count_unnamed,
    places_in_space,
)
from candgen.generators.neural.token_rows import Spelling
from candgen.generators.neural.training_data import (
    Dev,
    EncoderName,
    Integers,
    Plan,
    TrainingResult,
    TrainingSet,
    Weights,
)
from candgen.generators.neural.training_pairs import (
    NumberedNames,
    WeightedPairs,
    draw_pairs,
    find_golds,
    number_names,
)
from candgen.protocols import Progress
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.tables.source_mentions import SourceMentions
from candgen.tables.string_table import StringTable
from candgen.text.normalize import check_normalizer, normalize_many
from candgen.text.tokenizers import CharNgrams

log = logging.getLogger("candgen")

TOKENIZERS: Mapping[str, CharNgrams] = {
    "ngrams": CharNgrams(2, 5),
    "lstm": CharNgrams(1, 1),
    "cnn": CharNgrams(1, 1),
}
"""What each encoder reads: n-grams, or single characters between two marks."""

MIN_KNOWN_TOKENS: Mapping[str, int] = {"ngrams": 1, "lstm": 3, "cnn": 3}
"""How many known tokens a mention needs to say anything: two marks do not."""


MAX_DIMENSIONS = 10_000


class Options(NamedTuple):
    """The parameters of ``Charagram.build`` that are numbers and names."""

    encoder: EncoderName
    mu: float
    pairs: int
    epochs: int
    patience: int
    dimensions: int
    seed: int
    normalizer: str

    def checked(self) -> "Options":
        """Return the same options; raise ParameterError if one is invalid."""
        check_normalizer(self.normalizer)
        check_weight("mu", self.mu)
        if self.encoder not in TOKENIZERS:
            raise ParameterError(
                f"encoder is {self.encoder!r}: choose one of {', '.join(TOKENIZERS)}"
            )
        whole: dict[str, Any] = {
            name: check_whole_number(name, getattr(self, name), minimum=0 if name == "seed" else 1)
            for name in ("pairs", "epochs", "patience", "dimensions", "seed")
        }
        if self.dimensions > MAX_DIMENSIONS:
            raise ParameterError(
                f"dimensions is {self.dimensions}: expected at most {MAX_DIMENSIONS:,}"
            )
        if self.encoder == "lstm" and self.dimensions % 2:
            raise ParameterError(
                f"dimensions is {self.dimensions}: expected an even number, half of them for each "
                "direction of the LSTM"
            )
        return self._replace(**whole)


class TrainedFields(NamedTuple):
    """The fields of a Charagram."""

    entities: StringTable
    vectors: npt.NDArray[np.float32]
    spelling: Spelling
    weights: Weights
    sources: SourceMentions
    parameters: dict[str, Any]
    inputs: dict[str, Any]


def train_fields(
    tables: Mapping[str, MentionTable],
    english: MentionTable | None,
    *,
    has_target: bool,
    language: str | None,
    dev: Sequence[Query],
    options: Options,
    space: Sequence[str] | None,
    device: str,
    progress: Progress,
) -> TrainedFields:
    """Train an encoder, and return the fields of the Charagram."""
    options = options.checked()
    if not isinstance(device, str):
        raise ParameterError(f"device is {device!r}: choose 'auto', 'cpu' or what PyTorch calls it")
    english = _check_english(english)
    target = (language or TARGET) if has_target else None
    inside = check_space(space, tables, target=target)
    progress("naming entities", 0.0)
    names = Names.of(english, normalizer=options.normalizer)
    drawn = draw_pairs(
        tables,
        names,
        target=target,
        mu=options.mu,
        pairs=options.pairs,
        normalizer=options.normalizer,
        seed=options.seed,
    )
    places = places_in_space(names, tables, inside)
    if len(places) == 0:
        raise ParameterError(
            f"no entity of {', '.join(inside)} has an English name: choose a larger space"
        )
    progress("cutting names into tokens", 0.0)
    numbered = number_names(names, places, drawn.pairs.place)
    golds = find_golds([query.entity for query in dev], names, numbered, places)
    if dev and (golds[0] < 0).all():
        log.warning(
            "none of the %d dev queries has a gold with an English name: training does not stop "
            "before its last epoch",
            len(dev),
        )
        dev, golds = (), find_golds([], names, numbered, places)
    asked = normalize_many([query.mention for query in dev], options.normalizer, language=language)
    spelling, trained = _train(drawn, numbered, (asked, *golds), options, device, progress)
    progress("gathering mentions", 0.0)
    sources = _sources(tables, english, names, places)
    history = trained.history
    parameters = {
        **options._asdict(),
        "language": language,
        "target": target,
        "languages": list(tables),
        "space": inside,
        "unnamed": count_unnamed(names, tables),
        "used": drawn.used,
        "sources": list(sources.languages),
        "epochs_run": len(history.losses),
        "best_epoch": history.best,
        "losses": history.losses,
        "dev_recall": history.recalls,
        "numbers": trained.numbers,
    }
    progress("done", 1.0)
    return TrainedFields(
        StringTable.from_arrow(names.entities.take(pa.array(places))),
        trained.vectors[numbered.of[places]],
        spelling,
        trained.weights,
        sources,
        parameters,
        _inputs(tables, english),
    )


def _check_english(english: MentionTable | None) -> MentionTable:
    if english is None:
        raise ParameterError(
            "there are no English names, and mentions are compared with them: give a table of "
            "English mentions (english=..., or --english FILE)"
        )
    if not isinstance(english, MentionTable):
        raise ParameterError(f"english is {english!r}: expected a MentionTable")
    if len(english) == 0:
        raise ParameterError("the table of English mentions is empty: give one with names")
    return english


def _train(
    drawn: WeightedPairs,
    numbered: NumberedNames,
    dev: tuple[list[str], Integers, Integers],
    options: Options,
    device: str,
    progress: Progress,
) -> tuple[Spelling, TrainingResult]:
    """Return the vocabulary of mentions, which are the tokens of the pairs, and the result."""
    from candgen.generators.neural import encoders  # noqa: PLC0415

    tokenizer = TOKENIZERS[options.encoder]
    mentions, name = drawn.pairs.mention, numbered.of[drawn.pairs.place]
    used = [numbered.text[each] for each in np.unique(name).tolist()]
    of_mentions, of_names = Spelling.learn(mentions, tokenizer), Spelling.learn(used, tokenizer)
    asked, gold, before = dev
    training_set = TrainingSet(
        of_mentions.rows(mentions),
        of_names.rows(numbered.text),
        name,
        drawn.weight,
        numbered.entities,
        MIN_KNOWN_TOKENS[options.encoder],
        Dev(of_mentions.rows(asked), gold, before) if asked else None,
    )
    plan = Plan(
        options.encoder,
        (len(of_mentions), len(of_names)),
        options.dimensions,
        options.epochs,
        options.patience,
        options.seed,
        device,
    )
    return of_mentions, encoders.train(training_set, plan, progress)


def _sources(
    tables: Mapping[str, MentionTable], english: MentionTable, names: Names, space: Integers
) -> SourceMentions:
    """Return the mentions of the entities, with English names if "en" is not a pivot."""
    position = np.full(len(names) + 1, -1, np.int64)  # the last one is for entities without a name
    position[space] = np.arange(len(space))
    shown = dict(tables)
    if ENGLISH not in shown:
        shown[ENGLISH] = MentionTable.from_arrow(english.arrow.take(pa.array(names.row[space])))
    rows = {each: position[names.places(table.arrow["entity"])] for each, table in shown.items()}
    return SourceMentions.gather(shown, rows, len(space))


def _inputs(tables: Mapping[str, MentionTable], english: MentionTable) -> dict[str, Any]:
    """Return what is stored of the tables; "names" is the English one if "en" is also a pivot."""
    every = {**tables, ("names" if ENGLISH in tables else ENGLISH): english}
    return {
        each: describe_table(table, len(pc.unique(table.arrow["entity"])))
        for each, table in every.items()
    }
