"""cloudbase-init's own dispatcher, PowerShell's grammar and the schema of answer files judge what is rendered here."""

import pytest

from tests.provisioners.windows import samples
from tools.oracles import windows

pytestmark = pytest.mark.engine


@pytest.fixture(autouse=True)
def _needs_windows(engine):
    engine("windows")


@pytest.mark.parametrize("make", [samples.bundle, samples.everything], ids=["least", "everything"])
def test_cloudbase_init_runs_the_script_once(make):
    """The whole user data is one script for the 64-bit PowerShell, and nothing is complained about."""
    user_data = samples.render(make()).user_data
    made = windows.dispatch(user_data)
    (execution,) = made.steps
    assert (execution.shell, execution.content) == ("PowershellSysnative", user_data)
    assert (made.findings, made.done, made.reboot) == ((), True, False)


def test_cloudbase_init_reboots_and_runs_it_again():
    """Exit code 1003 is what the new name of the computer counts on."""
    made = windows.dispatch(samples.render(samples.everything()).user_data, exit_status=1003)
    assert (made.done, made.reboot) == (False, True)


@pytest.mark.parametrize("form", samples.FORMATS)
@pytest.mark.parametrize("make", [samples.bundle, samples.everything], ids=["least", "everything"])
def test_the_script_is_powershell(make, form):
    """A grammar takes every line, hard names and contents included."""
    assert windows.check_powershell(samples.script(make(), form).encode()) == []


def test_the_grammar_is_not_blind():
    """A quote that is not doubled would be seen."""
    script = samples.script(samples.everything()).replace("a''b", "a'b")
    assert windows.check_powershell(script.encode())


@pytest.mark.parametrize("make", [samples.bundle, samples.everything], ids=["least", "everything"])
def test_the_answer_file_fits_its_schema(make):
    """Elements in the passes where Setup takes them, lengths and value ranges."""
    assert windows.check_unattend(samples.render(make(), "unattend").user_data) == []
