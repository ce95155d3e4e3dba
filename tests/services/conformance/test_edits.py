"""Slips in the source of provisioners in Python are seen by the suite."""

from pathlib import Path

import pytest

from slipway.conformance.options import Options
from slipway.conformance.run import Wanted, conformance
from tests.services.conformance.edits.edit import Edit, edits
from tests.services.conformance.edits.programs import program
from tests.services.conformance.runs import BAD, CHECKS, broken

RUN = (
    "ignition", "cloud_init", "windows", "talos", "cloud_init_again", "windows_again", "talos_again", "ignition_again",
    "cloud_init_third", "ignition_fifth", "cloud_init_sixth", "cloud_init_tenth", "ignition_tenth",
    "cloud_init_eleventh", "ignition_eleventh", "talos_eleventh", "windows_eleventh", "cloud_init_twelfth",
    "ignition_twelfth", "talos_thirteenth", "windows_fourteenth",
)  # fmt: skip
"""Those that are run here: a build for each edit in Go takes too long, and that in shell has tests of its own."""

_OTHERS = (
    "bottlerocket", "bottlerocket_again", "bottlerocket_third", "bottlerocket_fifth", "bottlerocket_sixth",
    "bottlerocket_twelfth", "bottlerocket_thirteenth", "bottlerocket_fourteenth", "bottlerocket_settings",
    "shell", "shell_again",
)  # fmt: skip
_NONE = Edit("nothing", "none.py", "", "")
_SEEN = [(name, edit) for name in RUN for edit in edits(name) if edit.check]


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "edit"), _SEEN, ids=[edit.name.replace(" ", "-") for _, edit in _SEEN])
async def test_a_slip_in_python_is_seen(name: str, edit: Edit, tmp_path: Path) -> None:
    """By the check that is named beside it. A set has the same order in each run, which is not that of the list."""
    start_cmd, decode_cmd = program(name, edit, tmp_path)
    options = Options(insecure=True, start_cmd=("env", "PYTHONHASHSEED=1", *start_cmd), decode_cmd=decode_cmd)
    assert await broken(options, edit.check) == [edit.check]


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", RUN)
async def test_a_copy_without_a_slip_passes(name: str, tmp_path: Path) -> None:
    """The copy itself breaks nothing: what the checks above see is the edit."""
    checks = tuple({edit.check for edit in edits(name)} - {""})
    start_cmd, decode_cmd = program(name, _NONE, tmp_path)
    options = Options(insecure=True, start_cmd=start_cmd, decode_cmd=decode_cmd)
    made = await conformance(options, wanted=Wanted(only=checks))
    assert [list(finding.found) for finding in made.findings if finding.state in BAD] == []


@pytest.mark.parametrize("name", [*RUN, *_OTHERS])
def test_edits_are_of_the_suite(name: str) -> None:
    """Some of each, each of a name of its own, with a check that there is, or the reason for none."""
    listed = edits(name)
    assert len({edit.name for edit in listed}) == len(listed) >= 3
    assert {edit.check for edit in listed} - {""} <= CHECKS.keys()
    assert [edit.name for edit in listed if bool(edit.check) == bool(edit.unseen)] == []


@pytest.mark.parametrize(("old", "reason"), [("not there", "nothing to change"), ("name", "more than one place")])
def test_an_edit_fits_the_source(old: str, reason: str) -> None:
    """A source that has changed makes its edits fail, and pass for nothing."""
    with pytest.raises(LookupError, match="times"):
        Edit("x", "x.py", old, "").applied("name = name")


@pytest.mark.parametrize("name", [*RUN, "shell", "shell_again"])
def test_edits_fit(name: str, tmp_path: Path) -> None:
    """All of them, without a run."""
    for number, edit in enumerate(edits(name)):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert program(name, edit, folder)[0]
