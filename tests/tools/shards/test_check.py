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
        ("tests/machines/test_boot.py", 'P = ROOT / "pictures"\n', "without pictures"),
        # a file
        ("tests/machines/test_boot.py", 'P = "pictures/harbour.svg"\n', "without pictures"),
        # the parts of a path
        ("tests/machines/test_boot.py", 'P = ROOT / "pictures" / "harbour.svg"\n', "without pictures"),
        # a pattern
        ("tests/machines/test_boot.py", 'P = "pictures/*.svg"\n', "without pictures"),
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


@pytest.mark.parametrize(
    ("path", "text", "page"),
    [
        # a file
        ("tests/machines/test_boot.py", 'P = "docs/page.md"\n', "docs/page.md"),
        # the parts of a path
        ("tests/machines/test_boot.py", 'P = ROOT / "docs" / "page.md"\n', "docs/page.md"),
        # a folder
        ("tests/machines/test_boot.py", 'P = ROOT / "docs"\n', "docs"),
        # any page of a folder
        ("tests/machines/test_boot.py", 'P = ROOT / "docs" / f"{name}.md"\n', "docs"),
        # a pattern
        ("tests/machines/test_boot.py", 'P = "docs/p*.md"\n', "docs"),
        # a file at the top
        ("tests/machines/test_boot.py", 'P = ROOT / "README.md"\n', "README.md"),
        # any file at the top
        ("tests/machines/test_boot.py", 'P = ROOT.glob("*.md")\n', "README.md"),
        # by what a test imports
        ("tests/machines/machine.py", 'P = "docs/page.md"\n', "docs/page.md"),
    ],
)
def test_documentation_that_is_reached(root, write, path, text, page):
    """Documentation that a test can read must be in the docs of its shard, and is right there."""
    write(path, text)
    assert any(line.startswith(f"machines: docs must have {page}: ") for line in problems(root))
    both = 'tests = ["tests/machines"]\n'
    document = (root / shard_map.FILE).read_text(encoding="utf-8")
    write(shard_map.FILE, document.replace(both, f'{both}docs = ["{page}"]\n'))
    assert problems(root) == []


@pytest.mark.parametrize(
    ("docs", "problem"),
    [
        ('["docs/read.md", "docs/page.md"]', "web: docs has docs/page.md, which no test of it reaches"),
        ('["docs"]', "web: docs has docs, which no test of it reaches"),
        ('["docs/read.md", "pictures"]', "web: docs has pictures, which is no documentation"),
        ('["docs/read.md"]\nengines = []', None),
    ],
)
def test_documentation_that_is_not_reached(root, write, docs, problem):
    """An entry that no test needs would make a shard run for nothing."""
    document = (root / shard_map.FILE).read_text(encoding="utf-8")
    write(shard_map.FILE, document.replace('["docs/read.md"]', docs))
    assert problems(root) == ([problem] if problem else [])


def test_documentation_that_the_product_names(root, write):
    """A page whose name the product prints is for its reader: the product never reads it."""
    write("bootstrapper/slipway/core.py", 'VALUE = "docs/page.md"\n')
    assert problems(root) == []


def test_documentation_that_a_shard_is_without(root, write):
    """Documentation affects no shard that does not name it, so that leaving it out would mean nothing."""
    document = (root / shard_map.FILE).read_text(encoding="utf-8")
    write(shard_map.FILE, document.replace('"services/slipway/web"]', '"services/slipway/web", "docs"]'))
    assert [line for line in problems(root) if "which is documentation" in line]


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
        ('pictures = ["pictures"]', 'pictures = ["pictures", "gone"]', "machines: there is no gone"),
        ('"docs"]', '"docs", "gone"]', "documentation: there is no gone"),
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


@pytest.mark.parametrize(
    ("command", "test", "reached"),
    [
        # no test calls it
        ("def main():\n    import slipway.web\n", "", False),
        # a test calls it
        ("def main():\n    import slipway.web\n", 'C = ["slipway", "serve"]\n', True),
        # it is loaded with all commands
        ("import slipway.web\n\n\ndef main(): pass\n", "", True),
    ],
)
def test_a_command(root, write, command, test, reached):
    """What the module of a command imports in a function is reached by tests that have its word, and by no other."""
    document = (root / shard_map.FILE).read_text(encoding="utf-8")
    write(shard_map.FILE, f'{document}[commands]\nserve = "services/slipway/cli/serve.py"\n')
    write("services/slipway/cli/serve.py", command)
    write("bootstrapper/slipway/core.py", "import slipway.cli.serve\nVALUE = 1\n")
    write("tests/machines/test_boot.py", f"from tests.machines.machine import VALUE\n{test}")
    lines = problems(root)
    assert any("without services/slipway/web" in line for line in lines) is reached, lines
