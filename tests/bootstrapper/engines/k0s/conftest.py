"""What the tests of the k0s engine share: a maker of plans that reads them as the machine would."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.testing import FORMAT
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb

SECRETS = {
    "ROLE_INIT": ("certificate", "private_key", "bootstrap_token", "declared"),
    "ROLE_CONTROL_PLANE": ("certificate", "declared"),
    "ROLE_WORKER": ("certificate", "bootstrap_token"),
}


def bundle(role: str, spec: dict[str, Any] | None = None, **cluster: Any) -> bundlepb.BootstrapBundle:
    """Make a neutral bundle of a spec as people write it; secrets are references."""
    documents = [
        {
            "apiVersion": "bootstrap.slipway.dev/v1alpha1",
            "kind": "SlipwayCluster",
            "metadata": {"name": "prod"},
            "spec": {
                "cluster": {
                    "kubernetesVersion": "v1.34.2",
                    "endpoint": {"host": "api.example.com", "port": 6443},
                    "podCidrs": ["10.244.0.0/16"],
                    "serviceCidrs": ["10.96.0.0/12"],
                    **cluster,
                },
                "machines": [{"name": "m", "role": "Init", "config": "c"}],
            },
        },
        {
            "apiVersion": "bootstrap.slipway.dev/v1alpha1",
            "kind": "SlipwayConfig",
            "metadata": {"name": "c"},
            "spec": spec or {},
        },
    ]
    (question,) = read_document_set(
        {"k0s.yaml": yaml.safe_dump_all(documents)}, variables={}, substitute=False
    ).questions
    subject = question.subject
    made = bundlepb.BootstrapBundle(os=subject.spec.os, engine_options=subject.spec.engine_options)
    made.execution.CopyFrom(subject.spec.execution)
    intent = made.intent
    intent.role = role  # type: ignore[assignment]
    intent.kubernetes_version = "v1.34.2"
    intent.cluster.CopyFrom(subject.cluster)
    intent.kubernetes.CopyFrom(subject.spec.kubernetes)
    credentials, held = intent.credentials, SECRETS[role]
    for name in ("certificate", "private_key"):
        if name in held:
            reference = getattr(credentials.cluster_ca, name)
            reference.name, reference.key = "slipway.dev/cluster-ca", "tls.crt" if name == "certificate" else "tls.key"
    if "bootstrap_token" in held:
        credentials.bootstrap_token.name, credentials.bootstrap_token.key = "slipway.dev/bootstrap-token", "token"
    if "declared" in held:
        credentials.declared.add(name="slipway.dev/control-plane-token", key="token")
    return made


@dataclass(frozen=True)
class Plan:
    """A plan, read as the machine would."""

    result: EngineResult
    files: dict[str, ospb.File] = field(default_factory=dict)

    def text(self, path: str) -> str:
        """Give a file; secrets and facts stand in it by name."""
        return "".join(_segment(entry) for entry in self.files[path].content.segments)

    def document(self, path: str) -> Any:
        """Give a file that is YAML."""
        return yaml.safe_load(self.text(path))

    @property
    def command(self) -> str:
        """The command line of the unit."""
        (unit,) = (path for path in self.files if path.endswith(".service"))
        return next(line for line in self.text(unit).splitlines() if line.startswith("ExecStart="))

    @property
    def refused(self) -> list[str]:
        """Paths of what is refused."""
        return [entry.path for entry in self.result.refusals]


def _segment(segment: contentpb.Segment) -> str:
    kind = segment.WhichOneof("value")
    if kind == "data":
        return segment.data.decode()
    text = segment.secret_ref.name if kind == "secret_ref" else f"fact-{segment.fact.kind}"
    return f'"{text}"' if segment.encoding == contentpb.SPLICE_ENCODING_JSON_STRING else text


@pytest.fixture(scope="session")
def plan() -> Callable[..., Plan]:
    """Give a function: the plan of a machine, by its role and its spec."""

    def made(role: str, spec: dict[str, Any] | None = None, **cluster: Any) -> Plan:
        result = K0sEngine().build_plan(bundle(role, spec, **cluster), FORMAT)
        return Plan(result, {file.path: file for file in result.files})

    return made
