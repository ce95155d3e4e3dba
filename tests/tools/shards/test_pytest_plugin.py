"""A test that needs an engine cannot hide in a folder of quick ones, and only machines get a second try."""

import json

import pytest

pytest_plugins = ["pytester"]

INI = """\
[pytest]
asyncio_default_fixture_loop_scope = function
markers =
  boots: x
  engine: x
  long: x
  xdist_group: x
"""
TESTS = """
import pathlib
import pytest

def second_time(name):
    file = pathlib.Path(name)
    again = file.exists()
    file.touch()
    return again

@pytest.mark.boots
def test_machine(): assert second_time('machine')

@pytest.mark.boots
def test_broken_machine(): assert False

def test_other(): assert second_time("other")
"""


def run(pytester, folder, text, *options):
    path = pytester.path / "tests" / folder / "test_it.py"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    pytester.makeini(INI)
    return pytester.runpytest_inprocess("-p", "tools.shards.pytest_plugin", "-p", "no:randomly", "-rR", *options)


@pytest.mark.parametrize("spread", [(), ("-n", "2", "--dist", "loadgroup")], ids=["alone", "spread"])
def test_a_second_try(pytester, spread, tmp_path):
    """A machine that is ready at the second try passes and is counted; a broken one and any other test fail."""
    kept = tmp_path / "outcomes"
    result = run(pytester, "node", TESTS, "--retry-machines", f"--outcomes-to={kept}", *spread)
    assert result.parseoutcomes() == {"passed": 1, "failed": 2, "rerun": 2}
    tries = result.stdout.str().split("first try of ")[1:]
    assert any("::test_machine" in text and "second_time('machine')" in text for text in tries)
    outcomes = {name.partition("::")[2]: entry for name, entry in json.loads(kept.read_text()).items()}
    assert {name: (entry["outcome"], entry["reruns"]) for name, entry in outcomes.items()} == {
        "test_machine": ("passed", 1),
        "test_broken_machine": ("failed", 1),
        "test_other": ("failed", 0),
    }


def test_no_second_try_unless_it_is_asked_for(pytester):
    """Who looks for a fault sees the first one."""
    assert run(pytester, "node", TESTS).parseoutcomes() == {"failed": 3}


def test_machines_come_first(pytester):
    """The large group begins, other machines follow, and then everything else in the order that it has."""
    text = """
import pytest

def test_one(): pass

@pytest.mark.boots
def test_disk(): pass

def test_two(): pass

@pytest.mark.boots
@pytest.mark.xdist_group("node")
def test_node(): pass
"""
    result = run(pytester, "node", text, "-v")
    names = [line.partition("::")[2].split()[0] for line in result.outlines if "::" in line and "PASSED" in line]
    assert names == ["test_node", "test_disk", "test_one", "test_two"]


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\n@pytest.mark.long\ndef test_it(): pass\n",
        "import pytest\n@pytest.mark.engine\ndef test_it(): pass\n",
        "import pytest\n@pytest.mark.boots\ndef test_it(): pass\n",
        "import pytest\n@pytest.fixture\ndef engine(): pass\ndef test_it(engine): pass\n",
    ],
)
@pytest.mark.parametrize(("folder", "status"), [("sdk", 1), ("new", 1), ("node", 0)])
def test_a_test_that_needs_more(pytester, text, folder, status):
    """It has to be in a shard, or it would run nowhere."""
    result = run(pytester, folder, text)
    assert result.ret == status
    if status:
        result.stdout.fnmatch_lines(["*in no shard: add it to tests/shards.toml*"])
