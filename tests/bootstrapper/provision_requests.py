"""Requests to ProvisioningService, and the service that answers them."""

import base64
import copy
import json
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.policy import Policy
from slipway.bootstrapper.provisioning_service import provision
from slipway.contract.errors import SlipwayError
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb

TOKEN = b"canary-join-token"

SPEC: dict[str, Any] = {
    "provisioner": {"name": "cloud-init"},
    "target": {
        "osFamily": "OS_FAMILY_LINUX",
        "distribution": "debian",
        "osVersion": "12",
        "infrastructure": "openstack",
    },
    "os": {
        "files": [
            {
                "path": "/etc/rancher/k3s/config.yaml",
                "mode": 0o600,
                "content": {
                    "segments": [
                        {"text": "token: "},
                        {"secretRef": {"name": "join", "key": "token"}},
                        {"text": "\n"},
                    ]
                },
            }
        ],
        "sysctls": [{"name": "net.ipv4.ip_forward", "value": "1"}],
    },
    "commands": {"pre": [{"argv": ["echo", "before"]}], "post": [{"argv": ["echo", "after"]}]},
    "plan": {
        "steps": [{"id": "install", "phase": "PHASE_BOOTSTRAP", "command": {"script": {"text": "echo install-it\n"}}}]
    },
}


def request(spec: dict[str, Any], **more: Any) -> provisioningpb.ProvisionRequest:
    """Ask for a machine, as JSON from grpcurl would; with the token where the spec refers to it."""
    token = {"name": "join", "key": "token", "value": base64.b64encode(TOKEN).decode()}
    secrets = [token] if '"secretRef": {"name": "join"' in json.dumps(spec) else []
    asked = {"spec": spec, "machineName": "pool-a-1", "secrets": {"secrets": secrets}, **more}
    return ParseDict(asked, provisioningpb.ProvisionRequest())


def changed(**parts: Any) -> dict[str, Any]:
    """Give the spec with other parts; None takes one away."""
    spec = copy.deepcopy(SPEC) | parts
    return {name: value for name, value in spec.items() if value is not None}


def service(policy: Policy | None = None) -> Bootstrapper:
    """A bootstrapper whose store must never be asked."""

    class Untouched:
        def ensure(self, *_: object) -> Any:
            raise AssertionError("the store of credentials was asked")

    return embedded_bootstrapper(store=Untouched(), policy=policy)


async def refusal(asked: provisioningpb.ProvisionRequest, policy: Policy | None = None) -> SlipwayError:
    """Give why a request is refused."""
    with pytest.raises(SlipwayError) as caught:
        await provision(service(policy), asked)
    return caught.value
