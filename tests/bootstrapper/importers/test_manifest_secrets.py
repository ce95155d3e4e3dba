"""The Secrets of a set of manifests: each machine gets those of its config, and what the config makes of them."""

import pytest

from slipway.bootstrapper.importers.manifests import read_manifests
from slipway.contract.source_position import SourceError

DECODED = """
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec: {controlPlaneEndpoint: {host: e, port: 6443}}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {k: "dHdpY2U=", k.base64: own}
"""
WORKERS = """---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: %(name)s}
spec:
  clusterName: c
  template: {spec: {version: v1.34.1, bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: %(config)s}}}}
"""
CONFIG = """---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: %s}
spec: {template: {spec: {files: [{path: /a, %s contentFrom: {secret: {name: s, key: %s}}}]}}}
"""


def test_what_configs_make_of_one_secret_is_kept_apart() -> None:
    """Each machine gets what its own config makes of the value, and a key of the Secret's own stays what it is."""
    configs = {
        "decoded": ("encoding: base64,", "k"),
        "filled": ("contentFormat: Template,", "k"),
        "own": ("", "k.base64"),
    }
    names = [*configs, "decoded"]
    text = DECODED + "".join(WORKERS % {"name": f"w{at}", "config": name} for at, name in enumerate(names))
    text += "".join(CONFIG % (name, *one) for name, one in configs.items())
    machines = read_manifests({"f.yaml": text}).machines
    assert [[one.value for one in machine.secrets.secrets] for machine in machines] == [
        [b"twice"],
        [b"dHdpY2U=\n"],
        [b"own\n"],
        [b"twice"],
    ]
    keys = [machine.spec.os.files[0].content.secret_ref.key for machine in machines]
    assert keys == ["k.base64-", "k.template.lines", "k.base64.lines", "k.base64-"]


BROKEN = """---
apiVersion: v1
kind: Secret
metadata: {name: broken}
data: {k: '*'}
"""


def test_a_value_that_no_machine_needs_refuses_nothing() -> None:
    """Such as the infrastructure provider's own credentials, of which a template has a placeholder."""
    text = DECODED + WORKERS % {"name": "w", "config": "c"} + CONFIG % ("c", "", "k") + BROKEN
    assert len(read_manifests({"f.yaml": text}).machines) == 1
    needed = text.replace("secret: {name: s,", "secret: {name: broken,")
    with pytest.raises(SourceError, match=r"data\.k: must be base64"):
        read_manifests({"f.yaml": needed})
