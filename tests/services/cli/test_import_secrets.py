"""What `slipway import` does with secrets: it leaves them out, says so, and nobody takes what it leaves for a value."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from slipway.cli.leaving_out import leave_out
from slipway.contract.yaml_encode import encode
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.services.cli.conftest import Slipway, with_worker_os

KUBEADM = """\
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfig
metadata: {name: k}
spec:
  initConfiguration: {bootstrapTokens: [{token: canary.canarycanarycana}]}
  files: [{path: /etc/agent, content: visible}]
  users: [{name: ops, passwd: $6$salt$canary, lockPassword: false}]
"""


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_secrets_are_left_out_unless_asked_for(slipway: Slipway, write: Callable[..., Path], output: str) -> None:
    """Passwords and tokens are printed only with --show-secrets; a warning names them, and contents stay."""
    file = write(KUBEADM)
    options = ("--no-substitution", "--set-missing", "-o", output)
    hidden, shown = slipway("import", file, *options), slipway("import", file, *options, "--show-secrets")
    assert hidden.exit_code == 0, hidden.stderr
    assert "canary" not in hidden.output
    assert "visible" in hidden.stdout
    assert "SlipwayConfig/k: spec.os.users[0].passwordHash.value" in hidden.stderr
    assert "--show-secrets" in hidden.stderr
    assert {"$6$salt$canary", "canary.canarycanarycana"} <= set(shown.stdout.replace('"', " ").split())
    assert "left out" not in shown.stderr


@pytest.mark.parametrize("output", ["yaml", "json"])
@pytest.mark.parametrize("command", ["validate", "render", "explain", "bundle", "size", "diff"])
def test_no_command_takes_what_is_left_for_a_value(
    slipway: Slipway, write: Callable[..., Path], command: str, output: str
) -> None:
    """Each refuses it with its place and what to do, and a difference to the original is no silence."""
    file = write(KUBEADM)
    printed = slipway("import", file, "--no-substitution", "--set-missing", "-o", output).stdout
    documents = json.loads(printed) if output == "json" else [printed]
    texts = [document if output == "yaml" else json.dumps(document) for document in documents]
    left = write("\n---\n".join(texts), "left.yaml")
    files = (file, left) if command == "diff" else (left,)
    result = slipway(command, *files, "--no-substitution", "--set-missing")
    assert result.exit_code == 1, result.output
    assert "nothing changes" not in result.stdout
    token = "spec.init.engineOptions.kubeadm.bootstrapTokens[0].token.value"
    for field in ("spec.os.users[0].passwordHash.value", token):
        (line,) = [one for one in result.stderr.splitlines() if f": {field}: " in one]
        assert line.startswith(f"{left}:")
        assert "--show-secrets" in line


def test_a_url_that_carries_credentials_is_left_out(slipway: Slipway, write: Callable[..., Path]) -> None:
    """A user in a proxy's URL and the signature of a download go; URLs without them stay."""
    file = write(
        with_worker_os(
            "    proxy: {httpProxy: 'http://plain.example.com:1', httpsProxy: 'http://u:canary@proxy.example.com:1'}\n"
            "    files:\n"
            "      - path: /opt/tool\n"
            "        remote:\n"
            "          urls: ['https://a.example.com/t?sig=canary', 'https://b.example.com/t']\n"
            f"          sha256: '{'0' * 64}'\n"
        )
    )
    shown, hidden = slipway("import", file, "--show-secrets"), slipway("import", file)
    assert "canary" in shown.stdout, shown.stderr
    assert "canary" not in hidden.output
    (worker,) = [
        document for document in yaml.safe_load_all(hidden.stdout) if "proxy" in document["spec"].get("os", {})
    ]
    assert worker["spec"]["os"]["proxy"] == {
        "httpProxy": "http://plain.example.com:1",
        "httpsProxy": {"hidden": "35 bytes"},
    }
    urls = worker["spec"]["os"]["files"][0]["remote"]["urls"]
    assert urls == [{"hidden": "34 bytes"}, "https://b.example.com/t"]
    lines = slipway("validate", "-", stdin=hidden.stdout).stderr
    assert "spec.os.proxy.httpsProxy: the value is missing" in lines
    assert "spec.os.files[0].remote.urls[0]: the value is missing" in lines


def test_what_can_not_be_read_as_a_url_is_left_out() -> None:
    """Whether a URL that nobody can take apart carries credentials is not guessed."""
    spec = specpb.MachineBootstrapSpec()
    spec.os.proxy.http_proxy = "http://[canary"
    tree = encode(spec)
    assert leave_out(tree, spec) == [("os", "proxy", "httpProxy")]
    assert tree == {"os": {"proxy": {"httpProxy": {"hidden": "14 bytes"}}}}


def test_machines_that_differ_in_a_secret_alone_keep_configs_of_their_own(
    slipway: Slipway, write: Callable[..., Path]
) -> None:
    """Leaving the secret out does not make two configs one."""
    native = "apiVersion: bootstrap.slipway.dev/v1alpha1\n"
    text = (
        native + "kind: SlipwayCluster\nmetadata: {name: d}\nspec:\n"
        "  cluster: {kubernetesVersion: v1.34.2, endpoint: {host: api.example.com}}\n"
        "  machines: [{name: a, role: Worker, config: a}, {name: b, role: Worker, config: b}]\n"
    )
    for name in "ab":
        user = f"{{name: ops, passwordHash: {{value: $6$salt${name}}}}}"
        text += f"---\n{native}kind: SlipwayConfig\nmetadata: {{name: {name}}}\nspec: {{os: {{users: [{user}]}}}}\n"
    documents = list(yaml.safe_load_all(slipway("import", write(text)).stdout))
    hidden = [each for each in documents if "users" in each["spec"].get("os", {})]
    assert len(hidden) == 2
