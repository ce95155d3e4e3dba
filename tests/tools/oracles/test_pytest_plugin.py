"""A missing engine is one clear line in a quick run, and a failure where all engines are required."""

import pytest

from tools.oracles import availability, build, go_programs
from tools.oracles.failures import EngineMissing

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
