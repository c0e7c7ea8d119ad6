"""Compiled kernels are loaded by the next process, from wherever they are."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from candgen import kernels
from candgen.cache_folder import CACHE_VARIABLE
from candgen.kernels import kernel_cache
from tests.support.commands import environment

NOWHERE = Path(os.devnull) / "kernels"
"""A folder that not even root can make."""


def double(number):
    return 2 * number


@pytest.fixture
def compiled(monkeypatch):
    """The names of the kernels that are compiled."""
    names = []
    monkeypatch.setattr(kernels, "compile_listeners", [names.append])
    return names


@pytest.fixture
def use_folders(monkeypatch):
    def use(*folders):
        monkeypatch.setattr(kernel_cache, "cache_folders", lambda: list(folders))

    return use


@pytest.mark.parametrize("decorate", [kernels.kernel, kernels.inner_kernel])
def test_a_kernel_is_compiled_once_for_each_type(tmp_path, compiled, use_folders, decorate):
    use_folders(tmp_path / "new")
    assert decorate(double)(21) == 42
    assert decorate(double)(21) == 42
    assert compiled == ["double"]
    assert decorate(double)(0.5) == 1.0
    assert compiled == ["double"] * 2


@pytest.mark.parametrize("decorate", [kernels.kernel, kernels.inner_kernel])
def test_without_a_folder_every_process_compiles(compiled, use_folders, decorate):
    use_folders(NOWHERE)
    assert decorate(double)(21) == decorate(double)(21) == 42
    assert compiled == ["double"] * 2
    assert kernel_cache.writable_folder() is None


def test_all_folders_are_read_and_the_first_writable_one_is_written(
    tmp_path, compiled, use_folders
):
    use_folders(NOWHERE, tmp_path / "a", tmp_path / "b")
    kernels.kernel(double)(21)
    assert list((tmp_path / "a").iterdir())
    assert not (tmp_path / "b").exists()
    assert kernel_cache.writable_folder() == tmp_path / "a"
    use_folders(tmp_path / "c", tmp_path / "a")
    kernels.kernel(double)(21)
    assert compiled == ["double"]


def test_a_damaged_file_is_compiled_again(tmp_path, compiled, use_folders):
    use_folders(tmp_path)
    kernels.kernel(double)(21)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:40])
    assert kernels.kernel(double)(21) == 42
    assert compiled == ["double"] * 2


def test_a_full_disk_does_no_harm(tmp_path, use_folders, monkeypatch):
    def save(*_):
        raise OSError(28, "No space left on device")

    use_folders(tmp_path)
    monkeypatch.setattr(kernel_cache._File, "save", save)
    assert kernels.kernel(double)(21) == 42


def test_another_source_is_compiled_again(tmp_path, compiled, use_folders, monkeypatch):
    use_folders(tmp_path)
    kernels.kernel(double)(21)
    monkeypatch.setattr(kernel_cache, "_hash_sources", lambda: "another version of a kernel")
    kernels.kernel(double)(21)
    assert compiled == ["double"] * 2


def folders():
    return kernel_cache.cache_folders.__wrapped__()


def test_the_variables_name_the_first_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    beside, own = folders()
    assert beside == Path(kernels.__file__).parent / "__pycache__"
    assert own.parent == tmp_path / "candgen"
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "named"))
    assert folders() == [tmp_path / "named" / own.name, beside]
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "numba"))
    assert folders() == [tmp_path / "numba" / own.name, beside]


def test_code_that_another_user_could_have_written_is_not_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    named, beside = folders()
    named.mkdir()
    named.chmod(0o777)
    assert folders() == [beside]
    named.chmod(0o700)
    assert folders() == [named, beside]


SCRIPT = """
import sys
import numpy as np
from candgen import kernels

kernels.compile_listeners.append(print)

@kernels.kernel
def largest(values, text):
    if not len(values):
        raise ValueError("no values")
    np.random.seed(1)
    values = np.sort(values)
    return values[-1] + np.sum(values), np.zeros(2), text

print(largest(np.array([1, 3, 2]), "x")[0])
try:
    largest(np.array([0, 0])[:0], "x")
except ValueError as error:
    print(error)
print("numba.np.arraymath" in sys.modules)
"""


def test_another_process_loads_it_without_the_compiler(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    variables = environment(NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    first, second = (
        subprocess.run(
            [sys.executable, script], env=variables, capture_output=True, check=True
        ).stdout.decode()
        for _ in range(2)
    )
    assert first.split("\n") == ["largest", "9", "no values", "True", ""]
    assert second.split("\n") == ["9", "no values", "False", ""]


def test_arrays_that_cannot_be_written_are_a_type_of_their_own(tmp_path, compiled, use_folders):
    use_folders(tmp_path)

    @kernels.kernel
    def first(values):
        return values[0]

    values = np.arange(3)
    first(values)
    values.setflags(write=False)
    assert first(values) == 0
    assert compiled == ["first"] * 2
