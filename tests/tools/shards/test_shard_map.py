"""The map says to which shard each test file belongs, and cannot be half right."""

import pytest

from tools.shards import shard_map


def read(tmp_path, text):
    file = tmp_path / "shards.toml"
    file.write_text(text, encoding="utf-8")
    return shard_map.read(file)


@pytest.mark.parametrize(
    ("path", "owner", "reason"),
    [
        ("tests/machines/test_boot.py", "machines", "of its folder"),
        ("tests/machines/deep/test_more.py", "machines", "of a folder above"),
        ("tests/machines/test_web.py", "web", "the longest path wins"),
        ("tests/quick/test_quick.py", "", "needs no engine"),
        ("tests/new/test_new.py", None, "nobody named it"),
        ("tests/machines_too/test_new.py", None, "only begins alike"),
    ],
)
def test_owner(root, path, owner, reason):
    """The longest path that names a file decides."""
    assert shard_map.read(root / shard_map.FILE).owner(path) == owner, reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("quick = []\nslow = []\n[groups]\n[shards]\n", "the map: unknown key slow"),
        ("quick = []\n[groups]\n[shards.a]\ntest = []\n", "a: unknown key test"),
        ('quick = []\n[groups]\n[shards.a]\ntests = ["x"]\nwithout = ["@prose"]\n', "a: there is no group @prose"),
        ('quick = []\ndocumentation = "docs"\n[groups]\n[shards]\n', "documentation is no list"),
        ('quick = ["x"]\n[groups]\n[shards.a]\ntests = ["x"]\nwithout = []\n', "two entries name x"),
        ('quick = []\n[groups]\n[shards.a]\ntests = "x"\nwithout = []\n', "tests is no list"),
    ],
)
def test_mistakes(tmp_path, text, message):
    """What the map does not mean is an error, never left out."""
    with pytest.raises(shard_map.MapError, match=message):
        read(tmp_path, text)


def test_our_own():
    """Each kind of test that every gate runs has a shard that always runs."""
    always = {name for name, shard in shard_map.read().shards.items() if shard.always}
    assert always == {"import-comparison", "node-boot", "cluster-machines", "conformance"}
