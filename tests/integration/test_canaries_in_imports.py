"""No value of a foreign document gets out by an import's errors and remarks."""

from collections.abc import Iterable
from typing import Any

import yaml
from prometheus_client import CollectorRegistry

from slipway.contract.errors import SlipwayError
from slipway.rpc.client import invoke
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.integration.canaries import found
from tests.integration.watched import embedded, fitting, served, shown, unfitting

KUBEADM_CONFIG = """
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfig
metadata: {name: pool}
spec:
  format: cloud-config
  files:
  - {path: /etc/a, owner: "root:root", permissions: "0600", content: text, encoding: ""}
  - {path: /etc/b, contentFrom: {secret: {name: s, key: k}}}
  users:
  - {name: ann, gecos: g, groups: sudo, passwd: hash, sudo: ALL, shell: /bin/sh, sshAuthorizedKeys: [ssh-rsa AAAA]}
  ntp: {servers: [ntp.example.com], enabled: true}
  mounts: [[LABEL=data, /data]]
  diskSetup: {filesystems: [{device: /dev/b, filesystem: ext4, label: data}]}
  preKubeadmCommands: [echo pre]
  postKubeadmCommands: [echo post]
  joinConfiguration:
    nodeRegistration:
      name: '{{ ds.meta_data.local_hostname }}'
      criSocket: /run/containerd/containerd.sock
      kubeletExtraArgs: {node-labels: a=b}
      taints: [{key: a, value: b, effect: NoSchedule}]
    discovery:
      bootstrapToken: {token: abcdef.0123456789abcdef, apiServerEndpoint: "a:6443", caCertHashes: ["sha256:aa"]}
      tlsBootstrapToken: abcdef.0123456789abcdef
"""


async def test_an_import_tells_no_value() -> None:
    """Whatever stands in a foreign document, errors and remarks name its place and not its text."""
    texts = _scalars(yaml.safe_load(KUBEADM_CONFIG))
    assert len(texts) > 30
    outcomes = set()
    async with served(embedded(), CollectorRegistry()) as stub:
        for number, way in enumerate(texts):
            for make in (fitting, unfitting):
                canary = make(number)
                document = yaml.safe_load(KUBEADM_CONFIG)
                _put(document, way, canary)
                asked = bootstrappb.ImportKubeadmConfigRequest(document=yaml.safe_dump(document).encode())
                try:
                    answer = await invoke(stub.ImportKubeadmConfig, asked, timeout=20)
                    told, outcome = str(answer.diagnostics).encode(), "OK"
                except SlipwayError as error:
                    told, outcome = shown(error), error.reason
                outcomes.add(outcome)
                assert not found(canary, told), f"{way}: {outcome}"
    assert {"OK", "IMPORT_INVALID"} <= outcomes


def _scalars(tree: Any, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    entries: Iterable[tuple[str | int, Any]] = ()
    if isinstance(tree, dict):
        entries = tree.items()
    elif isinstance(tree, list):
        entries = enumerate(tree)
    elif isinstance(tree, str) and above[0] not in {"kind", "apiVersion", "metadata"}:
        return [above]
    return [way for key, value in entries for way in _scalars(value, (*above, key))]


def _put(tree: Any, way: tuple[str | int, ...], value: str) -> None:
    for key in way[:-1]:
        tree = tree[key]
    tree[way[-1]] = value
