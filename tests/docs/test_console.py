"""The player of pages: it runs what a page says, and tells what went differently."""

import os
from pathlib import Path

import pytest

from tests.docs.console import blocks, play, scenes


def played(page: str, folder: Path, ports: dict[int, int] | None = None) -> list[str]:
    """Play the one scene of a page."""
    (scene,) = scenes(page, by_section=False)
    return play(scene, folder, os.environ, ports or {})


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("```console\n$ echo one\none\n```", "the same text"),
        ("```console\n$ echo 'size 12.5 kB'\nsize 7 kB\n```", "numbers may differ"),
        ("```console\n$ echo 3440 bytes, mode 0640\n3486 bytes, mode 0640\n```", "sizes differ by some bytes"),
        ("```console\n$ echo at 127.0.0.1:45123\nat 127.0.0.1:9450\n```", "a port is no size"),
        ("```console\n$ echo a:5123 has 1010 bytes\na:9450 has 1000 bytes\n```", "also beside one"),
        ("```console\n$ echo a; echo b; echo c\na\n...\n```", "any lines"),
        ("```console\n$ echo 'id 3f9a: done'\nid …: done\n```", "any text"),
        ("```console\n$ echo 'a    b'\na b\n```", "the width of columns may differ"),
        ("```console\n$ false\n$ echo $?\n1\n```", "a page may show a failure together with its exit code"),
        ("```console\n$ cd / && x=1\n$ echo $PWD $x\n/ 1\n```", "one shell for all commands"),
        ("```console\n$ cat <<'E'\nfirst\nE\nfirst\n```", "a heredoc belongs to its command"),
        ("```console\n$ echo a \\\n  b\na b\n```", "so does a line that goes on"),
        ("<!-- file: x/y.txt -->\n```yaml\nkey: 1\n```\n```console\n$ cat x/y.txt\nkey: 1\n```", "a block is a file"),
        ("```console\n$ cat\n```", "nothing waits for input"),
        (
            "```console background\n$ (echo ready; sleep 60)\nready\n```\n```console\n$ jobs\n…sleep 60…\n```",
            "a service goes on while the page goes on",
        ),
    ],
)
def test_a_true_page(page: str, reason: str, tmp_path: Path) -> None:
    """A page that tells the truth has nothing wrong."""
    assert played(page, tmp_path) == [], reason


@pytest.mark.parametrize(
    ("page", "want", "reason"),
    [
        ("```console\n$ echo one\ntwo\n```", "it printed:\none", "another text"),
        ("```console\n$ echo 3440 bytes\n4000 bytes\n```", "it printed:\n3440 bytes", "a size that is not that one"),
        ("```console\n$ echo 0750\n...\nmode 0750\n```", "it printed:\n0750", "a number that is not where it was"),
        ("```console\n$ echo x; echo mode 0750\n...\nmode 0640\n```", "it printed:\nx", "a mode is no loose number"),
        ("```console\n$ echo one; echo two\none\n```", "it printed:\none\ntwo", "a line too many"),
        ("```console\n$ echo one\none\nmore\n```", "it printed:\none", "a line too few"),
        ("```console\n$ (exit 3)\n```", "exit code 3", "a failure that the page does not tell"),
        ("```console\n$ false\n$ echo $?\n2\n```", "it printed:\n1", "another exit code: it is not a loose number"),
        ("```console\n$ exit\n```", "the shell ended", "the shell is gone"),
        ("```console\n$ echo a >&2\n```", "it printed:\na", "standard error is seen too"),
    ],
)
def test_an_untrue_page(page: str, want: str, reason: str, tmp_path: Path) -> None:
    """A page that tells something else is told by its line."""
    (problem,) = played(page, tmp_path)[:1]
    assert "line " in problem, reason
    assert want in problem, reason


def test_ports_are_moved(tmp_path: Path) -> None:
    """The page's ports need not be free on the machine of the test."""
    page = "```console\n$ echo host:9440\nhost:9440\n$ echo host:9440 | tr 0-9 a-j\nhost:bcdef\n```"
    assert played(page, tmp_path, {9440: 12345}) == []


def test_sections_are_scenes_of_their_own() -> None:
    """By section, a page is as many shells as it has sections with commands."""
    page = "## one\n```console\n$ a\n```\n## two\ntext\n## three\n```console\n$ b\n```\n```console\n$ c\n```"
    assert [(scene.name, scene.text) for scene in scenes(page, by_section=True)] == [("one", "a"), ("three", "b\nc")]


def test_notes_belong_to_the_block_behind_them() -> None:
    """A comment in front of a block says what the block is."""
    page = "<!-- not run: it is this test -->\n```sh\nmake test\n```\n\n```text\nx\n```"
    assert [(block.info, block.key, block.value) for block in blocks(page)] == [
        ("sh", "not run", "it is this test"),
        ("text", "", ""),
    ]
