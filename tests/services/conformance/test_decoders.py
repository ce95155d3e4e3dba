"""The parsers of the suite on documents written by hand: what they read, and what they do not take for their format."""

import base64
import gzip

import pytest
import yaml

from slipway.conformance.decoders import cloud_config, ignition, talos, windows
from slipway.conformance.decoders.sight import UnreadableError
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb


def test_cloud_config() -> None:
    """Defaults, encodings, deferred files and the program of every boot."""
    packed = base64.b64encode(gzip.compress(b"zipped")).decode()
    document = f"""#cloud-config
write_files:
  - {{path: /a, content: "text"}}
  - {{path: /b, encoding: gz+b64, content: "{packed}", permissions: '0400', owner: 'x:y'}}
  - {{path: /a, content: later, defer: true}}
  - {{path: /open, permissions: '0000'}}
  - {{path: /shut, permissions: '100000'}}
  - {{path: /var/lib/cloud/scripts/per-boot/x, permissions: '0755', content: "#!/bin/sh\\nexec run 'it all'\\n"}}
runcmd: [[a, b], c d]
users: [default, {{name: u, groups: "g,h", sudo: "ALL"}}]
"""
    state = cloud_config.decode(document.encode(), {})
    files = {file.path: file for file in state.os.files}
    assert files["/a"].content.data == b"later"
    assert (files["/a"].owner, files["/a"].group, files["/a"].mode) == ("root", "root", 0o644)
    assert (files["/open"].mode, files["/shut"].mode) == (0o644, 0), "cloud-init takes 0 for no mode"
    assert files["/b"].content.data == b"zipped"
    assert (files["/b"].owner, files["/b"].group, files["/b"].mode) == ("x", "y", 0o400)
    assert [list(program.argv) for program in state.programs] == [["a", "b"], ["sh", "-c", "c d"], ["run", "it all"]]
    assert list(state.os.users[0].groups) == ["g", "h"]


_KEYS = "ssh_authorized_keys: [ssh-ed25519 A]"
_GUARD = (
    r"found=$(wipefs -n %(device)s) && { { [ -n \"$found\" ] && [ \"$(blkid -p %(device)s)\" OPERATOR ntfs ]; } "
    "|| mkfs.ext4 -F %(device)s; }"
)
_KEEPS_IT = _GUARD.replace("OPERATOR", "=")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"users: [{{name: u, no_create_home: true, {_KEYS}}}]", "keys need a home that cloud-init makes"),
        (f"users: [{{name: u, system: true, {_KEYS}}}]", "a system account has none either"),
        (
            f'fs_setup: [{{device: /dev/a, filesystem: ext4, replace_fs: ntfs, cmd: "{_KEEPS_IT}"}}]',
            "a guard that keeps the one kind that may be replaced",
        ),
    ],
)
def test_what_cloud_init_cannot_do(text: str, reason: str) -> None:
    """A document that asks for it is refused: the machine would have nothing of it."""
    with pytest.raises(UnreadableError):
        cloud_config.decode(f"#cloud-config\n{text}\n".encode(), {})
    assert reason


def test_what_cloud_init_fills_in() -> None:
    """A mount without the last fields is checked at boot; a guard that keeps other kinds is read."""
    guard = _GUARD.replace("OPERATOR", "!=")
    text = f"""#cloud-config
mounts: [[a, /a], [b, /b, auto, defaults, "0", "0"]]
fs_setup: [{{device: /dev/a, filesystem: ext4, replace_fs: ntfs, cmd: "{guard}"}}]
"""
    system = cloud_config.decode(text.encode(), {}).os
    assert [mount.check for mount in system.mounts] == [True, False]
    assert system.filesystems[0].replace_format == "ntfs"


def test_a_template_of_cloud_init() -> None:
    """Jinja drops the last line break, and gives texts between quotes as they are; variables stay."""
    document = b"## template: jinja\n#cloud-config\nruncmd:\n- |\n  echo {{ v1.region }} {{ '{{' }}\n"
    (program,) = cloud_config.decode(document, {}).programs
    assert list(program.argv) == ["sh", "-c", "echo {{ v1.region }} {{"]
    (kept,) = cloud_config.decode(document + b"#\n", {}).programs
    assert list(kept.argv) == ["sh", "-c", "echo {{ v1.region }} {{\n"]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["Add-Group 'a'"], "a function that is not there"),
        (["function Add-Group {", "}", "Add-Group 'a'", "Add-Group 'A'"], "two of one name"),
    ],
)
def test_what_windows_cannot_do(lines: list[str], reason: str) -> None:
    """A script that ends in an error, or makes one thing of two."""
    with pytest.raises(UnreadableError):
        windows.decode("\n".join(["#ps1_sysnative", *lines, ""]).encode(), {})
    assert reason


@pytest.mark.parametrize(
    ("decode", "data"),
    [
        (cloud_config.decode, b"write_files: []"),
        (cloud_config.decode, b"#cloud-config\n- a"),
        (cloud_config.decode, b"#cloud-config\nwrite_files: [{content: x}]"),
        (cloud_config.decode, b"#cloud-config\n\xff"),
        (ignition.decode, b"{}"),
        (ignition.decode, b'{"ignition": {"version": "9.0.0"}}'),
        (ignition.decode, b"\x1f\x8b"),
        (talos.decode, b"a: 1"),
        (talos.decode, b"version: v1alpha1\n"),
        (windows.decode, b"echo"),
        (windows.decode, b"<a/>"),
    ],
)
def test_what_is_no_document_is_unreadable(decode: object, data: bytes) -> None:
    """It is said so, and nothing of it is claimed."""
    with pytest.raises(UnreadableError):
        decode(data, {})


def test_control_plane_of_talos() -> None:
    """Components, add-ons, etcd and keys of a configuration; a file is read only where the component can see it."""
    authority = base64.b64encode(b"-----BEGIN ED25519 PRIVATE KEY-----\nx").decode()
    component = {"image": "registry.example.com/k8s/kube-x:v1.34.1"}
    cluster = {
        "controlPlane": {"endpoint": "https://[2001:db8::1]:6443", "localAPIServerPort": 7443},
        "ca": {"crt": "", "key": authority},
        "token": "abcdef.0123456789abcdef",
        "apiServer": {
            **component,
            "certSANs": ["2001:db8::1", "api.example.org"],
            "extraArgs": {"tracing-config-file": "/var/seen/tracing", "other-file": "/var/hidden/other", "v": "2"},
            "extraVolumes": [{"hostPath": "/var/seen", "mountPath": "/var/seen", "readonly": True}],
        },
        "controllerManager": component,
        "scheduler": component,
        "proxy": {"disabled": True},
        "etcd": {"image": "registry.example.com/etcd:3.6.5-0"},
    }
    files = [{"path": path, "content": path, "permissions": 420} for path in ("/var/seen/tracing", "/var/hidden/other")]
    machine = {
        "type": "controlplane",
        "kubelet": {"image": "k:v1.34.1"},
        "files": files,
        "ca": {"crt": authority, "key": ""},
    }
    document = yaml.safe_dump({"version": "v1alpha1", "machine": machine, "cluster": cluster}).encode()
    node = talos.decode(document, {}).node
    assert node.role == clusterpb.ROLE_CONTROL_PLANE
    pem = b"-----BEGIN PRIVATE KEY-----\nx"
    assert {(one.name, one.key): one.value for one in node.secrets} == {
        ("cluster_ca", "tls.key"): pem,
        ("talos.slipway.dev/machine-ca", "tls.crt"): pem,
        ("talos.slipway.dev/cluster-token", "token"): b"abcdef.0123456789abcdef",
    }
    context = yaml.safe_dump({"contexts": {"a": {"key": authority}}}).encode()
    founder = talos.decode(document, {"talosconfig": context}).node
    assert founder.role == clusterpb.ROLE_INIT
    assert ("talos.slipway.dev/admin", "tls.key") in {(one.name, one.key) for one in founder.secrets}
    found = node.kubernetes
    assert list(found.control_plane.api_server_sans) == ["api.example.org"]
    assert found.control_plane.bind_port == 7443
    assert [(one.component, one.argument) for one in found.control_plane.files] == [
        ("api-server", "tracing-config-file")
    ]
    assert found.control_plane.kube_proxy.disabled
    assert (found.etcd.local.image_repository, found.etcd.local.image_tag) == ("registry.example.com", "3.6.5-0")
    assert found.images.repository == "registry.example.com/k8s"


_UNIT = "[Service]\nExecStart=/bin/run 'two words'\n[Install]\nWantedBy=multi-user.target\n"
_EVERY, _FIRST, _EARLY = statepb.START_EVERY_BOOT, statepb.START_FIRST_BOOT, statepb.START_EARLY


def _script(folder: str) -> dict[str, object]:
    path = f"/var/lib/cloud/scripts/{folder}/x"
    return {"write_files": [{"path": path, "permissions": "0755", "content": "exec /bin/run 'two words'\n"}]}


def _unit(*commands: object, contents: str = _UNIT) -> dict[str, object]:
    files = [{"path": "/etc/systemd/system/x.service", "permissions": "0644", "content": contents}]
    return {"write_files": files, "runcmd": list(commands)}


@pytest.mark.parametrize(
    ("document", "want", "reason"),
    [
        ({"runcmd": [["/bin/run", "two words"]]}, [_FIRST], "once in the life of an instance"),
        ({"bootcmd": [["/bin/run", "two words"]]}, [_EARLY], "before write_files"),
        (_script("per-boot"), [_EVERY], "behind all modules of every boot"),
        (_script("per-instance"), [_FIRST], "once"),
        (_script("per-once"), [_FIRST], "once"),
        (_unit(["systemctl", "enable", "--now", "x.service"]), [_EVERY], "now, and on later boots"),
        (_unit("systemctl enable x", "systemctl start x"), [_EVERY], "the same in two lines for a shell"),
        (_unit(["/usr/bin/systemctl", "start", "x"]), [_FIRST], "nobody has enabled it"),
        (_unit(["systemctl", "enable", "x.service"]), [], "it would start on the second boot"),
        (_unit(["systemctl", "enable", "--now", "y.service"]), [], "another unit"),
        (_unit(["systemctl", "enable", "--now", "x"], contents=_UNIT.partition("[I")[0]), [_FIRST], "nothing wants it"),
        (
            _unit(["systemctl", "enable", "--now", "x"], contents="[Unit]\nConditionFirstBoot=yes\n" + _UNIT),
            [_FIRST],
            "it says so itself",
        ),
    ],
)
def test_when_a_program_starts(document: dict[str, object], want: list[int], reason: str) -> None:
    """Each place of a cloud-config has its time; a unit among the files starts when a command says so."""
    state = cloud_config.decode(b"#cloud-config\n" + yaml.safe_dump(document).encode(), {})
    found = [one.start for one in state.programs if list(one.argv) == ["/bin/run", "two words"]]
    assert found == want, reason


@pytest.mark.parametrize(
    ("entry", "want", "reason"),
    [
        ("format: f2fs, cmd: 'a || mkfs.f2fs -f -l data %(device)s; }'", "data", "the program's own option"),
        ("format: ext4, cmd: 'a || mkfs.ext4 -F -L data %(device)s; }'", "data", "the usual one"),
        ("format: vfat, overwrite: true, extra_opts: ['-n', data]", "data", "among the options"),
        ("format: ext4, overwrite: true, label: data", "data", "cloud-init's own key"),
        ("format: f2fs, overwrite: true, label: data", None, "an option that the program does not have"),
    ],
)
def test_labels_of_filesystems_in_cloud_config(entry: str, want: str | None, reason: str) -> None:
    """A label counts where the program that makes the filesystem understands it."""
    text = (
        f"#cloud-config\nfs_setup: [{{device: /dev/sdb, partition: none, {entry.replace('format', 'filesystem')}}}]\n"
    )
    if want is None:
        with pytest.raises(UnreadableError):
            cloud_config.decode(text.encode(), {})
        return
    assert cloud_config.decode(text.encode(), {}).os.filesystems[0].label == want, reason


def test_peers_of_windows_time() -> None:
    """A peer that is not asked as a client has the machine offer its own time, so it is no time server."""
    script = "#ps1_sysnative\nfunction Enable-TimeSync {\n}\nEnable-TimeSync 'a.example.com,0x8 b.example.com'\n"
    servers = list(windows.decode(script.encode(), {}).os.ntp.servers)
    assert servers == ["a.example.com", "equal b.example.com"]


def test_mounts_of_cloud_init() -> None:
    """A row without options has those of cloud-init; one that says so lets the boot fail."""
    text = b"#cloud-config\nmounts: [[LABEL=a, /a], [LABEL=b, /b, ext4, defaults]]\n"
    options = [list(mount.options) for mount in cloud_config.decode(text, {}).os.mounts]
    assert options == [["defaults", "nofail"], ["defaults"]]
