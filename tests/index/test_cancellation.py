"""A search can be cancelled from another thread, and ends without a result."""

import threading

import numpy as np
import pytest

from candgen.index.cancellation import (
    Cancellation,
    SearchCancelledError,
    cancelled_by,
    current_cancellation,
)
from candgen.kernels import search as kernels
from tests.support.worlds import large_world

QUERIES = ["abcab", "ba", "cabbage", "abcabcabc"] * 50


@pytest.fixture(scope="module")
def index():
    return large_world(3, entities=3000, letters="abcdef").index()


def test_without_a_cancellation_nothing_changes(index):
    expected = index.candidates(QUERIES, 10)
    with cancelled_by(Cancellation()):
        assert index.candidates(QUERIES, 10) == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_a_cancelled_search_has_no_result(index, threads):
    cancellation = Cancellation()
    cancellation.set()
    with cancelled_by(cancellation), pytest.raises(SearchCancelledError, match="cancelled"):
        index.candidates(QUERIES, 10, threads=threads)
    assert len(index.candidates(QUERIES, 10, threads=threads)) == len(QUERIES)


def test_another_thread_cancels_a_search(index):
    cancellation = Cancellation()
    timer = threading.Timer(0.05, cancellation.set)
    timer.start()
    with cancelled_by(cancellation), pytest.raises(SearchCancelledError):
        while True:  # the calls together last until the cancellation
            index.candidates(QUERIES, 10)
    timer.join()


def test_blocks_are_nested_and_belong_to_one_thread():
    outer, inner = Cancellation(), Cancellation()
    seen = []
    with cancelled_by(outer):
        with cancelled_by(inner):
            assert current_cancellation() is inner
            other = threading.Thread(target=lambda: seen.append(current_cancellation()))
            other.start()
            other.join()
        assert current_cancellation() is outer
    assert seen[0] not in (outer, inner)
    assert current_cancellation() is seen[0]


@pytest.mark.parametrize("prune", [True, False])
def test_the_kernel_looks_at_the_flag_at_every_block(index, prune):
    """The flag is a byte of the counter of blocks, so that the first block sets it."""
    token_index = index.token_index
    tokens, times = token_index.tokens("abcab")

    def search(stop, work):
        score, tie = np.zeros(3000, np.float32), np.zeros(3000, np.uint32)
        return kernels.search(
            token_index.blocks,
            tokens,
            times,
            0.4,
            0.0,
            prune,
            stop,
            token_index._scratch(),
            score,
            tie,
            work,
        )

    every = np.zeros(3, np.int64)
    assert search(np.zeros(1, np.uint8), every) > 0
    assert every[1] > 10
    work = np.zeros(3, np.int64)
    flag = work.view(np.uint8)[8:9] if np.little_endian else work.view(np.uint8)[15:16]
    search(flag, work)
    assert work[1] == 1
