"""The API of a cluster of machines, for parts of the controller: each call is made on its control plane, by curl."""

import json
from typing import Any
from urllib.parse import quote

from slipway.controller.cluster_object import ClusterObject
from slipway.kubernetes_api.resources import CERTIFICATE_REQUESTS, Json, Resource
from tools.node import addresses
from tools.node.machine import Machine

_PAIR = "/run/administrator.pem"
_EXTRACT = f"""umask 077
for part in certificate key; do
  kubectl config view --raw -o "jsonpath={{.users[0].user.client-$part-data}}" | base64 -d
done >{_PAIR}"""
_CURL = (
    *("curl", "--silent", "--show-error", "--fail-with-body", "--max-time", "30"),
    *("--cacert", "/etc/kubernetes/pki/ca.crt", "--cert", _PAIR),
)


class WorkloadCluster:
    """What the controller has of a cluster, as far as it approves certificates."""

    def __init__(self, control_plane: Machine) -> None:
        """Ask a control plane."""
        self._machine = control_plane
        self._server = f"https://{addresses.machine(control_plane.number)}:6443"
        done = control_plane.run(["sh", "-ec", _EXTRACT])
        assert done.status == 0, done.errors
        status = {"initialization": {"controlPlaneInitialized": True}}
        self.object = ClusterObject({"metadata": {"name": "c", "namespace": "default"}, "spec": {}, "status": status})

    async def connected(self, _namespace: str, _cluster: str) -> "WorkloadCluster":
        """Give the connection."""
        return self

    async def page(
        self, resource: Resource, namespace: str = "", *, size: int, token: str = "", fields: str = ""
    ) -> tuple[list[Json], str]:
        """Read a page."""
        query = f"limit={size}&continue={quote(token)}&fieldSelector={quote(fields)}"
        answer = self._call(f"{resource.path(namespace)}?{query}")
        return answer["items"], answer["metadata"].get("continue", "")

    async def merge(self, resource: Resource, namespace: str, name: str, body: Json, *, subresource: str = "") -> Json:
        """Patch a subresource."""
        headers = ("--request", "PATCH", "--header", "content-type: application/merge-patch+json")
        answer: Json = self._call(resource.path(namespace, name, subresource), *headers, "--data", json.dumps(body))
        return answer

    def approved(self) -> set[str]:
        """Give who has a serving certificate that was approved and signed."""
        answer = self._call(CERTIFICATE_REQUESTS.path())
        return {
            item["spec"]["username"]
            for item in answer["items"]
            if item["spec"]["signerName"].endswith("kubelet-serving") and item["status"].get("certificate")
        }

    def _call(self, path: str, *arguments: str) -> Any:
        done = self._machine.run([*_CURL, *arguments, f"{self._server}{path}"])
        assert done.status == 0, done.output + done.errors
        return json.loads(done.output)


def machine_objects(machines: dict[str, Machine]) -> list[Json]:
    """Give the Machines as a management cluster has them."""
    return [
        {
            "metadata": {"name": name, "namespace": "default"},
            "status": {
                "nodeRef": {"name": name},
                "addresses": [{"type": "InternalIP", "address": addresses.machine(machine.number)}],
            },
        }
        for name, machine in machines.items()
    ]
