"""The work folder of an output: resumed, started over, never somebody else's."""

from functools import partial

import pytest

from candgen.dumps.workspace import Workspace
from candgen.errors import StorageError

DONE = '{"read": 3, "newest": "é"}'
PLAN = {"dumps": ["fo.xml"], "options": {"refs": True}}


@pytest.fixture
def output(tmp_path):
    return tmp_path / "fo.parquet"


@pytest.fixture
def workspace(output):
    made = Workspace(output)
    made.begin(PLAN, resume=False)
    yield made
    made.release()


def test_a_part_is_finished_when_its_statistics_are_there(workspace):
    workspace.table("links", 0, 0).write_text("x")
    assert workspace.finished_parts() == {}
    for part in (10, 0):
        workspace.finish_part(part, DONE)
    assert list(workspace.finished_parts().items()) == [(0, DONE), (10, DONE)]


def test_tables_are_listed_by_kind_in_the_order_of_parts(workspace):
    wanted = [workspace.table("links", part, number) for part in (0, 9, 10) for number in (0, 11)]
    for path in [*wanted[::-1], workspace.table("pages", 0, 0)]:
        path.write_text("x")
    assert workspace.tables("links") == wanted
    assert workspace.tables("absent") == []


def test_what_is_finished_is_kept_only_by_who_resumes(output, workspace):
    workspace.finish_part(0, DONE)
    workspace.release()
    again = Workspace(output)
    again.begin(dict(reversed(PLAN.items())), resume=True)
    assert again.finished_parts() == {0: DONE}
    again.release()
    again.begin(PLAN, resume=False)
    assert again.finished_parts() == {}
    again.release()


def test_two_runs_do_not_work_in_one_folder(output, workspace):
    workspace.finish_part(0, DONE)
    for resume in (True, False):
        with pytest.raises(StorageError, match=r"^another run is at work"):
            Workspace(output).begin(PLAN, resume=resume)
    assert workspace.finished_parts() == {0: DONE}
    workspace.discard()
    assert not workspace.folder.exists()
    workspace.begin(PLAN, resume=False)


def test_another_plan_is_not_resumed_and_what_it_made_is_kept(output, workspace):
    workspace.finish_part(0, DONE)
    workspace.release()
    with pytest.raises(
        StorageError, match="with other files or other options and cannot be resumed"
    ):
        Workspace(output).begin({**PLAN, "dumps": ["is.xml"]}, resume=True)
    assert workspace.finished_parts() == {0: DONE}


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("left", [[], [".candgen-0123.tmp"]])
def test_a_run_that_was_killed_before_it_had_a_plan_is_started_over(output, resume, left):
    workspace = Workspace(output)
    workspace.folder.mkdir()
    for name in left:
        (workspace.folder / name).touch()
    workspace.begin(PLAN, resume=resume)
    assert {path.name for path in workspace.folder.iterdir()} == {"lock", "plan.json"}
    workspace.release()


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_what_is_not_ours_is_never_deleted(tmp_path, output, resume, kind):
    workspace = Workspace(output)
    kept = tmp_path / "kept"
    kept.mkdir()
    if kind == "folder":
        workspace.folder.mkdir()
        (workspace.folder / "thesis.tex").write_text("x")
    elif kind == "file":
        workspace.folder.write_text("x")
    else:
        workspace.folder.symlink_to(kept)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StorageError, match="holds something else: move it away"):
        workspace.begin(PLAN, resume=resume)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_cannot_be_made(tmp_path):
    with pytest.raises(StorageError, match="cannot be made: No such file or directory; choose"):
        Workspace(tmp_path / "absent" / "fo.parquet").begin(PLAN, resume=False)


def test_outputs_come_to_their_places_last(output, workspace):
    report = output.with_suffix(".json")
    output.write_text("old")
    for path in (output, report):
        (workspace.folder / path.name).write_text("new")
    workspace.finish([report, output])
    assert (output.read_text(), report.read_text()) == ("new", "new")
    assert not workspace.folder.exists()


def test_an_output_that_cannot_be_moved_leaves_the_work(output, workspace):
    with pytest.raises(StorageError, match="cannot be written: No such file or directory; choose"):
        workspace.finish([output])
    assert workspace.folder.exists()


@pytest.fixture
def made(workspace):
    """A folder that was made in the work folder."""
    folder = workspace.folder / "made"
    folder.mkdir()
    for name in ("a", "report"):
        (folder / name).write_text("new")
    return folder


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_folder_takes_the_place_of_the_output(output, workspace, made):
    output.mkdir()
    (output / "old").write_text("old")
    workspace.finish_folder(made, output)
    assert contents(output) == {"a": "new", "report": "new"}
    assert not workspace.folder.exists()


def test_a_folder_is_merged_into_the_output(output, workspace, made):
    output.mkdir()
    for name in ("a", "old", "report"):
        (output / name).write_text("old")
    workspace.merge_folder(made, output, last="report")
    assert contents(output) == {"a": "new", "old": "old", "report": "new"}
    assert not workspace.folder.exists()


def test_an_output_folder_that_does_not_exist_appears_whole(output, workspace, made):
    workspace.merge_folder(made, output, last="report")
    assert contents(output) == {"a": "new", "report": "new"}


def test_a_folder_that_cannot_be_moved_leaves_the_work(output, workspace, made):
    for finish in (workspace.finish_folder, partial(workspace.merge_folder, last="report")):
        with pytest.raises(StorageError, match=r"cannot be written: .*; choose another place"):
            finish(made, output / "absent" / "deep")
    assert contents(made) == {"a": "new", "report": "new"}
