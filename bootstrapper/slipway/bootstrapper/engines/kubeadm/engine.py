"""The kubeadm engine itself: a pure function from a neutral bundle to files and steps."""

from collections.abc import Mapping, Sequence

from slipway.bootstrapper.engines.kubeadm.cluster import cluster_configuration
from slipway.bootstrapper.engines.kubeadm.component_files import ComponentFiles, component_files
from slipway.bootstrapper.engines.kubeadm.discovery import discovery_files
from slipway.bootstrapper.engines.kubeadm.documents.document import Document
from slipway.bootstrapper.engines.kubeadm.documents.segmented_yaml import segmented_yaml
from slipway.bootstrapper.engines.kubeadm.documents.spliced import UnquotableTextError
from slipway.bootstrapper.engines.kubeadm.downgrade import cluster_to_v1beta3, init_to_v1beta3, join_to_v1beta3
from slipway.bootstrapper.engines.kubeadm.features import FEATURES, REMEDIES
from slipway.bootstrapper.engines.kubeadm.kubernetes_version import (
    KubeadmApi,
    KubernetesVersion,
    KubernetesVersionError,
    kubeadm_api,
    parse_kubernetes_version,
)
from slipway.bootstrapper.engines.kubeadm.layout import PRIVATE, Layout, own_layout, provider_layout
from slipway.bootstrapper.engines.kubeadm.limits import check_limits
from slipway.bootstrapper.engines.kubeadm.machine import init_configuration, join_configuration
from slipway.bootstrapper.engines.kubeadm.patches import patch_files, patch_folder
from slipway.bootstrapper.engines.kubeadm.pki import pki_files
from slipway.bootstrapper.engines.kubeadm.remarks import Remarks
from slipway.bootstrapper.engines.kubeadm.request import NAME, EngineRequest, root_file
from slipway.bootstrapper.engines.kubeadm.steps import steps
from slipway.bootstrapper.engines.kubeadm.texts import document_content
from slipway.bootstrapper.engines.result import EngineResult
from slipway.contract.errors import KubernetesVersionUnsupported, UnsupportedFeature, Violation
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

VERSION = "0.1.0"


class KubeadmEngine:
    """The engine as the bootstrapper knows it."""

    def __init__(self) -> None:
        """Make the engine; it has no state."""
        self.name = NAME
        self.version = VERSION
        self.features: Sequence[provisionerpb.FeatureSupport] = tuple(
            provisionerpb.FeatureSupport(id=feature) for feature in sorted(FEATURES)
        )
        self.remedies: Mapping[str, str] = REMEDIES

    def build_plan(self, bundle: bundlepb.BootstrapBundle) -> EngineResult:
        """Turn the intent of a neutral bundle into files and steps. The bundle is not changed.

        It reads the intent, the engine's options, the resolved target, the execution policy and the format in
        the provenance. Of secrets it reads names, never a value.

        Raises:
            KubernetesVersionUnsupported: no kubeadm API belongs to the version, or it does not fit its
            cluster. CredentialsMissing: the intent lacks what a joining machine needs. BundleInvalid: a
            part of the intent is malformed. UnsupportedFeature: template text cannot stand where it was
            written.
        """
        request = _request(bundle)
        check_limits(request, bundle)
        if request.remarks.refusals:
            return _refused(request)
        of_components = component_files(request) if request.is_control_plane else ComponentFiles()
        config = _config_file(request, of_components)
        if request.remarks.refusals:
            return _refused(request)
        discovery = () if request.creates_cluster else discovery_files(request)
        return EngineResult(
            engine=NAME,
            files=(
                *pki_files(request),
                *of_components.files,
                *_static_pods(request),
                *patch_files(request),
                *discovery,
                config,
            ),
            last_written=frozenset(file.path for file in (*discovery, config)),
            steps=tuple(steps(request, provider=_uses_provider_layout(bundle))),
            diagnostics=tuple(request.remarks.diagnostics),
        )


def _request(bundle: bundlepb.BootstrapBundle) -> EngineRequest:
    intent = bundle.intent
    # Every imported spec asks for the provider's layout, and keeps the manners that it was written for.
    imported = _uses_provider_layout(bundle)
    version = _version(intent.kubernetes_version, "intent.kubernetes_version")
    options = bundle.engine_options.kubeadm
    kubeadm_version = version
    if options.HasField("version"):
        kubeadm_version = _version(options.version, "engine_options.kubeadm.version")
    return EngineRequest(
        intent=intent,
        options=options,
        version=version,
        kubeadm_version=kubeadm_version,
        api=kubeadm_api(kubeadm_version),
        layout=_layout(bundle),
        imported=imported,
        remarks=Remarks(imported=imported),
    )


def _version(text: str, path: str) -> KubernetesVersion:
    """Give a version that a kubeadm API belongs to.

    Raises:
        KubernetesVersionUnsupported: it is none, or there is none for it.
    """
    try:
        version = parse_kubernetes_version(text)
        kubeadm_api(version)
    except KubernetesVersionError as error:
        raise KubernetesVersionUnsupported(
            f"{path}: {error}",
            violations=[Violation(path, f"{error}", remedy="choose v1.22.0 or newer")],
            metadata={"lowest": "v1.22.0"},
        ) from None
    return version


def _layout(bundle: bundlepb.BootstrapBundle) -> Layout:
    windows = bundle.machine.target.os_family == clusterpb.OS_FAMILY_WINDOWS
    if not _uses_provider_layout(bundle):
        return own_layout(windows=windows)
    is_ignition = bundle.provenance.format.partition("/")[0] == "ignition"
    return provider_layout(windows=windows, ignition=is_ignition, role=bundle.intent.role)


def _uses_provider_layout(bundle: bundlepb.BootstrapBundle) -> bool:
    return bundle.execution.layout == planpb.LAYOUT_KUBEADM_PROVIDER


def _refused(request: EngineRequest) -> EngineResult:
    remarks = request.remarks
    return EngineResult(engine=NAME, diagnostics=tuple(remarks.diagnostics), refusals=tuple(remarks.refusals))


def _config_file(request: EngineRequest, of_components: ComponentFiles) -> ospb.File:
    try:
        pieces = segmented_yaml(_documents(request, of_components), leading_separator=request.layout.leading_separator)
    except UnquotableTextError as error:
        raise UnsupportedFeature(
            f"template text cannot be written into kubeadm's configuration: {error}",
            violations=[
                Violation("intent.kubernetes.node", f"{error}", remedy="write the value itself, or a machine fact")
            ],
        ) from None
    return root_file(request.layout.config, document_content(pieces), mode=request.layout.config_mode)


def _documents(request: EngineRequest, of_components: ComponentFiles) -> list[Document]:
    patches = patch_folder(request)
    is_old = request.api is KubeadmApi.V1BETA3
    if not request.creates_cluster:
        join = join_configuration(request, patches=patches)
        return [join_to_v1beta3(join) if is_old else join]
    cluster = cluster_configuration(request, of_components)
    init = init_configuration(request, patches=patches)
    return [cluster_to_v1beta3(cluster, init.timeouts), init_to_v1beta3(init)] if is_old else [cluster, init]


def _static_pods(request: EngineRequest) -> list[ospb.File]:
    return [
        root_file(
            request.layout.below(request.layout.manifests, f"{pod.name}.yaml"),
            pod.manifest,
            mode=PRIVATE,
            source=pod.origin,
        )
        for pod in request.kubernetes.static_pods
    ]
