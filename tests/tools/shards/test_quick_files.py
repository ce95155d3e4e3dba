"""A quick run does not import a file whose tests it would all skip, and leaves out no other file."""

import pytest

from tools.oracles.pytest_plugin import LEFT_OUT

pytest_plugins = ["pytester"]

INI = """\
[pytest]
asyncio_default_fixture_loop_scope = function
markers =
  boots: x
  engine: x
  long: x
"""
IMPORTED = "import pathlib, pytest\npathlib.Path(__file__ + '.imported').touch()\n"
TEST = "def test_it(): pass\n"
PLUGINS = ("tools.oracles.pytest_plugin", "tools.shards.pytest_plugin", "tools.shards.quick_files")


def run(pytester, path, text, *options):
    """Run pytest on a tree that has one file, and return the result and whether the file was imported."""
    file = pytester.path / path
    file.parent.mkdir(parents=True)
    file.write_text(IMPORTED + text)
    pytester.makeini(INI)
    plugins = [word for plugin in PLUGINS for word in ("-p", plugin)]
    result = pytester.runpytest_inprocess(*plugins, "-p", "no:randomly", *options)
    return result, (pytester.path / f"{path}.imported").exists()


@pytest.mark.parametrize(
    ("mark", "spread"),
    [
        pytest.param("pytest.mark.boots", (), id="alone"),
        pytest.param("[pytest.mark.timeout(9), pytest.mark.engine]", ("-n", "2"), id="spread"),
    ],
)
def test_a_marked_file_of_a_shard(pytester, mark, spread):
    """It is not imported, and one line says so."""
    result, imported = run(pytester, "tests/node/test_it.py", f"pytestmark = {mark}\n{TEST}", "--quick", *spread)
    assert not imported
    assert f"all tests of 1 file: {LEFT_OUT}" in result.outlines


@pytest.mark.parametrize(
    ("reason", "path", "text", "options"),
    [
        ("is no quick run: passed", "tests/node/test_it.py", "pytestmark = pytest.mark.boots\n", ()),
        ("has no such mark: passed", "tests/node/test_it.py", "pytestmark = pytest.mark.timeout(9)\n", ("--quick",)),
        ("marks one test: skipped", "tests/node/test_it.py", "@pytest.mark.boots\n", ("--quick",)),
        ("is in no shard: errors", "tests/sdk/test_it.py", "pytestmark = pytest.mark.boots\n", ("--quick",)),
        (
            "is named on the command line: skipped",
            "tests/node/test_it.py",
            "pytestmark = pytest.mark.boots\n",
            ("--quick", "tests/node/test_it.py"),
        ),
    ],
)
def test_every_other_file(pytester, reason, path, text, options):
    """It is imported, and its test has the outcome behind the reason."""
    result, imported = run(pytester, path, text + TEST, *options)
    assert imported, reason
    assert result.parseoutcomes() == {reason.rpartition(" ")[2]: 1}, reason
    assert f"all tests of 1 file: {LEFT_OUT}" not in result.outlines
