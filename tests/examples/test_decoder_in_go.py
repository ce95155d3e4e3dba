"""The decoder beside the provisioner in Go: what it does not read of Bottlerocket's settings, the suite still sees."""

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.json_format import Parse

from slipway.conformance.surplus import surplus
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import bundle_pb2 as bundlepb

_DECODER = Path(__file__).resolve().parents[2] / "examples" / "provisioner-go" / "decode.py"
_KUBERNETES = """
[settings.kubernetes]
api-server = "https://[fd00::1]:6443"
cluster-certificate = "WA=="
bootstrap-token = "abcdef.0123456789abcdef"
"""
_ALL = f"""
{_KUBERNETES}
authentication-mode = "tls"
cluster-name = "c"
cluster-domain = "c.local"
cluster-dns-ip = "10.96.0.10"
hostname-override = "n"
node-ip = "192.0.2.1"
provider-id = "example:///1"
cloud-provider = "external"
max-pods = 50
log-level = 4
pod-infra-container-image = "registry.example.com/pause:3"
node-labels = {{"example.com/a" = "b"}}
node-taints = {{"example.com/c" = ["d:NoExecute"]}}
[settings.kernel]
sysctl = {{"vm.swappiness" = "1"}}
modules = {{sctp = {{allowed = true, autoload = true}}}}
[settings.network]
hostname = "n"
https-proxy = "http://proxy.example.com:3128"
no-proxy = ["localhost"]
[settings.ntp]
time-servers = ["time.example.com"]
[settings.pki.own]
data = "WA=="
trusted = true
[[settings.container-registry.mirrors]]
registry = "*"
endpoint = ["https://mirror.example.com"]
[[settings.container-registry.credentials]]
registry = "registry.example.com"
username = "u"
password = "p"
[settings.host-containers.admin]
enabled = true
source = "i"
"""
_OTHER = [
    ("server-tls-bootstrap = true", "settings.kubernetes.server-tls-bootstrap", "a setting of a known section"),
    ('authentication-mode = "aws"', "settings.kubernetes.authentication-mode", "another value than is needed"),
    ('[settings.motd]\ntext = "x"', "settings.motd", "an unknown section"),
    ("[settings.kernel]\nlockdown = 'none'", "settings.kernel.lockdown", "one beside sysctls"),
    (
        "[settings.kernel.modules.sctp]\nallowed = false\nautoload = true",
        "settings.kernel.modules.sctp.allowed",
        "a module that is forbidden",
    ),
    (
        '[settings.pki.own]\ndata = "WA=="\ntrusted = false',
        "settings.pki.own.trusted",
        "an authority that is not trusted",
    ),
    (
        '[[settings.container-registry.mirrors]]\nregistry = "a"\nendpoint = []\nplain = true',
        "settings.container-registry.mirrors.plain",
        "one in a list",
    ),
    ("[metadata]\na = 1979-05-27", "metadata", "one beside all settings, of a type that JSON does not have"),
]


def _decoded(settings: str) -> statepb.MachineState:
    done = subprocess.run([sys.executable, str(_DECODER)], input=settings.encode(), check=True, capture_output=True)
    return Parse(done.stdout, statepb.MachineState())


@pytest.mark.parametrize(("setting", "name", "reason"), _OTHER, ids=[row[1] for row in _OTHER])
def test_a_setting_that_is_not_read_is_reported(setting: str, name: str, reason: str) -> None:
    """By its place; the suite then fails a provisioner that sets it unasked."""
    state = _decoded(f"{_KUBERNETES}{setting}\n")
    assert [other.name for other in state.others] == [name], reason
    assert any(name in text for text in surplus(bundlepb.BootstrapBundle(), state, windows=False))


def test_all_that_the_provisioner_sets_is_read() -> None:
    """Nothing but the document of the extension is a part for which a state has no place."""
    assert [other.name for other in _decoded(_ALL).others] == ["ext.bottlerocket.example.com/host-containers"]
