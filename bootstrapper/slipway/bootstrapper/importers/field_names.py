"""What the fields of neutral items are called in a KubeadmConfigSpec.

A refusal names the field of a neutral item. The author of a KubeadmConfig never saw that item: the field has another
name there, may stand in another part of the config, or is a part of something else.

Keys are paths of fields within an item, as a person writes them, without indices. Values:

    "name"      the name in the document; an index is kept
    "name!"     the same for a list that is one text in the document: the index is left out
    "/a.b"      the field stands elsewhere: the path from the config on
    "@a.b"      the same, from initConfiguration or joinConfiguration on, wherever the item comes from
    "<name"     the name takes the place of that of the field around it
    "[]"        only the index is written
    "[1]"       an entry of a list that has no names
    "."         no field of its own: what is around it is meant, and nothing within
"""

from collections.abc import Mapping

_STOP = "."
_COMPONENT = {
    "arguments": "extraArgs",
    "arguments.segments": _STOP,
    "volumes": "extraVolumes",
    "environment": "extraEnvs",
}
_CONTENT = {"text": _STOP, "data": _STOP, "segments": _STOP, "secretRef": "<contentFrom.secret"}


def _below(holder: str, names: Mapping[str, str]) -> dict[str, str]:
    return {f"{holder}.{key}": name for key, name in names.items()}


NAMES: Mapping[str, Mapping[str, str]] = {
    "Command": dict.fromkeys(("argv", "interpreter", "retryOnBoot", "script"), _STOP),
    "Extension": dict.fromkeys(("content", "id", "mediaType"), _STOP),
    "File": {"mode": "permissions", "group": "owner", "remote": _STOP, **_below("content", _CONTENT)},
    "User": {
        "home": "homeDir",
        "groups": "groups!",
        "sudo": "sudo!",
        "passwordHash": "passwd",
        "passwordHash.value": _STOP,
        "passwordHash.secretRef": "<passwdFrom.secret",
    },
    "Disk": {"partitions": "diskLayout", "partitions.type": "partitionType"},
    "Filesystem": {
        "format": "filesystem",
        "options": "extraOpts",
        "partition.disk": "<device",
        "partition.number": _STOP,
        "replaceFormat": "replaceFS",
    },
    "Mount": {
        "source": "[0]",
        "partition": "[0]",
        "path": "[1]",
        "type": _STOP,
        "options": _STOP,
        "check": _STOP,
        "partition.disk": _STOP,
        "partition.number": _STOP,
        "partition.label": _STOP,
    },
    "NodeRegistration": {
        "kubeletArguments": "kubeletExtraArgs",
        "kubeletArguments.segments": _STOP,
        "name.value": _STOP,
        "name.segments": _STOP,
        "taints.items": "[]",
    },
    "Discovery": {
        "token": "bootstrapToken",
        "token.endpoint": "apiServerEndpoint",
        "token.caHashes": "caCertHashes",
        "token.unsafeSkipCaVerification": "unsafeSkipCAVerification",
        "file.path": "kubeConfigPath",
        "file.kubeconfig": "kubeConfig",
        **_below("file.kubeconfig", dict.fromkeys(("text", "data", "segments", "secretRef"), _STOP)),
    },
    "ControlPlane": {
        **{key: f"/clusterConfiguration.{key}" for key in ("apiServer", "controllerManager", "scheduler", "dns")},
        **_below("apiServer", _COMPONENT),
        **_below("controllerManager", _COMPONENT),
        **_below("scheduler", _COMPONENT),
        "apiServerSans": "/clusterConfiguration.apiServer.certSANs",
        "advertiseAddress.value": _STOP,
        "advertiseAddress.segments": _STOP,
    },
    "Etcd": _below("local", _COMPONENT),
    "Certificates": {
        "caValidity": "/clusterConfiguration.caCertificateValidityPeriodDays",
        "keyAlgorithm": "/clusterConfiguration.encryptionAlgorithm",
    },
    "Timeouts": {
        "controlPlaneComponent": "controlPlaneComponentHealthCheckSeconds",
        "tlsBootstrap": "tlsBootstrapSeconds",
    },
    "KubeadmTimeouts": {
        "kubelet": "kubeletHealthCheckSeconds",
        "kubernetesApi": "kubernetesAPICallSeconds",
        "etcdApi": "etcdAPICallSeconds",
        "discovery": "discoverySeconds",
    },
    "KubeadmBootstrapToken": {
        "ttl": "ttlSeconds",
        "expireTime": "expires",
        "token.value": _STOP,
        "token.secretRef": _STOP,
    },
    "KubeadmOptions": {
        "ignoredPreflightErrors": "@nodeRegistration.ignorePreflightErrors",
        "skippedPhases": "@skipPhases",
        "patchesDirectory": "@patches.directory",
        "verbosity": "/verbosity",
        "featureGates": "/clusterConfiguration.featureGates",
        "bootstrapTokens": "/initConfiguration.bootstrapTokens",
        "certificatesDirectory": "/clusterConfiguration.certificatesDir",
        "certificateValidity": "/clusterConfiguration.certificateValidityPeriodDays",
        "etcdServerSans": "/clusterConfiguration.etcd.local.serverCertSANs",
        "etcdPeerSans": "/clusterConfiguration.etcd.local.peerCertSANs",
        "caPath": "/joinConfiguration.caCertPath",
        "tlsBootstrapToken": "/joinConfiguration.discovery.tlsBootstrapToken",
        "imagePullSerial": "@nodeRegistration.imagePullSerial",
        "timeouts": "@timeouts",
        "machineValues": _STOP,
    },
}
"""By the name of the item's type. A field that is not here has the same name in both."""

OLDER_NAMES: Mapping[str, Mapping[str, str]] = {
    "Timeouts": {
        "controlPlaneComponent": "/clusterConfiguration.apiServer.timeoutForControlPlane",
        "tlsBootstrap": "/joinConfiguration.discovery.timeout",
    },
    "KubeadmBootstrapToken": {**NAMES["KubeadmBootstrapToken"], "ttl": "ttl"},
}
"""The same, where they differ in v1beta1."""

SNIPPET_NAMES: Mapping[str, Mapping[str, str]] = {
    "File": {
        "content": "contents.inline",
        "content.text": _STOP,
        "content.data": _STOP,
        "owner": "user",
        "remote": "contents.remote",
        "remote.urls": "url!",
        "remote.sha512": "verification.hash.sum",
    },
    "Directory": {"owner": "user"},
    "Link": {"owner": "user"},
    "User": {
        "home": "home_dir",
        "noCreateHome": "no_create_home",
        "passwordHash": "password_hash",
        "passwordHash.value": _STOP,
        "primaryGroup": "primary_group",
        "sshAuthorizedKeys": "ssh_authorized_keys",
    },
    "SystemdUnit": {"masked": "mask", "dropIns": "dropins"},
    "Disk": {"overwrite": "wipe_table"},
    "Filesystem": {
        "device": "mount.device",
        "format": "mount.format",
        "label": "mount.label",
        "options": "mount.options",
        "overwrite": "mount.wipe_filesystem",
    },
}
"""The same for items of a Container Linux Config; its keys have the spelling of its own documents."""

NOT_IN_DOCUMENTS = frozenset({"Certificates", "ControlPlane", "KubeadmOptions", "KubeadmTimeouts", "Timeouts"})
"""Items that no config has as such: its fields were put together here. A refusal of one is a refusal of its fields."""

PLAIN: Mapping[str, str] = {
    "kubernetes.images": "clusterConfiguration.imageRepository",
    "os.defaultUser": "users",
}
"""Fields of a spec that lie in no item: their places in a config."""

COMMANDS: Mapping[str, str] = {"boot": "bootCommands", "pre": "preKubeadmCommands", "post": "postKubeadmCommands"}
"""Lists of commands, by phase."""

NAMED_ENTRIES = frozenset({"arguments", "kubeletArguments", "featureGates"})
"""Lists whose entries have a name that a document may use as a key."""
