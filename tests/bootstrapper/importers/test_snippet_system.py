"""Disks, filesystems and settings of a Container Linux Config become what the transpiler makes of them."""

import json
from textwrap import indent

import pytest
from google.protobuf import text_format

from slipway.contract.source_position import SourceError
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.importers.carrying import carried, without_origins

DISK = "/dev/disk/azure/scsi1/lun0"
SETUP = f"""
diskSetup:
  partitions: [{{device: {DISK}, tableType: gpt, layout: true, overwrite: false}}]
  filesystems: [{{device: {DISK}-part1, filesystem: ext4, label: etcd_disk}}]
mounts: [[etcd_disk, /var/lib/etcddisk]]
"""


def imported_spec(snippet: str, config: str = "") -> specpb.MachineBootstrapSpec:
    """Import a config with a snippet."""
    head = "format: ignition\nignition:\n  containerLinuxConfig:\n    additionalConfig: |\n"
    return carried(head + indent(snippet.strip("\n"), " " * 6) + "\n" + config).spec


def imported(snippet: str, config: str = "") -> ospb.OperatingSystem:
    """Import a config with a snippet; give what it says of the system."""
    return imported_spec(snippet, config).os


def texts(snippet: str) -> dict[str, str]:
    """Give the texts of the files by path; all have the mode that Ignition or the transpiler gives them."""
    files = imported(snippet).files
    assert all(file.mode == 0o644 for file in files)
    return {file.path: file.content.text for file in files}


def test_settings_of_updates_and_reboots_are_one_file() -> None:
    """Names, order, quotes and the line feeds between are those of the transpiler."""
    snippet = """
update: {group: Beta, server: "https://example.com/update", machine_alias: m}
locksmith: {reboot_strategy: "off", window_start: Sun 01:00, window_length: 1h30m, etcd_cafile: ""}
"""
    assert texts(snippet) == {
        "/etc/coreos/update.conf": "GROUP=beta\nSERVER=https://example.com/update\nMACHINE_ALIAS=m"
        '\nREBOOT_STRATEGY="off"\nLOCKSMITHD_REBOOT_WINDOW_START="Sun 01:00"'
        '\nLOCKSMITHD_REBOOT_WINDOW_LENGTH="1h30m"\nLOCKSMITHD_ETCD_CAFILE=""'
    }
    assert texts('locksmith: {reboot_strategy: "off"}') == {"/etc/coreos/update.conf": '\nREBOOT_STRATEGY="off"'}
    assert texts("update: {}") == {}


def test_units_of_networkd_are_files() -> None:
    """Where Ignition writes them; what is empty is not written."""
    snippet = """
networkd:
  units:
  - {name: 00-eth.network, contents: "[Match]", dropins: [{name: a.conf, contents: "[Network]"}, {name: b.conf}]}
  - {name: 10-none.network}
"""
    assert texts(snippet) == {
        "/etc/systemd/network/00-eth.network.d/a.conf": "[Network]",
        "/etc/systemd/network/00-eth.network": "[Match]",
    }


def test_disks_and_filesystems_have_sizes_kinds_and_labels() -> None:
    """Sizes count in MiB; the words for kinds of partitions are the transpiler's."""
    snippet = """
storage:
  disks:
  - device: /dev/sdb
    wipe_table: true
    partitions:
    - {number: 1, size: 1GiB512MiB, type_guid: swap_partition, label: swap}
    - {size: 2GB, type_guid: raid_containing_root}
    - {label: data}
  filesystems:
  - {name: data, mount: {device: /dev/sdb3, format: ext4, wipe_filesystem: true, label: DATA, options: ["-m", "1"]}}
  - {name: old, mount: {device: /dev/sdc, format: xfs, create: {force: true, options: [-q]}}}
"""
    assert without_origins(imported(snippet)) == text_format.Parse(
        """
        disks {
          device: "/dev/sdb" table_type: PARTITION_TABLE_TYPE_GPT overwrite: true
          partitions { size_mib: 1536 type: "swap" label: "swap" }
          partitions { size_mib: 2048 type: "be9067b9-ea49-4f15-b4f6-f36f8c9e1818" }
          partitions { label: "data" }
        }
        filesystems { device: "/dev/sdb3" format: "ext4" label: "DATA" overwrite: true options: "-m" options: "1" }
        filesystems { device: "/dev/sdc" format: "xfs" overwrite: true options: "-q" }
        """,
        ospb.OperatingSystem(),
    )


def test_a_disk_that_no_neutral_item_says_is_a_config_of_ignition() -> None:
    """Numbers with a gap, starts and GUIDs; other disks stay neutral items."""
    guid = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"
    snippet = f"""
storage:
  disks:
  - {{device: /dev/sdc, partitions: [{{label: data}}]}}
  - device: /dev/sdb
    wipe_table: true
    partitions:
    - {{number: 1, label: a, size: 1GiB, start: 1MiB, type_guid: swap_partition}}
    - {{number: 3, guid: {guid}}}
"""
    spec = imported_spec(snippet)
    assert [disk.device for disk in spec.os.disks] == ["/dev/sdc"]
    (extension,) = spec.extensions
    assert (extension.id, extension.media_type) == ("ignition.slipway.dev/config", "application/json")
    assert extension.origin.path.endswith(": storage.disks[1]")
    first = {
        "number": 1,
        "label": "a",
        "sizeMiB": 1024,
        "startMiB": 1,
        "typeGuid": "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f",
    }
    assert json.loads(extension.content.text) == {
        "ignition": {"version": "3.0.0"},
        "storage": {
            "disks": [{"device": "/dev/sdb", "wipeTable": True, "partitions": [first, {"number": 3, "guid": guid}]}]
        },
    }


def test_the_number_of_a_partition_that_disk_setup_makes_may_stand_in_the_snippet() -> None:
    """So do the templates of a provider: there is one disk with one partition, and its mount stays."""
    got = imported(f"storage: {{disks: [{{device: {DISK}, partitions: [{{number: 1}}]}}]}}", SETUP)
    assert [(disk.device, len(disk.partitions)) for disk in got.disks] == [(DISK, 1)]
    assert got.mounts[0].source == f"{DISK}-part1"
    got = imported(f"storage: {{disks: [{{device: {DISK}, wipe_table: true, partitions: [{{size: 1GiB}}]}}]}}", SETUP)
    assert [(disk.overwrite, disk.partitions[0].size_mib) for disk in got.disks] == [(True, 1024)]


@pytest.mark.parametrize(
    ("storage", "inner"),
    [
        ("disks: [{device: /dev/sdb, partitions: [{number: 4}, {}]}]", "storage.disks[0].partitions[1]"),
        ("disks: [{device: /dev/sdb, partitions: [{start: 1MiB}]}]", "storage.disks[0].partitions[0]"),
        ("disks: [{device: /dev/sdb, partitions: [{number: 1, guid: a}]}]", "storage.disks[0].partitions[0].guid"),
        (
            "disks: [{device: /dev/sdb, partitions: [{number: 2, type_guid: b}]}]",
            "storage.disks[0].partitions[0].type_guid",
        ),
        (
            "disks: [{device: /dev/sdb, partitions: [{size: 1GiB}]}, {device: /dev/sdb, partitions: [{number: 3}]}]",
            "storage.disks[1]",
        ),
        ("filesystems: [{name: root, path: /x}]", "storage.filesystems[0]"),
        ("files: [{path: /grub.cfg, filesystem: oem}]", "storage.files[0].filesystem"),
        ("directories: [{path: /a, filesystem: data}]", "storage.directories[0].filesystem"),
        ("links: [{path: /a, target: /b, filesystem: data}]", "storage.links[0].filesystem"),
        ("filesystems: [{name: root, mount: {device: /dev/sda9, format: ext4}}]", "storage.filesystems[0]"),
        ("filesystems: [{mount: {device: /dev/sdb, format: ext4, uuid: u}}]", "storage.filesystems[0].mount.uuid"),
        (
            "disks: [{device: /dev/sdb, partitions: [{size: 1GiB}]}, {device: /dev/sdb, partitions: [{}, {}]}]",
            "storage.disks[1]",
        ),
    ],
)
def test_what_no_neutral_item_says_is_refused_with_its_place(storage: str, inner: str) -> None:
    """Nothing is dropped, and nothing is guessed."""
    with pytest.raises(SourceError) as caught:
        imported(f"storage: {{{storage}}}")
    assert [each.path.rpartition(": ")[2] for each in caught.value.problems] == [inner]


@pytest.mark.parametrize("device", [DISK, "/dev/sdb"])
@pytest.mark.parametrize("partition", ["number: 1", "number: 2, start: 1MiB", "size: 1GiB, label: a"])
def test_a_disk_of_which_a_filesystem_takes_the_whole_gets_no_table(device: str, partition: str) -> None:
    """Templates write both; a table that is made a moment before would keep the filesystem from being made."""
    snippet = f"storage: {{disks: [{{device: {device}, partitions: [{{{partition}}}]}}]}}"
    config = f"""
diskSetup:
  filesystems: [{{device: {device}, filesystem: ext4, label: etcd_disk, overwrite: false}}]
mounts: [[etcd_disk, /var/lib/etcddisk]]
"""
    spec = imported_spec(snippet, config)
    assert (list(spec.os.disks), list(spec.extensions)) == ([], [])
    (filesystem,) = spec.os.filesystems
    assert (filesystem.device, filesystem.overwrite, spec.os.mounts[0].source) == (device, False, device)


def test_a_table_that_may_be_wiped_lets_the_filesystem_be_made_anew() -> None:
    """Of diskSetup and the snippet alike: what was on the disk is gone today, too."""
    filesystem = "filesystems: [{name: d, mount: {device: /dev/sdb, format: ext4}}]"
    wiped = imported(f"storage: {{disks: [{{device: /dev/sdb, wipe_table: true}}], {filesystem}}}")
    assert [(list(os.disks), os.filesystems[0].overwrite) for os in (wiped,)] == [([], True)]
    setup = "diskSetup: {partitions: [{device: /dev/sdb, layout: true, overwrite: OVERWRITE}]}"
    for overwrite in (True, False):
        os = imported(f"storage: {{{filesystem}}}", setup.replace("OVERWRITE", str(overwrite).lower()))
        assert (list(os.disks), os.filesystems[0].overwrite) == ([], overwrite)


@pytest.mark.parametrize(
    "other",
    [
        "diskSetup: {filesystems: [{device: /dev/sdb1, filesystem: xfs}]}",
        "diskSetup: {filesystems: [{device: /dev/sdb, partition: '1', filesystem: xfs}]}",
        "mounts: [[/dev/sdb1, /x]]",
    ],
)
def test_the_whole_of_a_disk_and_a_partition_of_it_are_refused(other: str) -> None:
    """The one destroys the other, today as well; a disk whose name only begins alike is another one."""
    snippet = "storage: {disks: [{device: /dev/sdb}], filesystems: [{mount: {device: /dev/sdb, format: ext4}}]}"
    with pytest.raises(SourceError) as caught:
        imported(snippet, other)
    assert [each.path.rpartition(": ")[2] for each in caught.value.problems] == ["storage.filesystems[0]"]
    assert not imported(snippet, other.replace("/dev/sdb", "/dev/sdba")).disks


def test_a_disk_whose_name_begins_alike_is_no_partition() -> None:
    """The name of a partition has a word between two numbers."""
    snippet = f"storage: {{disks: [{{device: {DISK}}}], filesystems: [{{mount: {{device: {DISK}, format: ext4}}}}]}}"
    assert not imported(snippet, f"mounts: [[{DISK}1, /x]]").disks
    with pytest.raises(SourceError):
        imported(snippet, f"mounts: [[{DISK}-part1, /x]]")


def test_settings_of_ignition_go_to_ignition() -> None:
    """Timeouts, authorities and further configs, in the words of specification 3."""
    snippet = """
ignition:
  timeouts: {http_response_headers: 20, http_total: 120}
  security: {tls: {certificate_authorities: [{source: "https://x.example/ca.pem"}]}}
  config: {append: [{source: "https://x.example/c", verification: {hash: {function: sha512, sum: ab}}}]}
"""
    (extension,) = imported_spec(snippet).extensions
    assert (extension.id, extension.media_type) == ("ignition.slipway.dev/config", "application/json")
    assert json.loads(extension.content.text) == {
        "ignition": {
            "version": "3.0.0",
            "timeouts": {"httpResponseHeaders": 20, "httpTotal": 120},
            "security": {"tls": {"certificateAuthorities": [{"source": "https://x.example/ca.pem"}]}},
            "config": {"merge": [{"source": "https://x.example/c", "verification": {"hash": "sha512-ab"}}]},
        }
    }


@pytest.mark.parametrize(
    ("settings", "inner"),
    [
        ("config: {replace: {source: 'https://x.example/c'}}", "ignition.config.replace"),
        ("config: {append: [{source: 'oem:///c'}]}", "ignition.config.append[0].source"),
        (
            "security: {tls: {certificate_authorities: [{source: ca.pem}]}}",
            "ignition.security.tls.certificate_authorities[0].source",
        ),
    ],
)
def test_settings_that_leave_no_node_are_refused(settings: str, inner: str) -> None:
    """What would replace kubeadm, or what the specification does not have."""
    with pytest.raises(SourceError) as caught:
        imported(f"ignition: {{{settings}}}")
    assert [each.path.rpartition(": ")[2] for each in caught.value.problems] == [inner]


def test_the_name_of_a_path_alone_has_no_effect() -> None:
    """Only a file that is written there would have one."""
    assert not imported("storage: {filesystems: [{name: oem, path: /usr/share/oem}]}").filesystems
