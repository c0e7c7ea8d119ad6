"""Charagram and its relatives: mentions and English names as vectors, compared by their cosine."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.generators.calibration import DEFAULT as DEFAULT_CALIBRATION
from candgen.generators.calibration import Calibration
from candgen.generators.candidate import Candidate, check_query
from candgen.generators.inputs import tables_of
from candgen.generators.neural.inference import ENCODERS, Encode
from candgen.generators.neural.nearest import nearest
from candgen.generators.neural.token_rows import Spelling
from candgen.generators.neural.training import LEAST, TOKENIZERS, Options, teach
from candgen.generators.neural.training_data import EncoderName, Weights
from candgen.index.token_index import place_of
from candgen.protocols import Progress, Summary, no_progress
from candgen.storage import index_folder
from candgen.storage.index_folder import Contents, StoredIndex, add_prefix, strip_prefix
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.tables.source_mentions import SourceMention, SourceMentions
from candgen.tables.string_table import StringTable
from candgen.text.normalize import normalize_many

MENTIONS_AT_ONCE = 4096


@dataclass(frozen=True, repr=False)
class Charagram:
    """Candidates for mentions of a target language, by how near their English names are.

        score(e | m) = (1 + cos(m, name of e)) / 2

    A mention is tanh(b + the sum of the embeddings of its n-grams), and so is a name, with n-grams
    and a bias of its own. N-grams that no pair had are left out; a mention that has no other has no
    candidates, because its vector says nothing. With ``encoder="lstm"`` or ``"cnn"`` vectors are
    made from single characters, of which unknown ones are left out in the same way.

    ``entities`` are the candidate space, in the order that breaks ties, and ``vectors`` those of
    their names, of length 1.
    """

    entities: StringTable
    vectors: npt.NDArray[np.float32]
    spelling: Spelling
    weights: Weights
    sources: SourceMentions
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Any]
    calibration: Calibration = DEFAULT_CALIBRATION

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
        """Learn to bring mentions near the English names of their entities.

            L = L_target + mu * L_pivots

        where each is a sum over pairs of mention and name, of the pivots at most ``pairs``, drawn
        at random, of the target all. With one of the two alone, mu means nothing and ``pairs``
        limits it. An entity's name is its most frequent mention in ``english``. ``space`` are the
        languages whose entities can be candidates, among the tables' and "en"; all if not given.
        Training stops when ``recall@30`` of ``dev`` has not become better for ``patience`` epochs,
        and the best epoch is kept; without dev, it is the last. On a CPU the same input and seed
        give the same files. ``device`` is "auto", "cpu", or what PyTorch calls it.
        """
        options = Options(encoder, mu, pairs, epochs, patience, dimensions, seed, normalizer)
        tables = tables_of(dict(pivots or {}), target, language, {})
        taught = teach(
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
        return cls(*taught)

    @property
    def language(self) -> str | None:
        """The language of the target and of the queries."""
        return self.parameters["language"]  # type: ignore[no-any-return]

    @property
    def budget(self) -> dict[str, int]:
        """The most epochs, and the most pairs of the pivots, that it was allowed to learn from."""
        return {name: self.parameters[name] for name in ("epochs", "pairs")}

    def candidates(self, mentions: Sequence[str], k: int = 30) -> list[list[Candidate]]:
        """The k entities with the nearest names for each mention, best first.

        Entities of the same name have the same score.
        """
        texts = normalize_many(
            check_query(mentions, k), self.parameters["normalizer"], language=self.language
        )
        answers: list[list[Candidate]] = []
        for first in range(0, len(texts), MENTIONS_AT_ONCE):
            answers += self._some(texts[first : first + MENTIONS_AT_ONCE], k)
        return answers

    def _some(self, texts: list[str], k: int) -> list[list[Candidate]]:
        vectors, asked = self.encode(texts)
        answers: list[list[Candidate]] = [[] for _ in texts]
        for at, (score, place) in zip(asked, nearest(vectors, self.vectors, k), strict=True):
            entities = self.entities.take(place)
            answers[at] = list(map(Candidate, entities, score.tolist()))
        return answers

    def encode(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.float64], list[int]]:
        """The vectors, of length 1, of the normalised texts that say anything, and which they are.

        Each text is encoded by itself, so that its vector does not depend on the others.
        """
        tokens, start = self.spelling.rows(texts)
        known = np.diff(start) >= LEAST[self.parameters["encoder"]]
        vectors = np.zeros((len(texts), self.vectors.shape[1]))
        for at in np.flatnonzero(known).tolist():
            vectors[at] = self._encode(tokens[start[at] : start[at + 1]])
        length = np.sqrt((vectors * vectors).sum(axis=1))
        asked = np.flatnonzero(length > 0)
        return vectors[asked] / length[asked, np.newaxis], asked.tolist()

    @cached_property
    def _encode(self) -> Encode:
        """The encoder of mentions."""
        return ENCODERS[self.parameters["encoder"]](self.weights)

    def knows(self, entities: Sequence[str]) -> list[bool]:
        """Which of these entities can be candidates: those of the space with an English name."""
        return [place_of(entity, self.entities) is not None for entity in entities]

    def names(self, entity: str) -> list[SourceMention]:
        """The English name of an entity and its mentions in the tables, the most frequent first."""
        place = place_of(entity, self.entities)
        return [] if place is None else self.sources.of(place)

    def probabilities(self, mention: str, candidates: Sequence[tuple[str, float]]) -> list[float]:
        """Return how likely each candidate is the right one; ask for at least 30 candidates.

        Learned on dev queries if the index was tuned, fixed otherwise: see ``Calibration``.
        """
        return self.calibration.probabilities(mention, candidates)

    def summary(self) -> Summary:
        """Return method, language, pivots and sizes."""
        target = self.parameters.get("target")
        pivots = tuple(each for each in self.parameters["languages"] if each != target)
        return Summary("Charagram", self.language, pivots, len(self.entities))

    def __repr__(self) -> str:
        return str(self.summary())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the generator to a folder that ``candgen.load`` opens."""
        index_folder.save(path, **self.contents()._asdict())

    def contents(self) -> Contents:
        """What is stored: the vectors of names, and whatever encodes mentions."""
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
        """The generator that was saved."""
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
            Calibration.from_stored(stored),
        )
