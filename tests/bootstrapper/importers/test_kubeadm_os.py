"""Each field about the operating system becomes the neutral item that means the same on the machine."""

# ruff: noqa: E501, ISC004  # the tables read best with one case a line

import base64
import gzip
import json

import pytest
from google.protobuf import text_format

from slipway.contract.source_position import SourceError
from tests.bootstrapper.importers.carrying import (
    BETA1,
    IGNITION,
    carried,
    codes,
    without_origins,
)

GZIPPED = base64.b64encode(gzip.compress(b"hello", mtime=0)).decode()
OS = [
    (
        "files: [{path: /a, content: x, owner: 'root:adm', permissions: '0640', append: true}]",
        'files { path: "/a" content { text: "x\\n" } append: true owner: "root" group: "adm" mode: 416 }',
        "all fields of a file",
    ),
    ("files: [{path: /a, content: x}]", 'files { path: "/a" content { text: "x\\n" } }', "what is unset stays unset"),
    (
        "files: [{path: /a, content: x, append: false}]",
        'files { path: "/a" content { text: "x\\n" } append: false }',
        "false is set",
    ),
    (
        "files: [{path: //opt///a/, content: x}]",
        'files { path: "/opt/a" content { text: "x\\n" } }',
        "slashes without a meaning",
    ),
    (
        "files: [{path: /opt/./b/../a/., content: x}]",
        'files { path: "/opt/a" content { text: "x\\n" } }',
        "parts that cloud-init and Ignition resolve by the text",
    ),
    (
        "files: [{path: /../../a, content: x}]",
        'files { path: "/a" content { text: "x\\n" } }',
        "nothing is above the root",
    ),
    ("files: [{path: /a, content: ''}]", 'files { path: "/a" content { text: "" } }', "an empty file"),
    ("files: [{path: /a, owner: app}]", 'files { path: "/a" content { text: "" } owner: "app" }', "a user only"),
    ("files: [{path: /a, permissions: '644'}]", 'files { path: "/a" content { text: "" } mode: 420 }', "always octal"),
    (
        "files: [{path: /a, content: aGVsbG8=, encoding: base64}]",
        'files { path: "/a" content { data: "hello" } }',
        "base64",
    ),
    (
        f"files: [{{path: /a, content: {GZIPPED}, encoding: gzip+base64}}]",
        'files { path: "/a" content { data: "hello" } }',
        "gzip in base64",
    ),
    (
        "files: [{path: /a, contentFrom: {secret: {name: s, key: k}}}]",
        'files { path: "/a" content { secret_ref { name: "s" key: "k" } } }',
        "a reference",
    ),
    (
        "files: [{path: /a, content: 'h={{ ds.meta_data.hostname }}!'}]",
        'files { path: "/a" content { segments { text: "h=" } segments { fact { kind: FACT_KIND_HOSTNAME } }'
        ' segments { text: "!\\n" } } }',
        "a fact in a file",
    ),
    (
        "files: [{path: /a, content: '{% if x %}y{% endif %}'}]",
        'files { path: "/a" content { segments { extension { id: "cloud-init.slipway.dev/jinja"'
        ' text: "{% if x %}y{% endif %}" } } } }',
        "Jinja in a file",
    ),
    (
        'files: [{path: /a, content: "{% raw %}{{ x }}{% endraw %}\\ny"}]',
        'files { path: "/a" content { text: "{{ x }}      y\\n" } }',
        "a raw block, with the indentation that cloud-init sees behind it",
    ),
    (
        IGNITION + "files: [{path: /a, content: '{{ ds.meta_data.hostname }}'}]",
        'files { path: "/a" content { text: "{{ ds.meta_data.hostname }}\\n" } }',
        "ignition knows no Jinja",
    ),
    (
        "users: [{name: u, gecos: G, groups: 'a, b', homeDir: /h, shell: /bin/sh, primaryGroup: g, inactive: false,"
        " lockPassword: false, sudo: 'ALL=(ALL) NOPASSWD:ALL', sshAuthorizedKeys: [k], passwd: p}]",
        'users { name: "u" gecos: "G" home: "/h" shell: "/bin/sh" primary_group: "g" groups: "a" groups: "b"'
        ' password_hash { value: "p" } lock_password: false sudo: "ALL=(ALL) NOPASSWD:ALL" ssh_authorized_keys: "k"'
        " } default_user: DEFAULT_USER_OMIT",
        "all fields of a user, of which inactive: false says nothing; the image's own user is not made",
    ),
    (
        IGNITION + "users: [{name: u, passwdFrom: {secret: {name: s, key: k}}}]",
        'users { name: "u" lock_password: false password_hash { secret_ref { name: "s" key: "k" } } }',
        "a password from a Secret can be used, as in today's ignition output, which also keeps the image's own user",
    ),
    ("ntp: {enabled: true, servers: [a.example.com]}", 'ntp { enabled: true servers: "a.example.com" }', "NTP"),
    ("ntp: {}", "ntp { }", "NTP, nothing said"),
    (
        "diskSetup: {partitions: [{device: /dev/sdb, layout: true, overwrite: false}]}",
        'disks { device: "/dev/sdb" table_type: PARTITION_TABLE_TYPE_MBR overwrite: false partitions { } }',
        "one partition; mbr is cloud-init's default",
    ),
    (
        IGNITION + "diskSetup: {partitions: [{device: /dev/sdb, layout: true}]}",
        'disks { device: "/dev/sdb" table_type: PARTITION_TABLE_TYPE_GPT partitions { } }',
        "gpt is Ignition's",
    ),
    ("diskSetup: {partitions: [{device: /dev/sdb, layout: false}]}", "", "the disk is left alone"),
    (
        "diskSetup: {partitions: [{device: /dev/sdb, tableType: gpt,"
        " diskLayout: [{percentage: 30, partitionType: LinuxSwap}, {percentage: 70}]}]}",
        'disks { device: "/dev/sdb" table_type: PARTITION_TABLE_TYPE_GPT partitions { percentage: 30 type: "swap" }'
        " partitions { percentage: 70 } }",
        "a layout by percentages",
    ),
    (
        "diskSetup: {partitions: [{device: /dev/sdb, diskLayout: [{percentage: 30}, {percentage: 30}]}]}",
        'disks { device: "/dev/sdb" table_type: PARTITION_TABLE_TYPE_MBR partitions { percentage: 30 } partitions { percentage: 70 } }',
        "cloud-init has always made the last one larger",
    ),
    (
        "diskSetup: {filesystems: [{device: /dev/sdb, filesystem: ext4, label: l, partition: 'auto|any', overwrite: true,"
        " replaceFS: ntfs, extraOpts: ['-F']}]}",
        'filesystems { device: "/dev/sdb" format: "ext4" label: "l" overwrite: true'
        ' replace_format: "ntfs" options: "-F" }',
        "a filesystem",
    ),
    (
        "diskSetup: {filesystems: [{device: /dev/sdb, filesystem: xfs, label: None}]}",
        'filesystems { device: "/dev/sdb" format: "xfs" }',
        "None is no label",
    ),
    (
        "diskSetup: {filesystems: [{device: /dev/nvme1n1, filesystem: xfs, partition: '2'},"
        " {device: ephemeral0, filesystem: ext4, partition: '1'}, {device: /dev/sdb1, filesystem: ext4},"
        " {device: /dev/sdc, filesystem: ext4, partition: none}]}",
        'filesystems { partition { disk: "/dev/nvme1n1" number: 2 } format: "xfs" }'
        ' filesystems { device: "ephemeral0.1" format: "ext4" } filesystems { device: "/dev/sdb1" format: "ext4" }'
        ' filesystems { device: "/dev/sdc" format: "ext4" }',
        "where cloud-init has nothing to look for, the device is named",
    ),
    (
        "mounts: [[LABEL=etcd, /var/lib/etcd], [sdc1, /data, ext4, 'noatime,nofail', '0', '2']]",
        'mounts { source: "LABEL=etcd" path: "/var/lib/etcd" options: "defaults" options: "nofail" }'
        ' mounts { source: "/dev/sdc1" path: "/data" type: "ext4" options: "noatime" options: "nofail" check: true }',
        "mounts are lines of fstab with cloud-init's defaults",
    ),
    (
        IGNITION + "diskSetup: {filesystems: [{device: /dev/sdb, filesystem: ext4, label: etcd}]}\n"
        "mounts: [[etcd, /var/lib/etcd, noatime]]",
        'filesystems { device: "/dev/sdb" format: "ext4" label: "etcd" }'
        ' mounts { source: "/dev/sdb" path: "/var/lib/etcd" options: "noatime" options: "nofail" }',
        "in ignition a mount names a label, has options only, and holds up no start",
    ),
]


@pytest.mark.parametrize(("spec", "wanted", "reason"), OS, ids=[case[2] for case in OS])
def test_operating_system_items(spec: str, wanted: str, reason: str) -> None:
    """Each field about the system becomes the item that behaves as it does today."""
    got = without_origins(carried(spec).spec.os)
    assert got == text_format.Parse(wanted, type(got)()), reason


SEARCHED = [
    ("{device: /dev/sdb, filesystem: xfs, label: None}", [{"device": "/dev/sdb", "filesystem": "xfs", "partition": "any"}]),
    ("{device: /dev/sdb, filesystem: xfs, label: l, partition: auto}",
     [{"device": "/dev/sdb", "filesystem": "xfs", "label": "l", "partition": "auto"}]),
    ("{device: /dev/sdb, filesystem: xfs, partition: none}", None),
    ("{device: /dev/sdb, filesystem: xfs, partition: '1'}", None),
    ("{device: /dev/sdb1, filesystem: xfs}", None),
]  # fmt: skip


@pytest.mark.parametrize(("filesystem", "wanted"), SEARCHED)
def test_cloud_init_searches_for_a_partition_by_its_own_extension(filesystem: str, wanted: object) -> None:
    """No other first-boot system searches; the extension names the user's own field, where the user wrote it."""
    spec = carried(f"diskSetup: {{filesystems: [{{device: /dev/sdc1, filesystem: ext4}}, {filesystem}]}}").spec
    seen = [json.loads(extension.content.text) for extension in spec.extensions]
    assert seen == ([wanted] if wanted else [])
    paths = [extension.origin.path for extension in spec.extensions]
    named = "diskSetup.filesystems[1]" + (".partition" if "partition" in filesystem else "")
    assert all(path.endswith(named) for path in paths), paths
    assert not carried(IGNITION + f"diskSetup: {{filesystems: [{filesystem}]}}").spec.extensions


@pytest.mark.parametrize(("where", "disks"), [("partition: none", 0), ("partition: auto", 1), ("partition: '1'", 1)])
def test_a_disk_of_which_a_filesystem_takes_the_whole_gets_no_table(where: str, disks: int) -> None:
    """Today cloud-init makes the table, and then the filesystem in its place; one with a partition needs the table."""
    got = carried(
        f"""
        diskSetup:
          partitions: [{{device: /dev/sdb, layout: true, overwrite: false}}]
          filesystems: [{{device: /dev/sdb, filesystem: ext4, {where}}}]
        """
    )
    assert len(got.spec.os.disks) == disks
    assert ("TABLE_LEFT_OUT" in codes(got)) == (not disks)


def test_filesystems_that_are_alike_keep_their_own_words() -> None:
    """One that is searched for takes no word from one that is not, whichever comes first."""
    first, second, other = (
        f"{{device: /dev/sdb, filesystem: {kind}}}" for kind in ("xfs, partition: none", "xfs", "ext4")
    )
    (extension,) = carried(f"diskSetup: {{filesystems: [{first}, {other}, {second}, {first}]}}").spec.extensions
    entries = json.loads(extension.content.text)
    assert [(entry["filesystem"], entry["partition"]) for entry in entries] == [
        *(("xfs", "none"), ("ext4", "any"), ("xfs", "any"), ("xfs", "none")),
    ]


def test_a_layout_beside_a_disk_layout_of_v1beta1_gives_way() -> None:
    """v1beta1 demands layout; the conversion lets diskLayout win."""
    spec = (
        "diskSetup: {partitions: [{device: /dev/sdb, layout: true, diskLayout: [{percentage: 9}, {percentage: 91}]}]}"
    )
    assert [part.percentage for part in carried(spec, version=BETA1).spec.os.disks[0].partitions] == [9, 91]


def test_null_means_unset() -> None:
    """As in Go a null field is none at all; under an unknown name it is still a mistake."""
    assert not carried("files: null\nusers:\nntp: ~\nverbosity: 1").spec.HasField("os")
    with pytest.raises(SourceError, match="unknown field; did you mean files"):
        carried("filse: null")
