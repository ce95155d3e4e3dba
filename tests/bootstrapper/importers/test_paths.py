"""A path means the same however its slashes are written: every path of a config comes out in one form."""

# ruff: noqa: E501  # the tables read best with one case a line

import pytest
from google.protobuf import text_format

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.importers.carrying import BETA2, IGNITION, carried, codes, without_origins

SNIPPET = "ignition: {containerLinuxConfig: {additionalConfig: '%s'}}\n"
PATHS = [
    ("users: [{name: u, homeDir: /home//u/, shell: /bin//sh}]", 'os { users { name: "u" home: "/home/u" shell: "/bin/sh" } default_user: DEFAULT_USER_OMIT } optional_features: "os.default_user" optional_features: "os.default_user.omit"'),
    ("diskSetup: {partitions: [{device: /dev//sdb, layout: true, tableType: gpt}]}", 'os { disks { device: "/dev/sdb" table_type: PARTITION_TABLE_TYPE_GPT partitions { } } }'),
    ("diskSetup: {filesystems: [{device: /dev/sdb1/, filesystem: ext4}]}", 'os { filesystems { device: "/dev/sdb1" format: "ext4" } }'),
    ("mounts: [[/dev//sdb1, /data//a/, xfs, ro]]", 'os { mounts { source: "/dev/sdb1" path: "/data/a" type: "xfs" options: "ro" } }'),
    ("mounts: [[//server/share, /data, cifs, ro]]", 'os { mounts { source: "//server/share" path: "/data" type: "cifs" options: "ro" } }'),
    ("mounts: [[/dev/sdb2, none, swap, sw]]", 'os { mounts { source: "/dev/sdb2" path: "none" type: "swap" options: "sw" } }'),
    (IGNITION + "mounts: [[/dev//sdb1, /data/, ro]]", 'os { mounts { source: "/dev/sdb1" path: "/data" options: "ro" options: "nofail" } }'),
    (IGNITION + SNIPPET % "storage: {files: [{path: /a//b/}], directories: [{path: /c/}], links: [{path: /d//e, target: x//}], disks: [{device: /dev//sdb}]}",
     'os { files { path: "/a/b" content { text: "" } } directories { path: "/c" } links { path: "/d/e" target: "x//" } disks { device: "/dev/sdb" table_type: PARTITION_TABLE_TYPE_GPT } }'),
    (IGNITION + SNIPPET % "passwd: {users: [{name: u, home_dir: /home//u/, shell: /bin//sh}]}", 'os { users { name: "u" home: "/home/u" shell: "/bin/sh" } }'),
    ("clusterConfiguration: {certificatesDir: /etc//pki/}", 'engine_options { kubeadm { certificates_directory: "/etc/pki" } }'),
    ("clusterConfiguration: {etcd: {local: {dataDir: /var//etcd/}}}", 'kubernetes { etcd { local { data_dir: "/var/etcd" } } }'),
    ("clusterConfiguration: {etcd: {external: {endpoints: ['https://e:2379'], caFile: /a//ca, certFile: /c/, keyFile: //k}}}",
     'kubernetes { etcd { external { endpoints: "https://e:2379" ca_file: "/a/ca" cert_file: "/c" key_file: "/k" } } }'),
    ("joinConfiguration: {caCertPath: /a//ca, patches: {directory: /p/}}", 'engine_options { kubeadm { ca_path: "/a/ca" patches_directory: "/p" } }'),
    ("joinConfiguration: {discovery: {file: {kubeConfigPath: /a//k}}}", 'kubernetes { discovery { file { path: "/a/k" } } }'),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "wanted"), PATHS)
def test_every_path_has_one_form(spec: str, wanted: str) -> None:
    """Slashes without a meaning are left out wherever a path stands; what only looks like a path stays."""
    got = without_origins(carried(spec, version=BETA2, role=clusterpb.ROLE_CONTROL_PLANE).spec)
    expected = text_format.Parse(wanted, specpb.MachineBootstrapSpec())
    for field in ("os", "kubernetes", "engine_options"):
        assert getattr(got, field) == getattr(expected, field), field


def test_cloud_init_takes_a_file_from_the_root() -> None:
    """cloud-init makes a path absolute, and its own folder is the root; a note says so."""
    got = carried("files: [{path: opt/d, content: x}]")
    assert [file.path for file in got.spec.os.files] == ["/opt/d"]
    assert codes(got) == ["PATH_FROM_ROOT"]
    assert got.diagnostics[0].origin.path == "spec.files[0].path"


def test_root_is_left_as_the_image_has_it() -> None:
    """What cloud-init sets only for accounts that it makes has no effect on root today, and is named; keys count."""
    got = carried("users: [{name: root, shell: /bin/bash, homeDir: /root, groups: a, sshAuthorizedKeys: [k]}]")
    user = without_origins(got.spec.os.users[0])
    assert str(user).split() == ["name:", '"root"', "ssh_authorized_keys:", '"k"']
    places = [each.origin.path for each in got.diagnostics if each.code == "NO_EFFECT"]
    assert places == ["spec.users[0].groups", "spec.users[0].homeDir", "spec.users[0].shell"]


def test_other_systems_change_root() -> None:
    """Ignition changes an account that is there, so nothing is left out for it."""
    got = carried(IGNITION + "users: [{name: root, shell: /bin/bash}]")
    assert got.spec.os.users[0].shell == "/bin/bash"
