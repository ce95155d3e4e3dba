"""The kubeadm engine itself: a pure function from a neutral bundle to files and steps."""

from collections.abc import Mapping, Sequence

from slipway.bootstrapper.credentials.cluster_secrets import cluster_declarations
from slipway.bootstrapper.engines.component_files import ComponentFiles, component_files
from slipway.bootstrapper.engines.documents.document import Tree
from slipway.bootstrapper.engines.documents.segmented_yaml import segmented_yaml
from slipway.bootstrapper.engines.documents.spliced import UnquotableTextError
from slipway.bootstrapper.engines.engine import Engine, supports
from slipway.bootstrapper.engines.kubeadm.cluster import cluster_configuration
from slipway.bootstrapper.engines.kubeadm.discovery import discovery_files
from slipway.bootstrapper.engines.kubeadm.downgrade import cluster_to_v1beta3, init_to_v1beta3, join_to_v1beta3
from slipway.bootstrapper.engines.kubeadm.features import FEATURES, REMEDIES
from slipway.bootstrapper.engines.kubeadm.join_tokens import JOIN_TOKENS
from slipway.bootstrapper.engines.kubeadm.kubeadm_api import OLDEST, KubeadmApi, kubeadm_api
from slipway.bootstrapper.engines.kubeadm.layout import RUN_PROBE, Layout, own_layout, provider_layout
from slipway.bootstrapper.engines.kubeadm.limits import NEWEST, check_limits
from slipway.bootstrapper.engines.kubeadm.machine import init_configuration, join_configuration
from slipway.bootstrapper.engines.kubeadm.machine_values import set_machine_values
from slipway.bootstrapper.engines.kubeadm.patches import argument_patch, patch_files, patch_folder
from slipway.bootstrapper.engines.kubeadm.pki import pki_files
from slipway.bootstrapper.engines.kubeadm.remarks import KubeadmRemarks
from slipway.bootstrapper.engines.kubeadm.request import NAME, EngineRequest, root_file
from slipway.bootstrapper.engines.kubeadm.steps import steps
from slipway.bootstrapper.engines.request import PRIVATE, VERSION_PATH, supported_version
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.texts import document_content
from slipway.contract.content import literal
from slipway.contract.errors import UnsupportedFeature, Violation
from slipway.contract.features import unsupported
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

VERSION = "0.1.0"
UNIT_NAME = "kubeadm.service"
"""Name of the service in the kubeadm provider's output for Ignition, by which people write drop-ins for it."""


class KubeadmEngine(Engine):
    """The engine as the bootstrapper knows it."""

    name = NAME
    version = VERSION
    oldest = OLDEST
    newest = NEWEST
    os_families = (clusterpb.OS_FAMILY_LINUX, clusterpb.OS_FAMILY_WINDOWS)
    features = supports(FEATURES)
    remedies = REMEDIES
    join_tokens = JOIN_TOKENS
    plans_by_class = True
    own_minor_only = True

    def program_version(self, options: specpb.EngineOptions) -> str:
        """Give the version of kubeadm that the image has, where it is another than the kubelet's."""
        return options.kubeadm.version

    def secrets(self, kubernetes: kubernetespb.Kubernetes) -> Sequence[secretpb.SecretDeclaration]:
        """Declare kubeadm's authorities, the key of service accounts, and a token."""
        del kubernetes
        return cluster_declarations()

    def add_arguments(self, options: specpb.EngineOptions, arguments: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """Add patches: kubeadm takes the arguments from its ConfigMap, which Cluster API may have written."""
        for program, added in arguments.items():
            name = f"{program}controls+json.json"
            options.kubeadm.patches.add(name=name, content=literal(argument_patch(added)))

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Turn the intent of a neutral bundle into files and steps. The bundle is not changed.

        It reads the intent, the engine's options, the resolved target and the execution policy; of the format, whether
        it takes files below /run. Of secrets it reads names, never a value.

        Raises:
            KubernetesVersionUnsupported: no kubeadm API belongs to the version, or it does not fit its
            cluster. CredentialsMissing: the intent lacks what a joining machine needs. BundleInvalid: a
            part of the intent is malformed. UnsupportedFeature: template text cannot stand where it was
            written.
        """
        request = _request(bundle, served)
        check_limits(request, bundle)
        if request.remarks.refusals:
            return _refused(request)
        of_components = _component_files(request)
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
                *patch_files(request, of_components),
                *discovery,
                config,
            ),
            last_written=frozenset(file.path for file in (*discovery, config)),
            steps=tuple(steps(request)),
            unit_name=UNIT_NAME if request.imported and not request.layout.windows else "",
            diagnostics=tuple(request.remarks.diagnostics),
        )


def _request(bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineRequest:
    intent = bundle.intent
    # Every imported spec asks for literal commands, and keeps what it was written for.
    imported = bundle.execution.literal_commands
    version = supported_version(intent.kubernetes_version, VERSION_PATH, oldest=OLDEST)
    options = bundle.engine_options.kubeadm
    kubeadm_version = version
    if options.HasField("version"):
        kubeadm_version = supported_version(options.version, "engine_options.kubeadm.version", oldest=OLDEST)
    return EngineRequest(
        intent=intent,
        options=options,
        version=version,
        kubeadm_version=kubeadm_version,
        api=kubeadm_api(kubeadm_version),
        layout=_layout(bundle, served),
        imported=imported,
        remarks=KubeadmRemarks(imported=imported),
    )


def _layout(bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> Layout:
    windows = bundle.machine.target.os_family == clusterpb.OS_FAMILY_WINDOWS
    if not bundle.execution.literal_commands:
        return own_layout(windows=windows)
    probe = bundlepb.BootstrapBundle(os=ospb.OperatingSystem(files=[ospb.File(path=RUN_PROBE)]))
    return provider_layout(windows=windows, keeps_run=not unsupported(probe, served.features), role=bundle.intent.role)


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


def _component_files(request: EngineRequest) -> ComponentFiles:
    if not request.is_control_plane:
        return ComponentFiles()
    return component_files(request, engine=NAME, folder=request.layout.component_files)


def _documents(request: EngineRequest, of_components: ComponentFiles) -> list[dict[str, Tree]]:
    patches = patch_folder(request, of_components)
    is_old = request.api is KubeadmApi.V1BETA3
    values = request.options.machine_values
    if not request.creates_cluster:
        join = join_configuration(request, patches=patches)
        machine = (join_to_v1beta3(join) if is_old else join).tree()
        set_machine_values(values, machine, None)
        return [machine]
    cluster = cluster_configuration(request, of_components)
    init = init_configuration(request, patches=patches)
    machine = (init_to_v1beta3(init) if is_old else init).tree()
    whole = (cluster_to_v1beta3(cluster, init.timeouts) if is_old else cluster).tree()
    set_machine_values(values, machine, whole)
    return [whole, machine]


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
