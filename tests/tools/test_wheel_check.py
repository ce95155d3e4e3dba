"""Whatever a wheel holds less, more, twice or otherwise than the tree is told."""

import zipfile

import pytest

from tools import wheel_check

EXPECTED = {"slipway/a.py": b"a", "slipway/data.yaml": b"b"}
SCRIPTS = '[project.scripts]\nslipway = "slipway.cli:main"\n'
ENTRIES = "[console_scripts]\nslipway = slipway.cli:main\n"


def wheel(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {"x-1.dist-info/METADATA": "", **files}.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("files", "problems", "reason"),
    [
        ({"slipway/a.py": b"a", "slipway/data.yaml": b"b"}, [], "as it is"),
        ({"slipway/a.py": b"a"}, ["slipway/data.yaml is in no wheel"], "a data file was forgotten"),
        (
            {"slipway/a.py": b"a", "slipway/data.yaml": b"old"},
            ["one.whl: slipway/data.yaml is not as in the tree"],
            "built from something else",
        ),
        (
            {"slipway/a.py": b"a", "slipway/data.yaml": b"b", "tools/x.py": b""},
            ["one.whl: tools/x.py is not of the tree"],
            "another name at the top",
        ),
    ],
)
def test_contents(tmp_path, files, problems, reason):
    """Each difference is told by the file's name."""
    assert list(wheel_check.differences(EXPECTED, [wheel(tmp_path / "one.whl", files)])) == problems, reason


def test_two_wheels(tmp_path):
    """Together they hold everything; a file in both belongs to nobody."""
    one = wheel(tmp_path / "one.whl", {"slipway/a.py": b"a"})
    two = wheel(tmp_path / "two.whl", {"slipway/data.yaml": b"b"})
    assert list(wheel_check.differences(EXPECTED, [one, two])) == []
    both = wheel(tmp_path / "both.whl", EXPECTED)
    assert list(wheel_check.differences(EXPECTED, [both, one])) == ["one.whl: slipway/a.py is in two wheels"]


@pytest.mark.parametrize(
    ("entries", "count"), [(ENTRIES, 0), ("", 1), (f"{ENTRIES}other = x:y\n", 1), (ENTRIES.replace(":main", ":run"), 1)]
)
def test_programs(tmp_path, entries, count):
    """A program that is missing, added or of another module is told."""
    (tmp_path / "pyproject.toml").write_text(SCRIPTS)
    files = {"x-1.dist-info/entry_points.txt": entries} if entries else {}
    assert len(list(wheel_check.undeclared(tmp_path, [wheel(tmp_path / "one.whl", files)]))) == count


def test_our_tree_has_what_wheels_need():
    """Code, data of every kind and markers of types are among what is expected."""
    expected = wheel_check.in_tree(wheel_check.ROOT)
    assert {name.split("/")[0] for name in expected} == {wheel_check.TOP}
    assert {name.rpartition(".")[2] for name in expected} >= {"py", "yaml", "sh", "ps1", "tmpl", "typed"}
    assert "slipway/contract/py.typed" in expected
