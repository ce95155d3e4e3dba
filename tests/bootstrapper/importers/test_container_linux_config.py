"""The listed subset of Container Linux Config is read as Go reads it; the rest is refused with its place."""

import pytest

from slipway.bootstrapper.importers.container_linux_config import ContainerLinuxConfig, read_container_linux_config
from slipway.contract.source_position import Position, SourceError
from slipway.contract.yaml_source import load_documents

PATH = ("spec", "additionalConfig")


def snippet(text: str) -> ContainerLinuxConfig:
    indented = "\n".join(f"    {line}" for line in text.split("\n"))
    (document,) = load_documents(f"spec:\n  additionalConfig: |\n{indented}\n", file="f.yaml")
    value = document.value["spec"]["additionalConfig"]
    return read_container_linux_config(value, source=document.source, path=PATH)


def test_the_whole_subset_is_read() -> None:
    """Every field of the subset has its value, decoded by the type of the field."""
    got = snippet(
        """
storage:
  files:
  - {filesystem: root, path: /a, mode: 0644, contents: {inline: 123}, user: {id: 500}, group: {name: users}}
  - {filesystem: root, path: /b, contents: {inline: !!binary AAE=}, append: true}
  - filesystem: root
    path: /c
    contents: {remote: {url: https://example.com/c, verification: {hash: {function: sha512, sum: ab}}}}
  directories: [{filesystem: root, path: /d, mode: 0700}]
  links: [{path: /e, target: /a, hard: yes}]
systemd:
  units:
  - {name: a.service, enable: true, mask: false, contents: "[Unit]", dropins: [{name: x.conf, contents: y}]}
passwd:
  users: [{name: core, uid: 0x10, ssh_authorized_keys: [k], password_hash: h, no_create_home: on}]
  groups: [{name: g, gid: 7, system: true}]
"""
    )
    first, second, third = got.storage.files
    assert (first.mode, first.contents and first.contents.inline) == (0o644, "123")
    assert (first.user and first.user.id, first.group and first.group.name) == (500, "users")
    assert (second.contents and second.contents.inline, second.append) == (b"\x00\x01", True)
    assert third.contents is not None
    assert third.contents.remote is not None
    assert third.contents.remote.verification is not None
    assert (got.storage.directories[0].mode, got.storage.links[0].hard) == (0o700, True)
    assert (got.systemd.units[0].enable, got.systemd.units[0].dropins[0].name) == (True, "x.conf")
    assert (got.passwd.users[0].uid, got.passwd.users[0].no_create_home, got.passwd.groups[0].gid) == (16, True, 7)


def test_an_empty_snippet_says_nothing() -> None:
    """Only comments are no error."""
    assert snippet("# nothing") == ContainerLinuxConfig()


REFUSED = [
    ("storage:\n  raid: []\n", 4, "storage.raid", "not understood here"),
    ("etcd:\n  version: 3\n", 3, "etcd", "not understood here"),
    ("locksmith:\n  reboot_strategy: never\n", 4, "locksmith.reboot_strategy", "must be one of reboot"),
    ("locksmith:\n  window_start: 25:00\n  window_length: 1h\n", 4, "locksmith.window_start", "must be a time"),
    ("locksmith:\n  window_start: 01:00\n  window_length: long\n", 5, "locksmith.window_length", "must be a duration"),
    ("locksmith:\n  window_start: 01:00\n", 3, "locksmith", "window_start and window_length must both"),
    (
        "storage: {disks: [{device: /dev/sdb, partitions: [{size: 1000KiB}]}]}",
        3,
        "storage.disks[0].partitions[0].size",
        "must be a size in whole MiB",
    ),
    (
        "systemd:\n  units:\n  - name: a\n    enabld: true\n",
        6,
        "systemd.units[0].enabld",
        "unknown field; did you",
    ),
    ("storage: {files: [{filesystem: root, path: /a, mode: 99999}]}", 3, "storage.files[0].mode", "must be at most"),
    (
        "storage: {files: [{filesystem: root, path: /a, mode: rw}]}",
        3,
        "storage.files[0].mode",
        "must be a whole",
    ),
    ("storage: {files: [{filesystem: root}]}", 3, "storage.files[0].path", "required"),
    ("- a", 3, "", "must be a mapping"),
    ("a: [", 3, "", "not YAML"),
    ("systemd: {}\n---\nsystemd: {}", 5, "", "more than one document"),
    (
        "storage: {files: [{filesystem: root, path: /a, contents: {inline: !!binary '*'}}]}",
        3,
        "",
        "!!binary needs",
    ),
]


@pytest.mark.parametrize(("text", "line", "inner", "message"), REFUSED)
def test_the_rest_is_refused_with_its_place(text: str, line: int, inner: str, message: str) -> None:
    """The place is the line of the outer file, and the path goes on behind a colon."""
    with pytest.raises(SourceError) as caught:
        snippet(text)
    problem = caught.value.problems[0]
    assert problem.position in (Position(line, 1), Position(line + 1, 1))
    assert problem.path.startswith("spec.additionalConfig" + (f": {inner}" if inner else ""))
    assert problem.message.startswith(message)
