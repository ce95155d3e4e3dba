"""Defects of documents that no first-boot system reads: kubeadm's, Talos', containerd's, Windows' and small ones.

What is changed is what is rendered for a sound machine; what sees it is the engine of the real tests.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import yaml

from tests.oracles import ours
from tests.oracles.booted import NATIVE
from tests.oracles.filling import linux, talos, windows
from tests.oracles.test_containerd_reads import in_force
from tests.oracles.test_injection_windows import script_of
from tests.oracles.test_kubeadm_reads import EXPECTATIONS, understood
from tools.oracles import checkers, containerd, finding, kubeadm
from tools.oracles import talos as engine_of_talos
from tools.oracles import windows as engine_of_windows
from tools.oracles.finding import Finding
from tools.oracles.talos import Mode

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

Change = Callable[[bytes], bytes]


def replaced(old: bytes, new: bytes) -> Change:
    """A change of a text that must be there."""

    def change(data: bytes) -> bytes:
        assert old in data
        return data.replace(old, new, 1)

    return change


@cache
def files_of_a_machine() -> dict[str, bytes]:
    """What cloud-init would write on a sound machine."""
    return _files(ours.render(linux(), "cloud-init").user_data)


def _files(user_data: bytes) -> dict[str, bytes]:
    entries = [one for one in yaml.safe_load(user_data)["write_files"] if "encoding" not in one]
    return {one["path"]: one.get("content", "").encode() for one in entries}


@cache
def documents_for_kubeadm() -> bytes:
    """What kubeadm reads on a worker of the native example."""
    return _files(ours.render(NATIVE["harbour-worker"], "cloud-init").user_data)["/etc/slipway/kubeadm.yaml"]


KUBEADM = [
    ("the older version of the API", replaced(b"kubeadm.k8s.io/v1beta4", b"kubeadm.k8s.io/v1beta1")),
    ("a field that is misspelt", replaced(b"nodeRegistration:", b"nodeRegistrations:")),
    ("arguments as a mapping, as v1beta3 has them", replaced(b"  - name: ", b"  - ")),
    ("a taint without its effect", replaced(b"  - effect: NoSchedule\n    key:", b"  - key:")),
]


@pytest.mark.parametrize(("reason", "change"), KUBEADM)
def test_kubeadm_shows_a_defect(reason: str, change: Change, engine: Callable[..., None]) -> None:
    """The strict loader refuses it, or what was understood is not what the table expects."""
    engine("kubeadm")
    sound, expected = documents_for_kubeadm(), EXPECTATIONS["harbour-worker"]
    assert finding.errors(kubeadm.validate(sound)) == []
    assert understood(sound, expected) == _without_version(expected)
    defective = change(sound)
    refused = finding.errors(kubeadm.validate(defective))
    assert refused or understood(defective, expected) != _without_version(expected), reason


def test_kubeadm_shows_a_lost_argument(engine: Callable[..., None]) -> None:
    """Nothing is wrong with the document: only the table of expectations knows."""
    engine("kubeadm")
    document = yaml.safe_load(documents_for_kubeadm())
    document["nodeRegistration"]["kubeletExtraArgs"].clear()
    defective = yaml.safe_dump(document).encode()
    assert finding.errors(kubeadm.validate(defective)) == []
    expected = EXPECTATIONS["harbour-worker"]
    assert understood(defective, expected) != _without_version(expected)


def _without_version(expected: dict[str, Any]) -> dict[str, Any]:
    return {kind: paths for kind, paths in expected.items() if kind != "version"}


@cache
def _config_of_talos() -> bytes:
    return ours.render(talos(), "talos", "talos/v1.11", own_secrets=True).user_data


TALOS = [
    ("a key that is misspelt", replaced(b"\n  sysctls:", b"\n  sysctl:")),
    ("a number where a text belongs", replaced(b"permissions: ", b"permission: ")),
    ("a type of machine that is none", replaced(b"type: controlplane", b"type: control-plane")),
    ("no endpoint of the cluster", replaced(b"    endpoint: https://", b"    endpoint: ")),
    ("a control plane's configuration for a worker", replaced(b"type: controlplane", b"type: worker")),
]


@pytest.mark.parametrize(("reason", "change"), TALOS)
def test_talos_shows_a_defect(reason: str, change: Change, engine: Callable[..., None]) -> None:
    """Talos' own loader and validator take the sound configuration and nothing else."""
    engine("talos")
    sound = _config_of_talos()
    version = engine_of_talos.OLDER
    assert finding.errors(engine_of_talos.validate(sound, version=version, mode=Mode.CLOUD)) == []
    assert finding.errors(engine_of_talos.validate(change(sound), version=version, mode=Mode.CLOUD)), reason


# How a daemon shows it: it is down, its CRI plugin is not well or a word of its log says so, or a value of its own dump
# is not the intended one.
DOWN, SAID, VALUE = "down", "said", "value"
CONTAINERD: list[tuple[str, Change, dict[str, set[str]]]] = [
    (
        "the names of containerd 2 for a containerd that does not know them",
        lambda data: data.replace(b"version = 2", b"version = 3").replace(b"grpc.v1.cri", b"cri.v1.images"),
        {"1.6": {VALUE}, "1.7": {DOWN}, "2.2": {VALUE}},
    ),
    (
        "a text that is no TOML",
        replaced(b"version = 2", b"version = "),
        {"1.6": {DOWN}, "1.7": {DOWN}, "2.2": {DOWN}},
    ),
    (
        "mirrors beside their folder",
        lambda data: (
            data + b'\n[plugins."io.containerd.grpc.v1.cri".registry.mirrors."docker.io"]\nendpoint = ["http://x"]\n'
        ),
        {"1.6": {SAID}, "1.7": {SAID}, "2.2": {SAID}},
    ),
    (
        "a key that is misspelt",
        replaced(b"sandbox_image =", b"sandbox_imag ="),
        {"1.6": {VALUE}, "1.7": {VALUE}, "2.2": {VALUE}},
    ),
    (
        "a truth as a text",
        replaced(b"SystemdCgroup = true", b'SystemdCgroup = "true"'),
        {"1.6": {VALUE}, "1.7": {VALUE}, "2.2": {VALUE}},
    ),
    (
        "the folder of registries is another",
        replaced(b"/etc/containerd/certs.d", b"/etc/containerd/cert.d"),
        {"1.6": {VALUE}, "1.7": {VALUE}, "2.2": {VALUE}},
    ),
]


@pytest.mark.parametrize("version", containerd.DAEMONS)
@pytest.mark.parametrize(("reason", "change", "shown"), CONTAINERD, ids=[one[0] for one in CONTAINERD])
def test_containerd_shows_a_defect(
    reason: str, change: Change, shown: dict[str, set[str]], version: str, engine: Callable[..., None]
) -> None:
    """The real daemon of each age judges: it is down, says so, or holds other values than it was told."""
    engine("containerd")
    defective = change(files_of_a_machine()["/etc/containerd/config.toml"])
    assert _shown_by_daemon(defective, version) >= shown[version], reason


@pytest.mark.parametrize("version", containerd.DAEMONS)
def test_a_sound_configuration_has_no_defect(version: str, engine: Callable[..., None]) -> None:
    """Without it the others would prove nothing."""
    engine("containerd")
    assert _shown_by_daemon(files_of_a_machine()["/etc/containerd/config.toml"], version) == set()


def _shown_by_daemon(config: bytes, version: str) -> set[str]:
    daemon = containerd.start(config, version=version)
    if not daemon.up:
        return {DOWN}
    shown = {SAID} if finding.errors(daemon.findings) else set()
    right = {"sandbox": "registry.example.com/pause:3.10", "systemd": True, "certs": "/etc/containerd/certs.d"}
    try:
        return shown | (set() if in_force(daemon.effective["plugins"]) == right else {VALUE})
    except KeyError:
        return shown | {VALUE}


@cache
def _user_data_for_windows(form: str) -> tuple[bytes, bytes]:
    answer = ours.render(windows(), "windows", form)
    return answer.user_data, script_of(answer).encode()


DISPATCH = [
    ("a byte order mark", lambda data: b"\xef\xbb\xbf" + data),
    ("a comment before the header", lambda data: b"# made for you\n" + data),
    ("no line break behind the header", replaced(b"#ps1_sysnative\n", b"#ps1_sysnative")),
]
POWERSHELL = [
    ("a parenthesis too few", replaced(b"if ($code -ne 0) {", b"if ($code -ne 0 {")),
    ("a quote in a value that is not doubled", replaced(b"'team'", b"'te'am'")),
    ("a brace too few", replaced(b"\n}\n", b"\n")),
]
ANSWER_FILE = [
    ("a value that is not escaped", replaced(b"</ComputerName>", b"<&</ComputerName>")),
    ("an element of another name", lambda data: data.replace(b"ComputerName>", b"HostName>")),
    ("a pass that is none", replaced(b'pass="specialize"', b'pass="special"')),
]


@pytest.mark.parametrize(("reason", "change"), DISPATCH)
def test_cloudbase_init_shows_a_defect(reason: str, change: Change, engine: Callable[..., None]) -> None:
    """Nothing would be done on the machine."""
    engine("windows")
    sound, _ = _user_data_for_windows("cloudbase-init")
    assert finding.errors(engine_of_windows.validate(sound)) == []
    assert finding.errors(engine_of_windows.validate(change(sound))), reason


@pytest.mark.parametrize(("reason", "change"), POWERSHELL)
def test_powershell_shows_a_defect(reason: str, change: Change, engine: Callable[..., None]) -> None:
    """The grammar does not hold."""
    engine("windows")
    _, sound = _user_data_for_windows("unattend")
    assert engine_of_windows.check_powershell(sound) == []
    assert engine_of_windows.check_powershell(change(sound)), reason


@pytest.mark.parametrize(("reason", "change"), ANSWER_FILE)
def test_the_schema_of_answer_files_shows_a_defect(reason: str, change: Change, engine: Callable[..., None]) -> None:
    """It is no XML, or none that Setup reads."""
    engine("windows")
    sound, _ = _user_data_for_windows("unattend")
    assert engine_of_windows.check_unattend(sound) == []
    assert engine_of_windows.check_unattend(change(sound)), reason


def _unit(data: bytes) -> list[Finding]:
    return checkers.systemd_unit("mine.service", data)


SMALL: list[tuple[str, Callable[[bytes], list[Finding]], str, Change]] = [
    ("a unit's key is misspelt", _unit, "/etc/systemd/system/mine.service", replaced(b"ExecStart=", b"ExecStrat=")),
    ("a unit's section is misspelt", _unit, "/etc/systemd/system/mine.service", replaced(b"[Service]", b"[Servce]")),
    ("a unit's type is none", _unit, "/etc/systemd/system/mine.service", replaced(b"=oneshot", b"=oneshoot")),
    ("a rule without hosts", checkers.sudoers, "/etc/sudoers.d/90-slipway-ann", replaced(b"ALL=", b"=")),
    ("a rule without its end", checkers.sudoers, "/etc/sudoers.d/90-slipway-ann", replaced(b"(ALL)", b"(ALL")),
    ("a rule of nobody", checkers.sudoers, "/etc/sudoers.d/90-slipway-ann", replaced(b"ann ", b"")),
    ("a quote that is open", checkers.dash, "/var/lib/slipway/run", replaced(b"'rm $r/pid'", b"'rm $r/pid")),
    ("a block that is open", checkers.dash, "/var/lib/slipway/run", replaced(b"\ndone\n", b"\n")),
    ("a word in the wrong place", checkers.dash, "/var/lib/slipway/run", replaced(b"\nfi\n", b"\nfi then\n")),
    ("a setting without value", checkers.sysctl, "/etc/sysctl.d/99-zz-slipway.conf", replaced(b"=", b" ")),
]


@pytest.mark.parametrize(("reason", "check", "path", "change"), SMALL, ids=[one[0] for one in SMALL])
def test_a_small_checker_shows_a_defect(
    reason: str, check: Callable[[bytes], list[Finding]], path: str, change: Change, engine: Callable[..., None]
) -> None:
    """The sound file is taken without a word."""
    engine("checkers")
    sound = files_of_a_machine()[path]
    assert check(sound) == []
    assert check(change(sound)), reason
