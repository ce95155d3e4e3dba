"""Discovery: by token with hashes, by file, and what the spec may change about it."""

from typing import Any

import pytest
import yaml

DISCOVERY = "intent { kubernetes { discovery { %s } } }"
REFERENCE = 'secret_ref { name: "mine" key: "token" }'
TOKEN = "abcdef.0123456789abcdef"


def discovery(machines: Any, *texts: str, **facts: Any) -> dict[str, Any]:
    """Give kubeadm's discovery of a worker."""
    found: dict[str, Any] = yaml.safe_load(machines.config("ROLE_WORKER", *texts, **facts))["discovery"]
    return found


def test_the_clusters_own_token_and_ca(machines: Any) -> None:
    """Without a word in the spec: the cluster's endpoint, token and the hash of its CA."""
    assert discovery(machines) == {
        "bootstrapToken": {
            "apiServerEndpoint": "api.example.com:6443",
            "caCertHashes": ["sha256:" + "ab" * 32],
            "token": TOKEN,
        }
    }


def test_everything_of_a_token_discovery_can_be_said(machines: Any) -> None:
    """Token, endpoint, hashes and the switch that skips them; the cluster's own are then not needed."""
    text = f"""token {{
      token {{ {REFERENCE} }} endpoint: "other:443" ca_hashes: "sha256:cd" unsafe_skip_ca_verification: true
    }}"""
    options = f'engine_options {{ kubeadm {{ tls_bootstrap_token {{ {REFERENCE} }} ca_path: "/ca.crt" }} }}'
    without = ("bootstrap_token", "ca_hashes")
    found = discovery(machines, f"{DISCOVERY % text} {options}", without=without)
    assert found == {
        "bootstrapToken": {
            "apiServerEndpoint": "other:443",
            "caCertHashes": ["sha256:cd"],
            "token": TOKEN,
            "unsafeSkipCAVerification": True,
        },
        "tlsBootstrapToken": TOKEN,
    }
    document = yaml.safe_load(machines.config("ROLE_WORKER", f"{DISCOVERY % text} {options}", without=without))
    assert document["caCertPath"] == "/ca.crt"


def test_no_hash_only_where_the_user_says_so(machines: Any) -> None:
    """An unverified CA is a wish of the user's, never a fallback."""
    text = DISCOVERY % "token { unsafe_skip_ca_verification: true }"
    found = discovery(machines, text, without=("ca_hashes",))["bootstrapToken"]
    assert found["unsafeSkipCAVerification"] is True
    assert "caCertHashes" not in found


@pytest.mark.parametrize(("texts", "mode"), [((), 0o600), (("execution { literal_commands: true }",), 0o640)])
def test_a_kubeconfig_is_a_file_of_the_machine(machines: Any, texts: tuple[str, ...], mode: int) -> None:
    """With its secrets as references and its origin; an imported one keeps today's mode."""
    text = (
        DISCOVERY
        % """file { path: "/etc/d.conf" kubeconfig {
      segments { text: "ca: " } segments { secret_ref { name: "x" key: "y" } encoding:
      SPLICE_ENCODING_BASE64 }
    } } origin { path: "spec.discovery" }"""
    )
    without = ("bootstrap_token", "ca_hashes")
    result = machines.plan("ROLE_WORKER", text, *texts, without=without)
    kubeconfig, config = result.files
    assert (kubeconfig.path, kubeconfig.mode, kubeconfig.origin.path) == ("/etc/d.conf", mode, "spec.discovery")
    assert [one.WhichOneof("value") for one in kubeconfig.content.segments] == ["data", "secret_ref"]
    assert yaml.safe_load(machines.text(config.content))["discovery"] == {"file": {"kubeConfigPath": "/etc/d.conf"}}


def test_a_kubeconfig_of_the_image_is_only_named(machines: Any) -> None:
    """Nothing is written over it; the first machine discovers nothing."""
    text = DISCOVERY % 'file { path: "/etc/d.conf" }'
    assert len(machines.plan("ROLE_WORKER", text).files) == 1
    named = DISCOVERY % 'file { path: "/etc/d.conf" kubeconfig { text: "x" } }'
    assert "/etc/d.conf" not in [file.path for file in machines.plan("ROLE_INIT", named).files]
