"""Words that the project does not use become fewer, never more, wherever they stand."""

import pytest

from tools.words import __main__ as words
from tools.words import counts, word_list
from tools.words.fragments import fragments

_LIST = """
[[text]]
pattern = '(?i:\\bcan not\\b)'
instead = "cannot"

[[name]]
pattern = 'found'
instead = "a noun"
"""


@pytest.fixture
def tree(tmp_path):
    """A project with a page that holds the word twice, and no more allowed."""
    for path, text in {
        "docs/page.md": "It can not.\nThey can not.\n",
        word_list.FILE: _LIST,
        counts.FILE: '[prose]\n"docs" = 2\n',
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_as_recorded(tree, capsys):
    """The counts of the file pass, and the places are listed with their lines and the words to use."""
    assert words.main(["check"], tree) == 0
    assert words.main(["list", "docs"], tree) == 0
    assert capsys.readouterr().out.splitlines() == [
        "docs/page.md:1: prose: 'can not': cannot",
        "docs/page.md:2: prose: 'can not': cannot",
    ]


def test_one_more(tree, capsys):
    """A word that is added fails the check, and cannot be recorded."""
    (tree / "docs/new.md").write_text("Can not!")
    assert words.main(["check"], tree) == 1
    assert words.main(["lower"], tree) == 1
    assert capsys.readouterr().err.count("prose of docs: 3, but at most 2") == 2
    assert counts.read(tree) == {("prose", "docs"): 2}


@pytest.mark.parametrize("text", ["It cannot.\nThey can not.\n", "It cannot.\n"])
def test_one_less(tree, capsys, text):
    """A word that is gone must be recorded, so that it does not return; so must the last one of an area."""
    (tree / "docs/page.md").write_text(text)
    assert words.main(["check"], tree) == 1
    assert "no longer 2" in capsys.readouterr().err
    assert words.main(["lower"], tree) == 0
    assert words.main(["check"], tree) == 0
    assert sum(counts.read(tree).values()) == text.count("can not")


def test_python(tree):
    """Docstrings are comments, other literals are strings, and each name counts where it is given."""
    source = '"""Can not."""\nfound = f"can not {found}"  # can not\ndef found(found): return found\n'
    matches = [match for each in fragments("a.py", source) for match in word_list.read(tree).matches(each)]
    assert sorted((match.kind, match.line) for match in matches) == [
        ("comments", 1), ("comments", 2), ("names", 2), ("names", 3), ("names", 3), ("strings", 2),
    ]  # fmt: skip


def test_go(tree):
    """A comment within a string is a string, and a quote within a comment begins none."""
    source = 'x := "// can not" // "can not\n/* can\n not */ y := `\ncan not`\n'
    matches = [match for each in fragments("a.go", source) for match in word_list.read(tree).matches(each)]
    assert [(match.kind, match.line) for match in matches] == [("strings", 1), ("comments", 1), ("strings", 4)]


def test_what_tests_expect(tree):
    """Texts that a test gives to a program are no words of ours; its names are."""
    (tree / "tests").mkdir()
    (tree / "tests/test_a.py").write_text('def test_a(found):\n    assert found == "can not"\n')
    assert counts.count(counts.places(tree, word_list.read(tree))) == {("prose", "docs"): 2, ("names", "tests"): 1}


def test_areas():
    """A file belongs to the longest area, else to its first folder."""
    areas = [counts.area(path) for path in ("services/slipway/cli/a.py", "services/slipway/cli_x/a.py", "README.md")]
    assert areas == ["services/slipway/cli", "services", "README.md"]


def test_usage(tree):
    """An unknown command is a usage error."""
    assert words.main(["raise"], tree) == 2
