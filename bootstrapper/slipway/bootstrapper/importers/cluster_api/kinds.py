"""The Cluster API kinds around a KubeadmConfig, in v1beta1 and v1beta2, as far as machines depend on them.

The names of all fields are known, so that a misspelt `version` is an error; of most, the content does not matter.
"""

# ruff: noqa: RUF012  # pydantic copies defaults

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from slipway.bootstrapper.importers.foreign import Foreign, Opaque

Version = Annotated[str, AfterValidator(lambda text: f"v{text}" if text[:1].isdigit() else text)]
"""A Kubernetes version; Cluster API's webhooks put the v in front where it is missing."""


class Reference(Opaque):
    """A reference to an object: with apiVersion in v1beta1, with apiGroup in v1beta2."""

    api_version: str = ""
    kind: str = ""
    name: str = ""


class Metadata(Opaque):
    """What is read of an object's metadata."""

    name: str = ""
    namespace: str = ""
    labels: dict[str, str | None] = {}
    owner_references: list[Reference] = []


class Header(Opaque):
    """What every Kubernetes object has."""

    api_version: str
    kind: str
    metadata: Metadata = Metadata()


class Endpoint(Foreign):
    """Where the API server is reached."""

    host: str = ""
    port: Annotated[int, Field(ge=0, le=65535)] = 0


class InnerMachineTemplate(Opaque):
    """v1beta2 has one level more."""

    infrastructure_ref: Reference | None = None


class MachineTemplate(Opaque):
    """The machines of a control plane."""

    infrastructure_ref: Reference | None = None
    spec: InnerMachineTemplate = InnerMachineTemplate()

    @property
    def infrastructure(self) -> Reference | None:
        """The machine template of the infrastructure."""
        return self.infrastructure_ref or self.spec.infrastructure_ref


class ControlPlaneSpec(Foreign):
    """A KubeadmControlPlane, or what its template holds."""

    replicas: int | None = None
    version: Version = ""
    machine_template: MachineTemplate = MachineTemplate()
    kubeadm_config_spec: Any = None
    rollout_before: Any = None
    rollout_after: Any = None
    rollout_strategy: Any = None
    rollout: Any = None
    remediation_strategy: Any = None
    remediation: Any = None
    machine_naming_strategy: Any = None
    machine_naming: Any = None


class Bootstrap(Foreign):
    """How a machine is bootstrapped."""

    config_ref: Reference | None = None
    data_secret_name: str | None = None


class MachineSpec(Foreign):
    """A Machine."""

    cluster_name: str = ""
    bootstrap: Bootstrap = Bootstrap()
    infrastructure_ref: Reference | None = None
    version: Version = ""
    provider_id: Annotated[Any, Field(alias="providerID")] = None
    failure_domain: Any = None
    min_ready_seconds: Any = None
    readiness_gates: Any = None
    node_drain_timeout: Any = None
    node_volume_detach_timeout: Any = None
    node_deletion_timeout: Any = None
    deletion: Any = None
    taints: Any = None


class TemplateOfMachine(Foreign):
    """What machines are made from."""

    metadata: Any = None
    spec: MachineSpec = MachineSpec()


class MachinesSpec(Foreign):
    """A MachineDeployment, MachineSet or MachinePool."""

    cluster_name: str = ""
    replicas: int | None = None
    template: TemplateOfMachine = TemplateOfMachine()
    selector: Any = None
    strategy: Any = None
    rollout: Any = None
    rollout_after: Any = None
    min_ready_seconds: Any = None
    revision_history_limit: Any = None
    paused: Any = None
    progress_deadline_seconds: Any = None
    delete_policy: Any = None
    deletion: Any = None
    remediation: Any = None
    machine_naming_strategy: Any = None
    machine_naming: Any = None
    provider_id_list: Annotated[Any, Field(alias="providerIDList")] = None
    failure_domains: Any = None


class ConfigTemplate(Foreign):
    """What KubeadmConfigs are made from."""

    metadata: Any = None
    spec: Any = None


class ConfigTemplateSpec(Foreign):
    """A KubeadmConfigTemplate."""

    template: ConfigTemplate = ConfigTemplate()


class ControlPlaneTemplate(Foreign):
    """What a KubeadmControlPlane is made from."""

    metadata: Any = None
    spec: ControlPlaneSpec = ControlPlaneSpec()


class ControlPlaneTemplateSpec(Foreign):
    """A KubeadmControlPlaneTemplate."""

    template: ControlPlaneTemplate = ControlPlaneTemplate()


class InfrastructureSpec(Opaque):
    """What is read of an infrastructure's cluster."""

    control_plane_endpoint: Endpoint | None = None


class InfrastructureDisk(Opaque):
    """The disk of an Azure machine."""

    os_type: str = ""


class InfrastructureCloudInit(Opaque):
    """Where an AWSMachine keeps cloud-config."""

    insecure_skip_secrets_manager: bool = False


class InfrastructureIgnition(Opaque):
    """Where an AWSMachine keeps Ignition."""

    storage_type: str = ""


class InfrastructureMachine(Opaque):
    """What an infrastructure's machine states about its operating system and about the way of its user data."""

    image_lookup_base_os: Annotated[str, Field(alias="imageLookupBaseOS")] = ""
    os: Literal["", "Linux", "Windows"] = ""
    os_disk: InfrastructureDisk = InfrastructureDisk()
    cloud_init: InfrastructureCloudInit = InfrastructureCloudInit()
    ignition: InfrastructureIgnition | None = None
    uncompressed_user_data: bool | None = None


class ConfigMapObject(Opaque):
    """A ConfigMap."""

    data: Annotated[dict[str, str | None], Field(repr=False)] = {}
    binary_data: Annotated[dict[str, str | None], Field(repr=False)] = {}


class SecretObject(Opaque):
    """A Secret."""

    data: Annotated[dict[str, str | None], Field(repr=False)] = {}
    string_data: Annotated[dict[str, str | None], Field(repr=False)] = {}
