"""The k0s engine itself: a pure function from a neutral bundle to files and steps."""

from collections.abc import Iterator, Sequence

from slipway.bootstrapper.engines.component_files import ComponentFiles, component_files
from slipway.bootstrapper.engines.documents.segmented_yaml import segmented_yaml
from slipway.bootstrapper.engines.engine import Engine, supports
from slipway.bootstrapper.engines.k0s.config import cluster_config
from slipway.bootstrapper.engines.k0s.features import FEATURES, REMEDIES
from slipway.bootstrapper.engines.k0s.join import join_file
from slipway.bootstrapper.engines.k0s.limits import NEWEST, OLDEST, UNSERVED, check_limits
from slipway.bootstrapper.engines.k0s.request import NAME, K0sRequest, root_file
from slipway.bootstrapper.engines.k0s.secrets import CONTROL_PLANE_TOKEN, JOIN_TOKENS, SECRETS
from slipway.bootstrapper.engines.k0s.steps import CONTROL_PLANE_TOKEN as CONTROL_PLANE_TOKEN_FILE
from slipway.bootstrapper.engines.k0s.steps import WORKER_TOKEN, steps
from slipway.bootstrapper.engines.k0s.unit import CONFIG, unit_file
from slipway.bootstrapper.engines.remarks import Remarks
from slipway.bootstrapper.engines.request import GROUP_READABLE, PRIVATE, VERSION_PATH, supported_version
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.texts import document_content
from slipway.contract.errors import CredentialsMissing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1.content_pb2 import SPLICE_ENCODING_RAW, Content, Segment

VERSION = "0.1.0"
_PKI = "/var/lib/k0s/pki"
_COMPONENT_FILES = "/etc/k0s/slipway"


class K0sEngine(Engine):
    """The engine as the bootstrapper knows it."""

    name = NAME
    version = VERSION
    oldest = OLDEST
    newest = NEWEST
    os_families = (clusterpb.OS_FAMILY_LINUX,)
    features = supports(FEATURES)
    remedies = REMEDIES
    join_tokens = JOIN_TOKENS
    unserved = UNSERVED
    plans_by_class = True

    def secrets(self, kubernetes: kubernetespb.Kubernetes) -> Sequence[secretpb.SecretDeclaration]:
        """Declare the cluster's authority and the two tokens by which machines join."""
        del kubernetes
        return SECRETS

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Turn the intent of a neutral bundle into files and steps. The bundle is not changed.

        Raises:
            KubernetesVersionUnsupported: k0s is not supported at the version, or it does not fit its cluster.
            CredentialsMissing: the intent lacks what the machine needs.
        """
        del served
        request = K0sRequest(
            intent=bundle.intent,
            version=supported_version(bundle.intent.kubernetes_version, VERSION_PATH, oldest=OLDEST),
            remarks=Remarks(),
            options=bundle.engine_options.k0s,
        )
        check_limits(request, bundle)
        files: tuple[ospb.File, ...] = ()
        if not request.remarks.refusals:
            files = tuple(_files(request))
        remarks = request.remarks
        if remarks.refusals:
            return EngineResult(engine=NAME, diagnostics=tuple(remarks.diagnostics), refusals=tuple(remarks.refusals))
        return EngineResult(
            engine=NAME,
            files=files,
            last_written=frozenset(file.path for file in files),
            steps=tuple(steps(request)),
            diagnostics=tuple(remarks.diagnostics),
        )


def _files(request: K0sRequest) -> Iterator[ospb.File]:
    credentials = request.intent.credentials
    if request.creates_cluster:
        yield _secret_file(credentials.cluster_ca.certificate, f"{_PKI}/ca.crt", GROUP_READABLE)
        yield _secret_file(credentials.cluster_ca.private_key, f"{_PKI}/ca.key", PRIVATE)
        yield _secret_file(credentials.bootstrap_token, WORKER_TOKEN, PRIVATE)
        tokens = [entry for entry in credentials.declared if entry.name == CONTROL_PLANE_TOKEN]
        yield _secret_file(tokens[0] if tokens else secretpb.SecretReference(), CONTROL_PLANE_TOKEN_FILE, PRIVATE)
    else:
        yield join_file(request)
    if request.is_control_plane:
        of_components = component_files(request, engine=NAME, folder=_COMPONENT_FILES)
        yield from _etcd_files(request)
        yield from of_components.files
        yield _config_file(request, of_components)
    yield unit_file(request)


def _config_file(request: K0sRequest, of_components: ComponentFiles) -> ospb.File:
    pieces = segmented_yaml([cluster_config(request, of_components)], leading_separator=False)
    return root_file(CONFIG, document_content(pieces), mode=PRIVATE)


def _etcd_files(request: K0sRequest) -> Iterator[ospb.File]:
    """Give the files of an etcd elsewhere, as far as its secrets are at hand: the image may have them."""
    if not request.kubernetes.etcd.HasField("external"):
        return
    external, credentials = request.kubernetes.etcd.external, request.intent.credentials
    for pair, name, path, mode in (
        (credentials.etcd_ca, "certificate", external.ca_file, GROUP_READABLE),
        (credentials.etcd_client, "certificate", external.cert_file, GROUP_READABLE),
        (credentials.etcd_client, "private_key", external.key_file, PRIVATE),
    ):
        if pair.HasField(name):  # type: ignore[arg-type]  # the fields of a message of that kind are fixed
            yield _secret_file(getattr(pair, name), path, mode)


def _secret_file(reference: secretpb.SecretReference, path: str, mode: int) -> ospb.File:
    """Give a file that holds one secret.

    Raises:
        CredentialsMissing: it is missing.
    """
    if not reference.name:
        raise CredentialsMissing(
            "the first machine of a cluster needs the key of its authority and two tokens: provide the cluster's own",
            metadata={"credentials": ",".join(declared.name for declared in SECRETS)},
        )
    segment = Segment(secret_ref=reference, encoding=SPLICE_ENCODING_RAW)
    return root_file(path, Content(segments=[segment]), mode=mode)
