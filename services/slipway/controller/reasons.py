"""The reasons that a SlipwayConfig's conditions may have, besides the contract's.

The refusals of the contract are reasons too, under the names of their classes
(sdk/python/slipway/contract/errors.py), so that a person finds them on the page of errors.
"""

from enum import StrEnum


class Reason(StrEnum):
    """Reasons of our own."""

    AVAILABLE = "Available"
    NOT_PAUSED = "NotPaused"
    NOT_KNOWN = "NotKnown"
    PAUSED = "Paused"
    WAITING_FOR_OWNER = "WaitingForOwner"
    WAITING_FOR_CLUSTER = "WaitingForCluster"
    WAITING_FOR_CLUSTER_INFRASTRUCTURE = "WaitingForClusterInfrastructure"
    WAITING_FOR_ENDPOINT = "WaitingForEndpoint"
    WAITING_FOR_CONTROL_PLANE = "WaitingForControlPlane"
    WAITING_FOR_INIT_LOCK = "WaitingForInitLock"
    WAITING_FOR_CERTIFICATES = "WaitingForCertificates"
    WAITING_FOR_KUBECONFIG = "WaitingForKubeconfig"
    WAITING_FOR_SECRET = "WaitingForSecret"  # noqa: S105  # a reason's name
    WAITING_FOR_JOIN_TOKEN = "WaitingForJoinToken"  # noqa: S105  # a reason's name
    WAITING_FOR_DIRECTORY_ACCOUNT = "WaitingForDirectoryAccount"
    WAITING_FOR_PROVISIONER = "WaitingForProvisioner"
    WAITING_FOR_PREDECESSOR = "WaitingForPredecessor"
    WORKLOAD_UNREACHABLE = "WorkloadClusterUnreachable"
    API_UNAVAILABLE = "ApiUnavailable"
    FORBIDDEN = "Forbidden"
    VERSION_MISSING = "VersionMissing"
    FACT_CONFLICT = "FactConflict"
    ENGINE_UNKNOWN = "BootstrapEngineUnknown"
    ENGINE_VERSION_SKEW = "BootstrapEngineVersionSkew"
    USER_DATA_WRAPPED = "UserDataWrapped"
    DATA_SECRET_TAKEN = "DataSecretTaken"  # noqa: S105  # a reason's name
    DATA_SECRET_TOO_LARGE = "DataSecretTooLarge"  # noqa: S105  # a reason's name
    KUBECONFIG_REFUSED = "KubeconfigRefused"
    CLUSTER_SECRET_REFERENCED = "ClusterSecretReferenced"  # noqa: S105  # a reason's name
    OBJECT_REFUSED = "ObjectRefused"
    TOKEN_GIVEN_UP = "TokenGivenUp"  # noqa: S105  # a reason's name
    TOKEN_TAKEN = "TokenTaken"  # noqa: S105  # a reason's name
    OPTED_IN_TOO_LATE = "OptedInTooLate"
    CONTROL_PLANE_NEEDS_KUBEADM = "ControlPlaneNeedsKubeadm"
    BOOTSTRAP_TOKEN_PRESET = "BootstrapTokenPreset"  # noqa: S105  # a reason's name
    NODE_JOINED = "NodeJoined"
    BOOTSTRAP_COMPLETE = "BootstrapComplete"
    NO_REPORT = "NoReport"
    BOOTSTRAP_UNFINISHED = "BootstrapUnfinished"
    BOOTSTRAP_FAILED = "BootstrapFailed"
    NO_ROOM_FOR_ADDRESS = "NoRoomInUserData"
    METADATA_UNKNOWN = "MetadataUnknown"
    DELIVERY_REFUSED = "DeliveryRefused"
    PAYLOAD_STORE_UNAVAILABLE = "PayloadStoreUnavailable"
    PAYLOAD_ELSEWHERE = "PayloadElsewhere"
    PAYLOAD_FETCHED_AGAIN = "PayloadFetchedAgain"
