"""The real daemons of three ages, and the newest's own reading of registry hosts: good files and the silent traps."""

import pytest

from tools.oracles import containerd, finding

pytestmark = pytest.mark.engine

CRI = 'plugins."io.containerd.grpc.v1.cri"'
VERSION_2 = f'version = 2\n[{CRI}]\n  sandbox_image = "registry.example/pause:1"\n'.encode()
VERSION_3 = (
    b'version = 3\n[plugins."io.containerd.cri.v1.images".pinned_images]\n  sandbox = "registry.example/pause:1"\n'
)
MIRRORS_AND_PATH = (
    VERSION_2.decode()
    + f'[{CRI}.registry]\n  config_path = "/etc/containerd/certs.d"\n'
    + f'  [{CRI}.registry.mirrors."docker.io"]\n    endpoint = ["https://mirror.example"]\n'
).encode()


@pytest.fixture(params=containerd.DAEMONS)
def version(engine, request):
    """Each daemon that can be had."""
    engine("containerd")
    return request.param


def sandbox_image(daemon):
    """The effective sandbox image, wherever the daemon's age keeps it."""
    plugins = daemon.effective["plugins"]
    if "io.containerd.cri.v1.images" in plugins:
        return plugins["io.containerd.cri.v1.images"]["pinned_images"]["sandbox"]
    return plugins["io.containerd.grpc.v1.cri"]["sandbox_image"]


def test_version_2_is_understood_by_all(version):
    """The daemon comes up, its CRI plugin is well, and our value is the effective one."""
    daemon = containerd.start(VERSION_2, version=version)
    assert (daemon.up, daemon.findings, sandbox_image(daemon)) == (True, (), "registry.example/pause:1")
    assert daemon.plugins["io.containerd.grpc.v1.cri"] == "ok"


def test_version_3_is_for_the_newest_only(version):
    """A version 3 file works on 2.x, kills 1.7, and has no effect on 1.6, which says nothing."""
    daemon = containerd.start(VERSION_3, version=version)
    assert daemon.up == (version != "1.7")
    if version == "1.6":
        assert sandbox_image(daemon) != "registry.example/pause:1"
    if version == "1.7":
        assert finding.errors(daemon.findings)
    if version == "2.2":
        assert (sandbox_image(daemon), daemon.findings) == ("registry.example/pause:1", ())


def test_daemon_without_cri_is_flagged(version):
    """The daemon that runs on without its CRI plugin is found out; status and dump say nothing of it."""
    daemon = containerd.start(MIRRORS_AND_PATH, version=version)
    assert daemon.up
    assert any("io.containerd.grpc.v1.cri" in error.message for error in finding.errors(daemon.findings))


def test_broken_toml(version):
    """A syntax error is an error."""
    daemon = containerd.start(b"version = 2\n[plugins\n", version=version)
    assert not daemon.up
    assert finding.errors(daemon.findings)


def test_misspelt_key_is_told_by_the_newest(engine):
    """Only 2.x tells of a key that it does not know; its warning counts as an error here."""
    engine("containerd")
    found = finding.errors(containerd.start(VERSION_2.replace(b"_image", b"_imag"), version="2.2").findings)
    assert any("sandbox_imag" in one.message for one in found)
    assert any(
        "surprise" in error.message for error in finding.errors(containerd.validate(b"version = 3\nsurprise = 1\n"))
    )
    assert containerd.validate(VERSION_3) == []


def test_registry_hosts(engine):
    """Hosts come in the order of the file, with their abilities, and the server last; others are as they were."""
    engine("containerd-config")
    certs = b'server = "https://last.example"\n'
    certs += b'[host."https://first.example/v2/proxy"]\n  capabilities = ["pull"]\n  override_path = true\n'
    hosts, found = containerd.registry_hosts({"docker.io/hosts.toml": certs}, ["docker.io", "quay.io"])
    assert found == []
    assert [(one.url, one.capabilities) for one in hosts["docker.io"]] == [
        ("https://first.example/v2/proxy", ("pull",)),
        ("https://last.example/v2", ("pull", "push", "resolve")),
    ]
    assert [one.url for one in hosts["quay.io"]] == ["https://quay.io/v2"]


def test_misspelt_hosts_key_changes_the_list(engine):
    """A misspelt key in hosts.toml is silent, so the list of hosts is what tells."""
    engine("containerd-config")
    certs = b'server = "https://last.example"\n[hosts."https://first.example"]\n'
    hosts, _ = containerd.registry_hosts({"docker.io/hosts.toml": certs}, ["docker.io"])
    assert [one.url for one in hosts["docker.io"]] == ["https://last.example/v2"]


def test_broken_hosts_file(engine):
    """A hosts.toml that is no TOML is an error."""
    engine("containerd-config")
    _, found = containerd.registry_hosts({"docker.io/hosts.toml": b"server = \n"}, ["docker.io"])
    assert finding.errors(found)
