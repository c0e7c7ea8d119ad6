"""Listeners are told before a kernel is compiled."""

import subprocess
import sys

from candgen import kernels
from tests.support.commands import environment


def test_a_listener_may_remove_itself(monkeypatch):
    told = []

    def once(name):
        told.append(name)
        kernels.compile_listeners.remove(once)

    monkeypatch.setattr(kernels, "compile_listeners", [once, told.append])
    kernels.tell_compiling("score")
    kernels.tell_compiling("score")
    assert told == ["score"] * 3


def test_listening_does_not_import_numba():
    script = "import sys, candgen.kernels; print('numba' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, check=True
    )
    assert done.stdout == b"False\n"


def test_kernels_are_plain_functions_if_numba_is_switched_off():
    script = "from candgen.kernels import utf8; print(type(utf8.put_character).__name__)"
    variables = environment(NUMBA_DISABLE_JIT="1")
    done = subprocess.run(
        [sys.executable, "-c", script], env=variables, capture_output=True, check=True
    )
    assert done.stdout == b"function\n"


def test_a_numba_with_other_internals_uses_its_own_cache():
    script = (
        "import sys; sys.modules['candgen.kernels.kernel_cache'] = None\n"
        "from candgen.kernels import utf8\n"
        "print(type(utf8.put_character._cache).__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, check=True
    )
    assert done.stdout == b"FunctionCache\n"
