"""Items of an imported cloud-config with Jinja in fields that are known before the machine is: kept as written."""

# ruff: noqa: E501  # the table reads best with one case a line

import json
from typing import Any

import pytest

from slipway.contract.source_position import SourceError
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.importers.carrying import IGNITION, carried

ID = "cloud-init.slipway.dev/item"
ITEMS = [
    ("users: [{name: u, gecos: '{{ v1.region }}', groups: 'a, b', homeDir: /h, shell: /bin/sh, primaryGroup: p, inactive: true, lockPassword: false, passwd: $6$x, sudo: ALL=(ALL) ALL, sshAuthorizedKeys: [k, '']}]",
     "spec.users[0].gecos", "users", 0,
     {"name": "u", "gecos": "{{ v1.region }}", "groups": "a, b", "homedir": "/h", "inactive": True, "lock_passwd": False,
      "shell": "/bin/sh", "primary_group": "p", "sudo": "ALL=(ALL) ALL", "ssh_authorized_keys": ["k"], "passwd": "$6$x"}),
    ("users: [{name: a}, {name: default}, {name: u, sshAuthorizedKeys: [k, '{{ x }}'], sudo: 'false'}, {name: b}]",
     "spec.users[2].sshAuthorizedKeys[1]", "users", 1, {"name": "u", "ssh_authorized_keys": ["k", "{{ x }}"]}),
    ("users: [{name: 'u{{ x }}', gecos: '{{ .GoTemplate }}'}]", "spec.users[0].name", "users", 0,
     {"name": "u{{ x }}", "gecos": "{{ '{{' }} .GoTemplate }}"}),
    ("users: [{name: u, gecos: '{% raw %}{{ a }}{{% endraw %}{{ x }}'}]", "spec.users[0].gecos", "users", 0,
     {"name": "u", "gecos": "{{ '{{' }} a }}{{ '{' }}{{ x }}"}),
    ("files: [{path: /a}, {path: '/etc/{{ region }}', owner: 'a:b', permissions: '0600', append: true, content: 'x {{ y }}'}]",
     "spec.files[1].path", "write_files", 1,
     {"path": "/etc/{{ region }}", "owner": "a:b", "permissions": "0600", "append": True, "content": "x {{ y }}\n"}),
    ("files: [{path: '/etc/{{ region }}', content: \"a\\r\\nb\"}]", "spec.files[0].path", "write_files", 0,
     {"path": "/etc/{{ region }}", "content": "a\nb\n"}),
    ("files: [{path: /a, owner: '{{ x }}', content: aGk=, encoding: base64}]",
     "spec.files[0].owner", "write_files", 0, {"path": "/a", "owner": "{{ x }}", "encoding": "b64", "content": "aGk="}),
    ("ntp: {enabled: true, servers: [a, '{{ ds.meta_data.ntp }}']}", "spec.ntp.servers[1]", "ntp", None,
     {"enabled": True, "servers": ["a", "{{ ds.meta_data.ntp }}"]}),
    ("mounts: [[/dev/sda, /a], ['{{ ds.meta_data.disk }}', /data, ext4, defaults, '0', '2']]", "spec.mounts[1][0]", "mounts", 1,
     ["{{ ds.meta_data.disk }}", "/data", "ext4", "defaults", "0", "2"]),
    ("mounts: [[ephemeral0]]", "spec.mounts[0]", "mounts", 0, ["ephemeral0"]),
    ("diskSetup: {partitions: [{device: '{{ x }}', tableType: gpt, overwrite: false, diskLayout: [{percentage: 40}, {percentage: 60, partitionType: LinuxSwap}]}]}",
     "spec.diskSetup.partitions[0].device", "disk_setup", None,
     {"device": "{{ x }}", "table_type": "gpt", "overwrite": False, "layout": [40, [60, "82"]]}),
    ("diskSetup: {partitions: [{device: '{{ x }}', layout: true}]}", "spec.diskSetup.partitions[0].device", "disk_setup", None,
     {"device": "{{ x }}", "layout": True}),
    ("diskSetup: {filesystems: [{device: /dev/sdb, filesystem: ext4, partition: none}, {device: '/dev/{{ x }}', filesystem: xfs, label: l, partition: auto, overwrite: true, replaceFS: ntfs, extraOpts: [-K]}]}",
     "spec.diskSetup.filesystems[1].device", "fs_setup", 1,
     {"label": "l", "filesystem": "xfs", "device": "/dev/{{ x }}", "partition": "auto", "overwrite": True, "replace_fs": "ntfs", "extra_opts": ["-K"]}),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "path", "key", "position", "item"), ITEMS, ids=[case[1] for case in ITEMS])
def test_an_item_with_jinja_stays_as_it_is_written(
    spec: str, path: str, key: str, position: int | None, item: object
) -> None:
    """With the keys that today's provider writes, at its place; a refusal of it will name the field."""
    for whole in (False, True):
        (extension,) = carried(spec, whole=whole, target=clusterpb.Target(infrastructure="aws")).spec.extensions
        content: dict[str, Any] = json.loads(extension.content.text)
        assert (extension.id, extension.media_type, extension.origin.path) == (ID, "application/json", path)
        assert content == {"key": key, "item": item, **({} if position is None else {"position": position})}
        if isinstance(item, dict):
            assert list(content["item"]) == list(item)


def test_the_other_items_of_the_list_stay_neutral() -> None:
    """Every one of them keeps what the neutral types promise; an index of a search is that of the spec."""
    users = carried("users: [{name: a}, {name: u, gecos: '{{ x }}'}, {name: b, passwd: $6$x}]").spec
    assert [(user.name, user.password_hash.value) for user in users.os.users] == [("a", ""), ("b", "$6$x")]
    assert users.os.default_user == ospb.DEFAULT_USER_OMIT
    disks = carried(
        "diskSetup: {filesystems: [{device: '{{ x }}', filesystem: ext4}, {device: /dev/sdc, filesystem: xfs, partition: auto}]}"
    ).spec
    (search,) = [each for each in disks.extensions if each.id != ID]
    assert [entry["device"] for entry in json.loads(search.content.text)] == ["/dev/sdc"]
    assert search.origin.path == "spec.diskSetup.filesystems[1].partition"


def test_the_images_own_user_keeps_its_place() -> None:
    """A bare entry is the image's own user; what is said of it beside Jinja stays with the name."""
    spec = carried("users: [{name: default}, {name: u, gecos: '{{ x }}'}]").spec
    assert (spec.os.default_user, len(spec.os.users)) == (ospb.DEFAULT_USER_KEEP, 0)


def test_a_secret_is_spliced_in() -> None:
    """It never stands in the spec; it is quoted as JSON has it."""
    for text, key, name in (
        ("users: [{name: u, gecos: '{{ x }}', passwdFrom: {secret: {name: s, key: k}}}]", "passwd", "u"),
        ("files: [{path: '/{{ x }}', contentFrom: {secret: {name: s, key: k}}}]", "content", "/{{ x }}"),
    ):
        (extension,) = carried(text).spec.extensions
        head, secret, tail = extension.content.segments
        assert (secret.secret_ref.name, secret.encoding) == ("s", contentpb.SPLICE_ENCODING_JSON_STRING)
        item = json.loads(head.text + '"$6$\\n"' + tail.text)["item"]
        assert (item[key], name in item.values()) == ("$6$\n", True)


@pytest.mark.parametrize("spec", ["users: [{name: u, gecos: '{{ x }}'}]", "mounts: [['{{ x }}', /data]]"])
@pytest.mark.parametrize("infrastructure", ["equinix", ""])
def test_where_cloud_init_does_not_fill_it_in_it_is_refused(spec: str, infrastructure: str) -> None:
    """A provider that executes user data would take Jinja for its own; Windows has no cloud-init."""
    family = clusterpb.OS_FAMILY_LINUX if infrastructure else clusterpb.OS_FAMILY_WINDOWS
    message = (
        "only the machine knows cannot be carried over here; write the value itself, or have a command of preKubeadm"
    )
    with pytest.raises(SourceError, match=message):
        carried(spec, target=clusterpb.Target(infrastructure=infrastructure, os_family=family))


def test_ignition_knows_no_jinja() -> None:
    """There it is text, as today; and a mount of one word has no meaning."""
    assert carried(IGNITION + "users: [{name: u, gecos: '{{ x }}'}]").spec.os.users[0].gecos == "{{ x }}"
    with pytest.raises(SourceError, match="a mount needs what and where"):
        carried(IGNITION + "mounts: [[ephemeral0]]")


REPEATED = "users: [{name: a, sudo: ALL}, {name: b}, {name: a, gecos: x, passwdFrom: {secret: {name: s, key: k}}}]"


def test_another_entry_of_a_user_stays_as_it_is_written() -> None:
    """cloud-init merges the entries of a name in their order: none may be lost, and none may be refused."""
    for whole in (False, True):
        spec = carried(REPEATED, whole=whole).spec
        assert [user.name for user in spec.os.users] == ["a", "b"]
        (extension,) = spec.extensions
        assert (extension.id, extension.origin.path) == (ID, "spec.users[2].name")
        head, secret, tail = extension.content.segments
        entry = json.loads(head.text + '"$6$"' + tail.text)
        assert secret.secret_ref.key == "k"
        assert entry == {"key": "users", "position": 2, "item": {"name": "a", "gecos": "x", "passwd": "$6$"}}


def test_the_images_own_user_may_be_named_twice() -> None:
    """A bare entry of it says nothing; two that say something are merged as those of any other name."""
    spec = carried("users: [{name: default}, {name: default, gecos: x}, {name: default, shell: /bin/sh}]").spec
    assert ([user.name for user in spec.os.users], len(spec.extensions)) == (["default"], 1)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (IGNITION + "users: [{name: a}, {name: b}, {name: a, gecos: x}]", clusterpb.Target()),
        (REPEATED, clusterpb.Target(os_family=clusterpb.OS_FAMILY_WINDOWS)),
        (REPEATED, clusterpb.Target(infrastructure="equinix")),
    ],
    ids=["ignition", "windows", "executed"],
)
def test_where_nothing_merges_them_another_entry_is_refused(text: str, target: clusterpb.Target) -> None:
    """By its own field, with what helps in every format."""
    with pytest.raises(SourceError) as error:
        carried(text, target=target)
    (problem,) = error.value.problems
    assert problem.path == "spec.users[2].name"
    assert problem.message == "another entry has the same name: write what both say into one entry"
