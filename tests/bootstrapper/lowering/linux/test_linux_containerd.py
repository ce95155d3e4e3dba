"""Tests of containerd's configuration: what the real daemons make of it, and what is refused."""

import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.contract.content import content_bytes, literal
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.lowering.linux.full_linux_spec import PASSWORD, SECRETS, certificate, reference
from tests.bootstrapper.lowering.lowered_systems import Lowered, LowerSystem
from tools.oracles import containerd
from tools.oracles.sandbox import File

CONFIG = "/etc/containerd/config.toml"
CERTS = "/etc/containerd/certs.d"
CRI = "io.containerd.grpc.v1.cri"
NEW = f"{CONFIG}.slipway"
PINNED = "registry.k8s.io/pause:3.9"
DUMPS = {
    "1.7": f'version = 2\n[plugins]\n  [plugins."{CRI}"]\n    sandbox_image = "{PINNED}"\n    sandboxer = "no"\n',
    "2.2": f"version = 3\n[plugins]\n  [plugins.'io.containerd.cri.v1.images']\n"
    f"    [plugins.'io.containerd.cri.v1.images'.pinned_images]\n      sandbox = '{PINNED}'\n",
}
"""What daemons print of their configuration."""

RUNTIME = {"service": "containerd.service", "configuration": CONFIG, "registries": CERTS}


def full(lower: LowerSystem, **options: str) -> Lowered:
    """Lower a containerd with everything in it."""
    return lower(ospb.OperatingSystem(containerd=_containerd()), **options)


def _containerd() -> ospb.Containerd:
    mirror = ospb.RegistryEndpoint(
        url="https://mirror.example.com/v2/hub", ca=literal(certificate("mirror")), override_path=True
    )
    second = ospb.RegistryEndpoint(url="https://second.example.com:5000", skip_verify=True)
    login = ospb.RegistryCredentials(
        username='slipway-secret-0 "x" \\', password=secretpb.SecretValue(secret_ref=reference("password"))
    )
    return ospb.Containerd(
        registries=[
            ospb.Registry(host="docker.io", endpoints=[mirror, second], credentials=login),
            ospb.Registry(host="quay.io", endpoints=[mirror, second], only_endpoints=True),
            ospb.Registry(host="registry.example.com:5000", server="https://other.example.com"),
            ospb.Registry(host="ghcr.io", credentials=login),
        ],
        cgroup_driver=ospb.CGROUP_DRIVER_CGROUPFS,
        sandbox_image="registry.example.com/pause:3.10",
        proxy=ospb.Proxy(https_proxy="http://u:p%40@proxy.example.com"),
    )


def config(done: Lowered) -> dict:
    """Read the configuration file back, secrets filled in."""
    return tomllib.loads(content_bytes(done.files[CONFIG if CONFIG in done.files else NEW].content, SECRETS).decode())


def adopt(done: Lowered, folder: Path, before: str | None, *, dump: str | None = None) -> Path:
    """Run the machine's own step where the image has a configuration, and a daemon that dumps one; give the file."""
    file, new = folder / "config.toml", folder / "config.toml.slipway"
    new.write_bytes(content_bytes(done.files[NEW].content, SECRETS))
    new.chmod(done.files[NEW].mode)
    if before is not None:
        file.write_text(before)
    fakes = folder / "bin"
    fakes.mkdir(exist_ok=True)
    (folder / "dump").write_text(dump or "")
    answer = f'[ "$*" = "--config {file} config dump" ] && cat {folder}/dump' if dump is not None else "exit 1"
    for name, body in (("containerd", answer), ("systemctl", "")):
        (fakes / name).write_text(f"#!/bin/sh\n{body}\n")
        (fakes / name).chmod(0o755)
    text = done.scripts["90-containerd"].replace(CONFIG, str(file))
    subprocess.run(["sh", "-c", text], env={"PATH": f"{fakes}:/usr/bin:/bin"}, check=True)
    assert not new.exists()
    return file


def test_passwords_are_references_and_the_file_is_private(lower: LowerSystem) -> None:
    """The password is never a literal; a user name that looks like a mark stays what it is."""
    done = full(lower)
    literals = b"".join(segment.data for segment in done.files[CONFIG].content.segments)
    assert b"p\\" not in literals
    assert done.files[CONFIG].mode == 0o600
    auth = config(done)["plugins"][CRI]["registry"]["configs"]
    assert auth["ghcr.io"]["auth"] == {"username": 'slipway-secret-0 "x" \\', "password": PASSWORD}
    assert auth["registry-1.docker.io"] == auth["docker.io"] == auth["ghcr.io"]


def test_without_credentials_the_file_is_public(lower: LowerSystem) -> None:
    """Nothing in it is worth hiding then; systemd's driver of control groups is the default."""
    done = lower(ospb.OperatingSystem(containerd=ospb.Containerd()))
    assert done.files[NEW].mode == 0o644
    options = config(done)["plugins"][CRI]["containerd"]["runtimes"]["runc"]["options"]
    assert options == {"SystemdCgroup": True}


def test_an_air_gapped_registry_is_never_asked_itself(lower: LowerSystem) -> None:
    """Its last endpoint stands where containerd would otherwise put the registry."""
    done = full(lower)
    tree = tomllib.loads(done.text(f"{CERTS}/quay.io/hosts.toml"))
    assert tree["server"] == "https://second.example.com:5000"
    assert tree["skip_verify"] is True
    assert list(tree["host"]) == ["https://mirror.example.com/v2/hub"]
    assert tree["host"]["https://mirror.example.com/v2/hub"]["ca"] == "ca-1.pem"


def test_a_file_without_further_hosts_has_their_table_all_the_same(lower: LowerSystem) -> None:
    """Only a server, or a lone endpoint in its place: containerd up to 1.7 rejects a file without the table."""
    alone = ospb.RegistryEndpoint(url="https://alone.example.com")
    registries = [
        ospb.Registry(host="registry.example.com", server="https://other.example.com"),
        ospb.Registry(host="quay.io", endpoints=[alone], only_endpoints=True),
    ]
    done = lower(ospb.OperatingSystem(containerd=ospb.Containerd(registries=registries)))
    for host, server in (
        ("registry.example.com", "https://other.example.com"),
        ("quay.io", "https://alone.example.com"),
    ):
        assert tomllib.loads(done.text(f"{CERTS}/{host}/hosts.toml")) == {"server": server, "host": {}}


def test_flatcar_reads_the_file_too(lower: LowerSystem) -> None:
    """Its service takes the path of the file from its environment."""
    done = full(lower, distribution="flatcar")
    drop_in = done.text("/etc/systemd/system/containerd.service.d/10-slipway-config.conf")
    assert drop_in == f'[Service]\nEnvironment="CONTAINERD_CONFIG={CONFIG}"\n'


def test_its_own_proxy_replaces_the_one_for_both(lower: LowerSystem) -> None:
    """The drop-in sorts behind the other and sets what it does not say, too; specifiers are escaped."""
    done = full(lower)
    drop_in = done.text("/etc/systemd/system/containerd.service.d/20-slipway-proxy.conf")
    assert drop_in.splitlines()[1:] == [
        'Environment="HTTP_PROXY="',
        'Environment="HTTPS_PROXY=http://u:p%%40@proxy.example.com"',
        'Environment="NO_PROXY="',
    ]


def without_image() -> ospb.OperatingSystem:
    """Give a containerd with everything but a sandbox image."""
    system = ospb.OperatingSystem(containerd=_containerd())
    system.containerd.ClearField("sandbox_image")
    return system


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("daemon", DUMPS)
def test_the_images_own_sandbox_image_stays(lower: LowerSystem, tmp_path: Path, daemon: str, version: int) -> None:
    """As its daemon names it, imports and all; the rest is the spec's, and the file stays private."""
    done = lower(without_image(), changes={"containerd": {**RUNTIME, "configuration_version": version}})
    file = adopt(done, tmp_path, 'imports = ["/etc/containerd/conf.d/*.toml"]\n', dump=DUMPS[daemon])
    tree = tomllib.loads(file.read_text())
    plugin = tree["plugins"][CRI if version == 2 else "io.containerd.cri.v1.images"]
    kept = plugin.pop("sandbox_image") if version == 2 else plugin.pop("pinned_images")["sandbox"]
    assert kept == PINNED
    assert tree == config(done)
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("before", "expected", "reason"),
    [
        (f'  sandbox_image = "{PINNED}" # pinned\n', PINNED, "its own words count where no daemon can be asked"),
        (f"sandbox='{PINNED}'\n", PINNED, "and those of version 3"),
        ("sandboxer = 'a'\n# sandbox_image = 'b'\n", None, "nothing is pinned"),
        ("sandbox_image = 'a b'\n", None, "no name of an image"),
        (None, None, "the image has no configuration"),
    ],
)
def test_what_an_image_may_have(
    lower: LowerSystem, tmp_path: Path, before: str | None, expected: str | None, reason: str
) -> None:
    """Without an answer of the daemon; what is not pinned is left to it."""
    tree = tomllib.loads(adopt(lower(without_image()), tmp_path, before).read_text())
    assert tree["plugins"][CRI].get("sandbox_image") == expected, reason


def test_a_step_that_was_cut_short_is_repeated(lower: LowerSystem, tmp_path: Path) -> None:
    """Where the new file is still there the image is pinned once; where it is gone, nothing changes."""
    done = lower(without_image())
    file = adopt(done, tmp_path, f'sandbox_image = "{PINNED}"\n')
    first = file.read_text()
    assert adopt(done, tmp_path, None).read_text() == first
    text = done.scripts["90-containerd"].replace(CONFIG, str(file))
    subprocess.run(["sh", "-c", text], env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"}, check=True)
    assert file.read_text() == first


def test_the_sandbox_image_of_the_spec_wins(lower: LowerSystem) -> None:
    """The file is written as it is, and the machine's own is not looked at."""
    done = full(lower)
    assert "adopt" not in done.scripts["90-containerd"]
    assert NEW not in done.files


@pytest.mark.parametrize("path", [CONFIG, NEW])
def test_another_file_of_the_spec_is_refused(lower: LowerSystem, path: str) -> None:
    """It would be written over."""
    system = without_image()
    system.files.add(path=path, content=literal(b""))
    assert [words for _, words in lower(system).refusals] == [
        "os.containerd has to write a file that the spec also writes by itself"
    ]


REFUSED = [
    (ospb.Registry(host="a.example", only_endpoints=True), "has no endpoint", "nobody is left to ask"),
    (
        ospb.Registry(
            host="_default",
            credentials=ospb.RegistryCredentials(
                username="u", password=secretpb.SecretValue(secret_ref=reference("password"))
            ),
        ),
        "no credentials for all registries",
        "containerd looks credentials up by host",
    ),
]


@pytest.mark.parametrize(("registry", "words", "reason"), REFUSED)
def test_refusals(lower: LowerSystem, registry: ospb.Registry, words: str, reason: str) -> None:
    """What containerd could not be told is refused."""
    done = lower(ospb.OperatingSystem(containerd=ospb.Containerd(registries=[registry])))
    assert len(done.refusals) == 1, reason
    assert words in done.refusals[0][1], reason
    assert CONFIG not in done.files


@pytest.mark.engine
@pytest.mark.parametrize("version", containerd.DAEMONS)
def test_real_daemons_take_the_file(lower: LowerSystem, engine: Callable[..., None], version: str) -> None:
    """Every daemon in use loads CRI with the values that the spec gives, and nothing of it is unknown to them."""
    engine("containerd")
    done = full(lower)
    files = {path: File(content_bytes(file.content, SECRETS), file.mode) for path, file in done.files.items()}
    daemon = containerd.start(files.pop(CONFIG).content, version=version, extra_files=files)
    assert daemon.up
    assert [finding for finding in daemon.findings if finding.severity == "error"] == []
    effective = str(daemon.effective)
    assert "registry.example.com/pause:3.10" in effective
    assert "'SystemdCgroup': False" in effective
    assert f"'config_path': '{CERTS}'" in effective


@pytest.mark.engine
@pytest.mark.parametrize("version", containerd.DAEMONS)
def test_real_daemons_take_an_adopted_file(
    lower: LowerSystem, engine: Callable[..., None], tmp_path: Path, version: str
) -> None:
    """Every daemon in use reads the pinned image out of the table that is added to the file."""
    engine("containerd")
    done = lower(without_image())
    files = {path: File(content_bytes(file.content, SECRETS), file.mode) for path, file in done.files.items()}
    del files[NEW]
    text = adopt(done, tmp_path, f'sandbox_image = "{PINNED}"\n').read_bytes()
    daemon = containerd.start(text, version=version, extra_files=files)
    assert [finding for finding in daemon.findings if finding.severity == "error"] == []
    assert PINNED in str(daemon.effective)


@pytest.mark.engine
def test_a_profile_may_ask_for_version_3(lower: LowerSystem, engine: Callable[..., None]) -> None:
    """Where an operator knows that containerd is 2.x, the file has its names, and it takes them."""
    engine("containerd")
    done = lower(
        ospb.OperatingSystem(containerd=_containerd()),
        changes={"containerd": {**RUNTIME, "configuration_version": 3}},
    )
    assert config(done)["version"] == 3
    files = {path: File(content_bytes(file.content, SECRETS), file.mode) for path, file in done.files.items()}
    daemon = containerd.start(files.pop(CONFIG).content, version="2.2", extra_files=files)
    assert [finding for finding in daemon.findings if finding.severity == "error"] == []
    plugins = daemon.effective["plugins"]
    assert plugins["io.containerd.cri.v1.images"]["pinned_images"]["sandbox"] == "registry.example.com/pause:3.10"
    runc = plugins["io.containerd.cri.v1.runtime"]["containerd"]["runtimes"]["runc"]
    assert runc["options"]["SystemdCgroup"] is False


@pytest.mark.engine
def test_real_hosts(lower: LowerSystem, engine: Callable[..., None]) -> None:
    """Containerd's own loader asks the mirrors in order, and an air-gapped registry nowhere."""
    engine("containerd-config")
    done = full(lower)
    files = {
        path.removeprefix(f"{CERTS}/"): content_bytes(file.content, SECRETS)
        for path, file in done.files.items()
        if path.startswith(CERTS)
    }
    hosts, findings = containerd.registry_hosts(files, ["docker.io", "quay.io", "registry.example.com:5000"])
    assert findings == []
    assert [host.url for host in hosts["docker.io"]][:2] == [
        "https://mirror.example.com/v2/hub",
        "https://second.example.com:5000/v2",
    ]
    assert [host.url for host in hosts["quay.io"]] == [
        "https://mirror.example.com/v2/hub",
        "https://second.example.com:5000/v2",
    ]
    assert [host.url for host in hosts["registry.example.com:5000"]] == ["https://other.example.com/v2"]
