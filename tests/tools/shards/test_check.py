"""A map that leaves out what a test reaches, or forgets a test, is refused."""

import pytest

from tools.shards import check, shard_map


def problems(root):
    return list(check.problems(shard_map.read(root / shard_map.FILE), root))


def test_a_right_map(root):
    """The map of the example has no problem."""
    assert problems(root) == []


@pytest.mark.parametrize(
    ("path", "text", "problem"),
    [
        # a test that nobody would run
        ("tests/new/test_new.py", "", "tests/new/test_new.py is in no shard"),
        # import
        ("tests/machines/test_boot.py", "import slipway.web.__main__\n", "without services/slipway/web"),
        # of a name
        ("tests/machines/test_boot.py", "from slipway.web import x\n", "without services/slipway/web"),
        # by what it imports
        ("tests/machines/machine.py", "import slipway.web\n", "without services/slipway/web"),
        # by what pytest loads for it
        ("tests/conftest.py", "import slipway.web\n", "without services/slipway/web"),
        # far away
        ("bootstrapper/slipway/core.py", "import slipway.web\n", "without services/slipway/web"),
        # a process
        ("tests/machines/test_boot.py", 'C = ["-m", "slipway.web"]\n', "without services/slipway/web"),
        # an entry point
        ("tests/machines/test_boot.py", 'C = ["slipway-web"]\n', "without services/slipway/web"),
        # a command
        ("tests/machines/test_boot.py", 'C = f"{bin}/slipway-web --x"\n', "without services/slipway/web"),
        # a folder
        ("tests/machines/test_boot.py", 'P = ROOT / "docs"\n', "without docs"),
        # a file
        ("tests/machines/test_boot.py", 'P = "docs/page.md"\n', "without docs"),
        # a file at the top
        ("tests/machines/test_boot.py", 'P = ROOT / "README.md"\n', "without README.md"),
        # a folder above
        ("tests/machines/test_boot.py", 'P = ROOT / "services"\n', "without services/slipway/web"),
    ],
)
def test_what_is_reached(root, write, path, text, problem):
    """Every way in which a test can reach a source contradicts a map that calls it unaffected."""
    write(path, text)
    found = problems(root)
    assert any(problem in line for line in found), found
    assert not any(line.startswith("web:") and "services" in line for line in found), (
        "the other shard says nothing of it"
    )


def test_what_only_speaks_of_it(root, write):
    """A docstring, a logger, a sentence, a file and a user agent that name a module or a program reach nothing."""
    write(
        "tests/machines/test_boot.py",
        '"""As slipway.web does it, see docs/page.md."""\nM = "Start it again by hand: slipway-web is not there."\n'
        'L = structlog.get_logger("slipway.web")\n'
        'F = ["slipway-web.service", "90-slipway-web", "slipway-web-"]\nH = {"User-Agent": "slipway-web"}\n',
    )
    assert problems(root) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"docs"]', '"docs", "gone"]', "machines: there is no gone"),
        ('["tests/quick"]', '["tests/quick", "tests/gone"]', "quick: there is no tests/gone"),
        ('["tests/machines/test_web.py"]', "[]", "web: has no test file"),
        ("root-trixie", "root-gone", "machines: there is no engine root-gone"),
    ],
)
def test_what_is_gone(root, write, old, new, problem):
    """A name that means nothing any more is no comment: it may have been renamed to what is now forgotten."""
    text = (root / shard_map.FILE).read_text(encoding="utf-8")
    assert old in text
    write(shard_map.FILE, text.replace(old, new))
    assert problem in problems(root)
