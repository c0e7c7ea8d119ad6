"""Charagram and its relatives: mentions and English names as vectors, compared by their cosine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.generators.calibration import Calibration
from candgen.generators.candidate import Candidate, check_query
from candgen.generators.index_base import IndexBase, summarize
from candgen.generators.inputs import collect_tables, validate_shared
from candgen.generators.neural.inference import ENCODERS, Encode, validate_weights
from candgen.generators.neural.nearest import nearest
from candgen.generators.neural.token_rows import Spelling
from candgen.generators.neural.training import MIN_KNOWN_TOKENS, TOKENIZERS, Options, train_fields
from candgen.generators.neural.training_data import EncoderName, Weights
from candgen.index.tie_order import tie_order_of
from candgen.protocols import Progress, Summary, no_progress
from candgen.storage.index_folder import Contents, StoredIndex, add_prefix, strip_prefix
from candgen.storage.validation import check_array, check_range
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.tables.source_mentions import SourceMention, SourceMentions
from candgen.tables.string_table import StringTable
from candgen.text.normalize import normalize_many

MENTIONS_AT_ONCE = 4096


@dataclass(frozen=True, repr=False)
class Charagram(IndexBase):
    """Candidates for mentions of a target language, by how near their English names are.

        score(e | m) = (1 + cos(m, name of e)) / 2

    A mention is tanh(b + the sum of the embeddings of its n-grams), and so is a name, with n-grams
    and a bias of its own. N-grams that no training pair has are left out; a mention without any
    known n-gram has no candidates. With ``encoder="lstm"`` or ``"cnn"`` vectors are computed from
    single characters, of which unknown ones are left out in the same way.

    ``entities`` are the candidate space, in tie order, and ``vectors`` those of their names, of
    length 1.
    """

    entities: StringTable
    vectors: npt.NDArray[np.float32]
    spelling: Spelling
    weights: Weights
    sources: SourceMentions
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Any]

    @classmethod
    def build(
        cls,
        pivots: Mapping[str, MentionTable] | None = None,
        target: MentionTable | None = None,
        *,
        english: MentionTable | None,
        language: str | None = None,
        dev: Sequence[Query] = (),
        encoder: EncoderName = "ngrams",
        mu: float = 0.1,
        pairs: int = 80_000,
        epochs: int = 200,
        patience: int = 50,
        dimensions: int = 300,
        seed: int = 0,
        normalizer: str = "default",
        space: Sequence[str] | None = None,
        device: str = "auto",
        progress: Progress = no_progress,
    ) -> "Charagram":
        """Train an encoder that places mentions near the English names of their entities.

            L = L_target + mu * L_pivots

        where each is a sum over pairs of mention and name. An entity's name is its most frequent
        mention in ``english``. On a CPU the same input and seed give the same files.

        Args:
            pivots: Mention tables of related languages, by language code.
            target: The mention table of the target language, if there is one.
            english: The mention table of English, from which the names are taken. Required.
            language: Code of the target language, which is also the language of the queries.
            dev: Held-out queries for early stopping: the epoch with the best recall@30 is kept.
                Without any it is the last epoch.
            encoder: "ngrams" (Charagram), "lstm" or "cnn".
            mu: Weight of the pivots' pairs; used only with pivots and a target.
            pairs: At most this many pairs of the pivots, drawn at random, are used; of the target
                all. With a target alone it limits the target's pairs.
            epochs: The largest number of epochs.
            patience: Stop when recall on dev has not improved for this many epochs.
            dimensions: Length of the vectors.
            seed: Random seed.
            normalizer: Text normalizer, for mentions, names and queries.
            space: The languages whose entities can be candidates, among those of the tables and
                "en"; all if None.
            device: "auto", "cpu", or another device name of PyTorch.
            progress: Called with the name of the current step and the fraction of it that is done.

        Returns:
            The trained generator. Only training needs PyTorch; ``candidates`` does not.

        Raises:
            ParameterError: A parameter is invalid, or there is nothing to learn from.
            MissingExtraError: PyTorch is not installed.
        """
        options = Options(encoder, mu, pairs, epochs, patience, dimensions, seed, normalizer)
        tables = collect_tables(dict(pivots or {}), target, language, {})
        trained = train_fields(
            tables,
            english,
            has_target=target is not None,
            language=language,
            dev=dev,
            options=options,
            space=space,
            device=device,
            progress=progress,
        )
        return cls(*trained)

    @property
    def language(self) -> str | None:
        """The language of the target and of the queries."""
        return self.parameters["language"]  # type: ignore[no-any-return]

    @property
    def budget(self) -> dict[str, int]:
        """The limits of its training: epochs, and pairs of the pivots."""
        return {name: self.parameters[name] for name in ("epochs", "pairs")}

    def candidates(self, mentions: Sequence[str], k: int = 30) -> list[list[Candidate]]:
        """Return the k entities with the nearest names for each mention, best first.

        Entities of the same name have the same score.

        Args:
            mentions: The mentions, as they stand in the text.
            k: The largest number of candidates for a mention.
        """
        texts = normalize_many(
            check_query(mentions, k), self.parameters["normalizer"], language=self.language
        )
        answers: list[list[Candidate]] = []
        for first in range(0, len(texts), MENTIONS_AT_ONCE):
            answers += self._some(texts[first : first + MENTIONS_AT_ONCE], k)
        return answers

    def _some(self, texts: list[str], k: int) -> list[list[Candidate]]:
        vectors, known = self.encode(texts)
        answers: list[list[Candidate]] = [[] for _ in texts]
        for at, (score, place) in zip(known, nearest(vectors, self.vectors, k), strict=True):
            entities = self.entities.take(place)
            answers[at] = list(map(Candidate, entities, score.tolist()))
        return answers

    def encode(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.float64], list[int]]:
        """Return vectors of length 1 for the normalized texts that have one, and their numbers.

        Each text is encoded by itself, so that its vector does not depend on the others.
        """
        tokens, start = self.spelling.rows(texts)
        enough = np.diff(start) >= MIN_KNOWN_TOKENS[self.parameters["encoder"]]
        vectors = np.zeros((len(texts), self.vectors.shape[1]))
        for at in np.flatnonzero(enough).tolist():
            vectors[at] = self._encode(tokens[start[at] : start[at + 1]])
        length = np.sqrt((vectors * vectors).sum(axis=1))
        known = np.flatnonzero(length > 0)
        return vectors[known] / length[known, np.newaxis], known.tolist()

    @cached_property
    def _encode(self) -> Encode:
        """The encoder of mentions."""
        return ENCODERS[self.parameters["encoder"]](self.weights)

    def knows(self, entities: Sequence[str]) -> list[bool]:
        """Return, for each entity, whether it is in the candidate space and has an English name."""
        return [tie_order_of(entity, self.entities) is not None for entity in entities]

    def names(self, entity: str) -> list[SourceMention]:
        """Return the English name of an entity and its mentions, most frequent first."""
        place = tie_order_of(entity, self.entities)
        return [] if place is None else self.sources.of(place)

    def summary(self) -> Summary:
        """Return method, language, pivots and sizes."""
        return summarize("Charagram", self.parameters, len(self.entities))

    def validate(self) -> None:
        """Raise ValueError unless names, vectors and encoder fit together."""
        validate_shared(self.parameters, self.inputs)
        entities = len(self.entities)
        self.entities.validate("entities")
        check_array("vectors", self.vectors, np.float32, entities, -1)
        check_range("vectors", self.vectors, -1.001, 1.001)
        self.spelling.vocabulary.validate("spelling")
        dimensions = self.vectors.shape[1]
        validate_weights(self.parameters["encoder"], self.weights, len(self.spelling), dimensions)
        self.sources.validate(entities)

    def contents(self) -> Contents:
        """Return what `save` writes: the vectors of names, and the encoder of mentions."""
        arrays = {
            "vectors": self.vectors,
            **add_prefix("entities", self.entities.arrays()),
            **add_prefix("spelling", self.spelling.arrays()),
            **add_prefix("weights", self.weights),
            **add_prefix("sources", self.sources.arrays()),
        }
        return Contents("charagram", self.parameters, arrays, self.inputs)

    @classmethod
    def from_stored(cls, stored: StoredIndex) -> "Charagram":
        """Return the generator that was saved."""
        parameters, arrays = stored.parameters, stored.arrays
        return cls(
            StringTable(**strip_prefix("entities", arrays)),
            arrays["vectors"],
            Spelling.from_arrays(
                strip_prefix("spelling", arrays), TOKENIZERS[parameters["encoder"]]
            ),
            strip_prefix("weights", arrays),
            SourceMentions.from_arrays(
                strip_prefix("sources", arrays), languages=parameters["sources"]
            ),
            parameters,
            stored.inputs,
            calibration=Calibration.from_stored(stored),
        )
