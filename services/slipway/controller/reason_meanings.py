"""What each reason of the controller means, and its remedy: the table that the page of conditions is made from."""

from dataclasses import dataclass

from slipway.controller.conditions import Type
from slipway.controller.reasons import Reason


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a reason means, what a person does about it, and which condition says it besides Ready.

    Attributes:
        waits: the controller goes on by itself when what it waits for is there; else a person must change something.
    """

    meaning: str
    remedy: str
    type: Type = Type.DATA_SECRET
    waits: bool = False


_BY_ITSELF = "None: the controller continues when it exists."
MEANINGS: dict[Reason, Meaning] = {
    Reason.AVAILABLE: Meaning("The user data is stored in the data Secret.", "None."),
    Reason.NOT_PAUSED: Meaning("Neither the config nor its Cluster is paused.", "None.", Type.PAUSED),
    Reason.NOT_KNOWN: Meaning("The state is unknown: an earlier step is not done.", "See the condition Ready."),
    Reason.PAUSED: Meaning(
        "The Cluster is paused, or the config has the annotation cluster.x-k8s.io/paused or "
        "bootstrap.slipway.dev/paused. Nothing is written while it is paused.",
        "Remove the annotation, or set spec.paused of the Cluster to false.",
        Type.PAUSED,
        waits=True,
    ),
    Reason.WAITING_FOR_OWNER: Meaning(
        "No Machine or MachinePool owns the config, the owner does not exist, or it does not refer to the config.",
        "None while Cluster API creates the Machine; a config to which no object refers waits forever.",
        waits=True,
    ),
    Reason.WAITING_FOR_CLUSTER: Meaning("The Cluster that the Machine names does not exist.", _BY_ITSELF, waits=True),
    Reason.WAITING_FOR_CLUSTER_INFRASTRUCTURE: Meaning(
        "The infrastructure of the Cluster is not provisioned.", "Check the Cluster's infrastructure.", waits=True
    ),
    Reason.WAITING_FOR_ENDPOINT: Meaning(
        "The Cluster has no valid spec.controlPlaneEndpoint (host and port).",
        "Check the infrastructure cluster, which sets it, or set it in the Cluster.",
        waits=True,
    ),
    Reason.WAITING_FOR_CONTROL_PLANE: Meaning(
        "The control plane is not initialised: no machine can join it.",
        "Check the first control-plane machine.",
        waits=True,
    ),
    Reason.WAITING_FOR_INIT_LOCK: Meaning(
        "Another control-plane machine initialises the cluster. The message names it, with its start time.",
        "None for some minutes. After 20 minutes a Warning reports that the machine may be stuck: check it, and delete "
        "it if it does not start; this releases the lock.",
        waits=True,
    ),
    Reason.WAITING_FOR_CERTIFICATES: Meaning(
        "Secrets of the cluster are missing that Slipway does not create: the control-plane provider creates them, or "
        "an administrator does (external etcd).",
        "Check the control plane, or create the Secrets that the message names.",
        Type.CERTIFICATES,
        waits=True,
    ),
    Reason.WAITING_FOR_KUBECONFIG: Meaning(
        "The Secret CLUSTER-kubeconfig does not exist, so no bootstrap token can be created in the cluster.",
        "Check the control plane, whose provider creates it.",
        waits=True,
    ),
    Reason.WAITING_FOR_SECRET: Meaning(
        "A Secret or ConfigMap that the spec refers to, or a key of it, does not exist.",
        "Create what the message names, in the namespace of the config.",
        waits=True,
    ),
    Reason.WAITING_FOR_JOIN_TOKEN: Meaning(
        "The workload cluster makes the token by which its machines join itself, and the Secret that the message names "
        "does not exist there, or holds no usable token.",
        "Check the control plane of the workload cluster. The controller retries with back-off.",
        waits=True,
    ),
    Reason.WAITING_FOR_DIRECTORY_ACCOUNT: Meaning(
        "The machine joins a domain, and the Secret MACHINE-directory with the credential of its computer account, or "
        "the key for its method, does not exist.",
        "None where slipway-directory makes the accounts: where it cannot, DirectoryAccountReady has its reason. Else "
        "create the Secret by slipway directory.",
        Type.DIRECTORY_ACCOUNT,
        waits=True,
    ),
    Reason.WAITING_FOR_PROVISIONER: Meaning(
        "The provisioner that is to render is not registered, or not ready.",
        "Start it, or pin another one in spec.provisioner. The machine continues as soon as it registers.",
        Type.PROVISIONER,
        waits=True,
    ),
    Reason.WAITING_FOR_PREDECESSOR: Meaning(
        "The data Secret of a deleted config of the same name still exists.",
        "None: the garbage collector removes it.",
        waits=True,
    ),
    Reason.WORKLOAD_UNREACHABLE: Meaning(
        "The API server of the workload cluster does not answer, so no bootstrap token can be created in it.",
        "Check the control plane and the network between the two. The controller retries with back-off.",
        waits=True,
    ),
    Reason.API_UNAVAILABLE: Meaning(
        "The management cluster's API server did not answer.", "None: the controller retries.", waits=True
    ),
    Reason.FORBIDDEN: Meaning(
        "RBAC does not allow the controller to make a request; the message names verb and resource.",
        "Apply the ClusterRole of this version of Slipway (deploy/kubernetes).",
        waits=True,
    ),
    Reason.VERSION_MISSING: Meaning(
        "The Machine has no spec.version.", "Set it in the Machine, or in what the Machine is made from."
    ),
    Reason.FACT_CONFLICT: Meaning(
        "The spec states a fact that differs from Machine and Cluster.", "Remove the field that the message names."
    ),
    Reason.ENGINE_UNKNOWN: Meaning(
        "The machine joins a Cluster, and its spec names no bootstrap engine. The Cluster refers to a control plane of "
        "an unknown kind, or to none, and its control-plane Machines do not say which engine they have: there are "
        "none, or not all have the same.",
        "Set spec.kubernetes.engine to the bootstrap engine of the control plane.",
    ),
    Reason.ENGINE_VERSION_SKEW: Meaning(
        "The bootstrap engine, e.g. kubeadm, joins only a control plane of its own minor version, and the Machine has "
        "another version.",
        "Give the Machine the control plane's minor version, or put a program of the control plane's version on the "
        "machine and name it, e.g. in spec.engineOptions.kubeadm.version.",
    ),
    Reason.USER_DATA_WRAPPED: Meaning(
        "The format must reach the machine unchanged, and the infrastructure provider wraps user data.",
        "Choose another provisioner, or see docs/reference/conditions.md for how to configure the provider.",
    ),
    Reason.DATA_SECRET_TAKEN: Meaning(
        "A Secret with the name of the config exists and has another owner. It is never overwritten.",
        "Delete or rename the Secret, or give the config another name.",
    ),
    Reason.DATA_SECRET_TOO_LARGE: Meaning(
        "The user data is larger than a Secret can be (1 MiB).", "Make it smaller, for example by remote files."
    ),
    Reason.CLUSTER_SECRET_REFERENCED: Meaning(
        "The spec takes content from a Secret that belongs to a cluster: keys of its authorities, a kubeconfig, a "
        "bootstrap token, or user data of another machine.",
        "Refer to a Secret of your own. A machine gets the secrets of its cluster that it needs without a reference.",
    ),
    Reason.KUBECONFIG_REFUSED: Meaning(
        "The kubeconfig of the workload cluster would run a program or read a file of the controller, names a "
        "server that only the controller reaches, or is invalid. "
        "The message names the part.",
        "Write credentials into the Secret CLUSTER-kubeconfig itself.",
    ),
    Reason.OBJECT_REFUSED: Meaning(
        "The API server refuses an object that the controller writes.",
        "Check the admission policies and webhooks of the cluster; the message names the object.",
    ),
    Reason.TOKEN_GIVEN_UP: Meaning(
        "The machine has not joined in time, and its bootstrap token is no longer refreshed.",
        "Delete the Machine: its owner creates a new one.",
    ),
    Reason.TOKEN_TAKEN: Meaning(
        "The workload cluster has a bootstrap token with the same id and another secret. It is never overwritten.",
        "Delete the Secret that the message names, or the Machine: its owner creates a new one.",
    ),
    Reason.OPTED_IN_TOO_LATE: Meaning(
        "The label bootstrap.slipway.dev/managed was added to a KubeadmConfig that already existed: the owner of an "
        "object is decided when it is created. The kubeadm provider keeps it.",
        "None; Slipway provisions machines that are created from the template from now on. To replace this one, "
        "delete the Machine.",
    ),
    Reason.CONTROL_PLANE_NEEDS_KUBEADM: Meaning(
        "KubeadmControlPlane manages kubeadm's ConfigMap, static pods and etcd, and the selected provisioner makes "
        "machines without kubeadm, or for Windows.",
        "Choose a provisioner for Linux that takes a plan by the annotation "
        "bootstrap.slipway.dev/provisioner, or another control-plane provider.",
    ),
    Reason.BOOTSTRAP_TOKEN_PRESET: Meaning(
        "spec.joinConfiguration.discovery.bootstrapToken of an opted-in KubeadmConfig is set. The kubeadm provider "
        "would refresh that token, while Slipway creates its own.",
        "Remove the field, or do not opt in.",
    ),
    Reason.NODE_JOINED: Meaning(
        "The machine's Node joined its cluster, whatever the machine reported.", "None.", Type.BOOTSTRAP
    ),
    Reason.BOOTSTRAP_COMPLETE: Meaning(
        "The machine reported that its bootstrap is complete; its Node is not there yet.",
        "None for some minutes. Then check the kubelet: the machine runs, and its Node does not register.",
        Type.BOOTSTRAP,
        waits=True,
    ),
    Reason.NO_REPORT: Meaning(
        "The machine has not joined, and has not reported.",
        "None for some minutes. Then check whether the machine runs, its console, where the same events are, and the "
        "address that it reports to; docs/tutorials/failed-node.md has the order.",
        Type.BOOTSTRAP,
        waits=True,
    ),
    Reason.BOOTSTRAP_UNFINISHED: Meaning(
        "The machine reported that it began. Its end was not reported.",
        "None while it goes on.",
        Type.BOOTSTRAP,
        waits=True,
    ),
    Reason.BOOTSTRAP_FAILED: Meaning(
        "The machine reported that a step failed. Where it said why, the reason of the event stands here in place of "
        "this one.",
        "`slipway status MACHINE` shows the steps, and `slipway logs MACHINE` the logs, where they were sent.",
        Type.BOOTSTRAP,
    ),
    Reason.NO_ROOM_FOR_ADDRESS: Meaning(
        "With an address to report to the user data is larger than the infrastructure takes. The machine has none: it "
        "boots, and its events are on its console only.",
        "None, if that is enough. Else make the user data smaller by about 1.5 kB, for example by remote files, and "
        "replace the Machine.",
        Type.REPORT_ADDRESS,
    ),
    Reason.METADATA_UNKNOWN: Meaning(
        "Only a Warning event has this reason. A label or annotation of the config is below slipway.dev, or nearly, "
        "and Slipway knows no such name; it has no effect. The machine is provisioned without it.",
        "Write the name that the event proposes in the template that the config is made from, or remove it.",
    ),
    Reason.DELIVERY_REFUSED: Meaning(
        "The spec has delivery.mode Fetch, and a machine of this kind cannot fetch its user data: the machines of a "
        "MachinePool share them, and some infrastructure providers change them on their way.",
        "Leave delivery out, or use Machines in place of the pool.",
    ),
    Reason.PAYLOAD_STORE_UNAVAILABLE: Meaning(
        "The store of payloads failed, so no machine can fetch its user data from it.",
        "Check --payload-store and its credentials. The controller tries again.",
        waits=True,
    ),
    Reason.PAYLOAD_ELSEWHERE: Meaning(
        "The user data is a stub that fetches from another address than this controller's, as after a move, or from "
        "this one, whose store does not have the payload, and no node has joined.",
        "Set --payload-url-base and --payload-store to those of before, where they still have the payload. Else delete "
        "the Machine, so that a new one gets user data from here.",
    ),
    Reason.PAYLOAD_FETCHED_AGAIN: Meaning(
        "A Warning event: the payload of a machine was fetched more than once. The machine itself does so when it is "
        "set up anew; else another program has its user data.",
        "Compare the addresses in the message with the machine's own. Where they differ, delete the Machine, and for "
        "one of the control plane replace the keys of the cluster.",
    ),
}
