"""A missing engine is one clear line in a quick run, and a failure where all engines are required."""

import pytest

from tools.oracles import availability, build, go_programs
from tools.oracles.failures import EngineMissing
from tools.oracles.pytest_plugin import LEFT_OUT

pytest_plugins = ["pytester"]

TESTS = """
def test_one(engine):
    engine("talos-1.13")

def test_two(engine):
    engine("talos-1.13")
"""


@pytest.mark.parametrize(("required", "outcome"), [("", {"skipped": 2}), ("1", {"failed": 2})])
def test_missing_engine(pytester, monkeypatch, tmp_path, required, outcome):
    """The line names the command that builds the engine."""
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))
    monkeypatch.setenv("SLIPWAY_REQUIRE_ENGINES", required)
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    result = pytester.runpytest("-p", "tools.oracles.pytest_plugin", "-p", "no:randomly")
    result.assert_outcomes(**outcome)
    result.stdout.fnmatch_lines(["*engine talos-1.13 is missing: run 'python -m tools.oracles.build talos-1.13'*"])
    if not required:
        lines = [line for line in result.outlines if "is missing" in line]
        assert lines == ["2 tests: engine talos-1.13 is missing: run 'python -m tools.oracles.build talos-1.13'"]


QUICK = """
import pytest

@pytest.fixture
def machine():
    raise AssertionError("was set up")

@pytest.mark.boots
def test_boots(machine): pass

@pytest.mark.long
def test_takes_long(machine): pass

@pytest.mark.engine
def test_is_marked(machine): pass

def test_asks(engine): engine("built")

@pytest.mark.parametrize("value", [1, pytest.param(2, marks=pytest.mark.long)])
def test_has_a_long_case(value): pass
"""
INI = """
[pytest]
asyncio_default_fixture_loop_scope = function
markers =
  boots: x
  engine: x
  long: x
"""


@pytest.mark.parametrize("spread", [(), ("-n", "2")], ids=["alone", "spread"])
@pytest.mark.parametrize("required", ["", "1"])
def test_quick_run(pytester, monkeypatch, required, spread):
    """It leaves out what runs an engine, boots or takes long, also where all is built, and says so in one line."""
    monkeypatch.setenv("SLIPWAY_REQUIRE_ENGINES", required)
    monkeypatch.setattr(availability, "require", lambda name: None)
    pytester.makepyfile(QUICK)
    pytester.makeini(INI)
    result = pytester.runpytest_inprocess("-p", "tools.oracles.pytest_plugin", "-p", "no:randomly", "--quick", *spread)
    result.assert_outcomes(passed=1, skipped=5)
    reasons = result.outlines[result.outlines.index(next(line for line in result.outlines if "and why" in line)) + 1 :]
    assert [line for line in reasons if "tests: " in line] == [f"5 tests: {LEFT_OUT}"]


def test_every_engine_is_missing_in_an_empty_cache(monkeypatch, tmp_path):
    """Each name that can be built can be asked for, and each group consists of such names."""
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))
    # Shells and browser are the machine's own packages, not in the cache.
    for name in {*build.BUILDERS, *availability.GROUPS} - {"shells", "browser"}:
        with pytest.raises(EngineMissing):
            availability.require(name)
    assert {part for parts in availability.GROUPS.values() for part in parts} <= build.BUILDERS.keys()


def test_unknown_engine(capsys):
    """A misspelt name is neither built nor found missing."""
    assert build.main(["nonsense"]) == 2
    assert "nonsense" in capsys.readouterr().err
    with pytest.raises(KeyError):
        availability.require("nonsense")


def test_changed_source_is_another_program(tmp_path, monkeypatch):
    """The cache is asked by the sources and pins: a changed pin never finds the old binary."""
    monkeypatch.setattr(go_programs, "_SOURCES", tmp_path)
    folder = tmp_path / "x"
    folder.mkdir()
    for name in ("main.go", "go.mod", "go.sum"):
        (folder / name).write_text(name)
    program = go_programs.Program("x", "x")
    paths = {program.path}
    for name in ("main.go", "go.mod", "go.sum"):
        (folder / name).write_text(f"{name} changed")
        paths.add(program.path)
    assert len(paths) == 4
