"""What the tests of the kubeadm engine share: a maker of bundles that reads results as the machine would."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from google.protobuf import text_format

from slipway.bootstrapper.engines.kubeadm import KubeadmEngine
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.testing import FORMAT
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tools.oracles.pytest_plugin import engine

__all__ = ["engine"]

TOKEN = "abcdef.0123456789abcdef"
CA_HASH = "sha256:" + "ab" * 32

MACHINE = """
machine { name: "m" role: %(role)s target { os_family: %(family)s } }
provenance { format: "%(format)s" }
intent {
  role: %(role)s
  kubernetes_version: "%(version)s"
  cluster {
    name: "prod"
    endpoint { host: "api.example.com" port: 6443 }
    kubernetes_version: "%(version)s"
    pod_cidrs: "192.168.0.0/16"
    service_cidrs: "10.96.0.0/12"
    service_domain: "cluster.local"
  }
  credentials {
    cluster_ca { certificate { name: "slipway.dev/cluster-ca" key: "tls.crt" } }
    bootstrap_token { name: "slipway.dev/bootstrap-token" key: "token" }
    ca_hashes: "%(hash)s"
  }
}
"""
CONTROL_PLANE_CREDENTIALS = """
intent { credentials {
  cluster_ca { private_key { name: "slipway.dev/cluster-ca" key: "tls.key" } }
  etcd_ca {
    certificate { name: "slipway.dev/etcd-ca" key: "tls.crt" } private_key { name: "slipway.dev/etcd-ca"
    key: "tls.key" }
  }
  front_proxy_ca {
    certificate { name: "slipway.dev/front-proxy-ca" key: "tls.crt" }
    private_key { name: "slipway.dev/front-proxy-ca" key: "tls.key" }
  }
  service_account {
    certificate { name: "slipway.dev/service-account" key: "tls.crt" }
    private_key { name: "slipway.dev/service-account" key: "tls.key" }
  }
} }
"""
PROVIDER_LAYOUT = "execution { literal_commands: true }"
IGNITION = provisionerpb.FormatInfo(
    features=[provisionerpb.FeatureSupport(id="os.files", excluded_path_prefixes=["/run/"])]
)


@dataclass(frozen=True)
class Machines:
    """Makes bundles, has the engine plan them, and reads what it made as the machine would."""

    def bundle(
        self,
        role: str,
        *texts: str,
        version: str = "v1.34.2",
        windows: bool = False,
        format_id: str = "cloud-config",
        without: tuple[str, ...] = (),
    ) -> bundlepb.BootstrapBundle:
        """Make a bundle; `texts` are merged into it, `without` are credentials that it lacks."""
        facts = {
            "role": role,
            "version": version,
            "family": "OS_FAMILY_WINDOWS" if windows else "OS_FAMILY_LINUX",
            "format": format_id,
            "hash": CA_HASH,
        }
        bundle = text_format.Parse(MACHINE % facts, bundlepb.BootstrapBundle())
        if role != "ROLE_WORKER":
            text_format.Merge(CONTROL_PLANE_CREDENTIALS, bundle)
        for name in without:
            bundle.intent.credentials.ClearField(name)  # type: ignore[arg-type]
        for text in texts:
            bundle.MergeFrom(self.part(text))
        return bundle

    def part(self, text: str) -> bundlepb.BootstrapBundle:
        """Read a part of a bundle."""
        return text_format.Parse(text, bundlepb.BootstrapBundle())

    def plan(self, role: str, *texts: str, **facts: object) -> EngineResult:
        """Have the engine plan a machine."""
        return self.plan_of(self.bundle(role, *texts, **facts))  # type: ignore[arg-type]

    def plan_of(self, bundle: bundlepb.BootstrapBundle) -> EngineResult:
        """Have the engine plan a bundle."""
        served = IGNITION if bundle.provenance.format.startswith("ignition") else FORMAT
        return KubeadmEngine().build_plan(bundle, served)

    def config(self, role: str, *texts: str, **facts: object) -> str:
        """Give kubeadm's configuration of a machine as it will stand on the machine."""
        result = self.plan(role, *texts, **facts)
        assert result.refusals == ()
        return self.text(result.files[-1].content)

    def text(self, content: contentpb.Content) -> str:
        """Give a content with its secrets and facts filled in."""
        return "".join(self._segment(segment) for segment in content.segments)

    def _segment(self, segment: contentpb.Segment) -> str:
        kind = segment.WhichOneof("value")
        if kind == "data":
            return segment.data.decode()
        if kind == "extension":
            return segment.extension.text
        value = f"fact-{segment.fact.kind}"
        if kind == "secret_ref":
            value = TOKEN if segment.secret_ref.key == "token" else f"<{segment.secret_ref.name}>"
        return json.dumps(value) if segment.encoding == contentpb.SPLICE_ENCODING_JSON_STRING else value


@pytest.fixture(scope="session")
def machines() -> Machines:
    """Give the maker of machines."""
    return Machines()


@pytest.fixture(scope="session")
def paths() -> Callable[[EngineResult], dict[str, int]]:
    """Give a function: the files of a result, path and mode."""
    return lambda result: {file.path: file.mode for file in result.files}
