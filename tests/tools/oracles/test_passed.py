"""A complete run leaves out what a quick one has passed, and nothing that an engine or a failure could still change."""

import re

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.fixture
def engine():
    return None

@pytest.fixture
def breaks_afterwards():
    yield
    raise RuntimeError

@pytest.mark.parametrize("value", ["plain", "a@b"])
def test_passes(value): pass

def test_fails(): raise ValueError

def test_is_skipped(): pytest.skip("no time")

def test_ends_badly(breaks_afterwards): pass

def test_asks_for_an_engine(engine): pass
"""
PLUGINS = ("-p", "tools.oracles.passed", "-p", "no:randomly")


@pytest.mark.parametrize("spread", [(), ("-n", "2", "--dist", "loadgroup")], ids=["alone", "spread"])
def test_complete_run(pytester, tmp_path, spread):
    """What passed is left out, with every parameter; not what did not, what asks for an engine, or another folder's."""
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    for folder in ("services", "engines"):
        path = pytester.path / "tests" / folder
        path.mkdir(parents=True)
        (path / f"test_{folder}.py").write_text(TESTS)
    passed = tmp_path / "new folder" / "passed"
    pytester.runpytest_inprocess(*PLUGINS, *spread, f"--passed-to={passed}")
    result = pytester.runpytest_inprocess(*PLUGINS, *spread, f"--passed-before={passed}", "-v")
    again = set(re.findall(r"test_\w+\.py::test_\w+", result.stdout.str()))
    others = {"test_fails", "test_is_skipped", "test_ends_badly", "test_asks_for_an_engine"}
    assert {name.split("::")[1] for name in again if name.startswith("test_services")} == others
    assert {name.split("::")[1] for name in again if name.startswith("test_engines")} == {*others, "test_passes"}


def test_no_list_of_the_passed(pytester):
    """Without its file a run does not begin: nobody would see that it runs more than it was to."""
    pytester.makepyfile("def test_one(): pass")
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    result = pytester.runpytest_inprocess(*PLUGINS, "--passed-before=nowhere")
    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    assert "FileNotFoundError" in result.stdout.str() + result.stderr.str()
