"""Each field of a KubeadmConfigSpec becomes the neutral item that means the same on the machine."""

# ruff: noqa: E501, ISC004  # the tables read best with one case a line

import base64
import gzip
import json
from collections.abc import Iterator
from textwrap import dedent, indent

import pytest
from google.protobuf import text_format
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from bootstrapper.assembly.subject import rule_violations
from bootstrapper.importers.kubeadm_import import ImportResult, Surroundings
from bootstrapper.importers.lone_config import import_invalid, import_kubeadm_config
from services.contract.source_position import SourceError, SourceProblem
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import plan_pb2 as planpb

BETA1, BETA2 = "v1beta1", "v1beta2"
GZIPPED = base64.b64encode(gzip.compress(b"hello", mtime=0)).decode()


def document(spec: str, *, version: str = BETA2, kind: str = "KubeadmConfig") -> str:
    """Give a document with this KubeadmConfigSpec."""
    body = dedent(spec).strip("\n")
    if kind == "KubeadmControlPlane":
        head = f"apiVersion: controlplane.cluster.x-k8s.io/{version}\nkind: {kind}\nmetadata: {{name: x}}\n"
        return head + "spec:\n  version: v1.33.1\n  kubeadmConfigSpec:\n" + indent(body, "    ") + "\n"
    head = f"apiVersion: bootstrap.cluster.x-k8s.io/{version}\nkind: {kind}\nmetadata: {{name: x}}\n"
    return head + "spec:\n" + indent(body, "  ") + "\n"


def carried(spec: str, *, version: str = BETA2, kind: str = "KubeadmConfig", **known: object) -> ImportResult:
    """Carry over a spec; what comes out must fit the contract's own rules."""
    result = import_kubeadm_config(
        document(spec, version=version, kind=kind),
        Surroundings(**known),
        file="f.yaml",  # type: ignore[arg-type]
    )
    assert rule_violations(result.spec) == []
    return result


def without_origins(message: Message) -> Message:
    """Give a copy without any origin."""
    copy = type(message)()
    copy.CopyFrom(message)
    for each in walk(copy):
        if "origin" in each.DESCRIPTOR.fields_by_name:
            each.ClearField("origin")
    return copy


def walk(message: Message) -> Iterator[Message]:
    """Give a message and all below it."""
    yield message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for each in value if field.is_repeated else [value]:
                yield from walk(each)


def codes(result: ImportResult) -> list[str]:
    """Give the codes of the diagnostics."""
    return [diagnostic.code for diagnostic in result.diagnostics]


IGNITION = "format: ignition\n"
OS = [
    (
        "files: [{path: /a, content: x, owner: 'root:adm', permissions: '0640', append: true}]",
        'files { path: "/a" content { text: "x" } append: true owner: "root" group: "adm" mode: 416 }',
        "all fields of a file",
    ),
    ("files: [{path: /a, content: x}]", 'files { path: "/a" content { text: "x" } }', "what is unset stays unset"),
    (
        "files: [{path: /a, content: x, append: false}]",
        'files { path: "/a" content { text: "x" } append: false }',
        "false is set",
    ),
    ("files: [{path: /a, content: ''}]", 'files { path: "/a" content { text: "" } }', "an empty file"),
    ("files: [{path: /a, owner: app}]", 'files { path: "/a" content { text: "" } owner: "app" }', "a user only"),
    ("files: [{path: /a, permissions: '644'}]", 'files { path: "/a" content { text: "" } mode: 420 }', "always octal"),
    (
        "files: [{path: /a, content: aGVsbG8=, encoding: base64}]",
        'files { path: "/a" content { data: "hello" } }',
        "base64",
    ),
    (
        f"files: [{{path: /a, content: {GZIPPED}, encoding: gzip+base64}}]",
        'files { path: "/a" content { data: "hello" } }',
        "gzip in base64",
    ),
    (
        "files: [{path: /a, contentFrom: {secret: {name: s, key: k}}}]",
        'files { path: "/a" content { secret_ref { name: "s" key: "k" } } }',
        "a reference",
    ),
    (
        "files: [{path: /a, content: 'h={{ ds.meta_data.hostname }}!'}]",
        'files { path: "/a" content { segments { text: "h=" } segments { fact { kind: FACT_KIND_HOSTNAME } }'
        ' segments { text: "!" } } }',
        "a fact in a file",
    ),
    (
        "files: [{path: /a, content: '{% if x %}y{% endif %}'}]",
        'files { path: "/a" content { segments { template { language: TEMPLATE_LANGUAGE_JINJA'
        ' text: "{% if x %}y{% endif %}" } } } }',
        "Jinja in a file",
    ),
    (
        'files: [{path: /a, content: "{% raw %}{{ x }}{% endraw %}\\ny"}]',
        'files { path: "/a" content { text: "{{ x }}      y" } }',
        "a raw block, with the indentation that cloud-init sees behind it",
    ),
    (
        IGNITION + "files: [{path: /a, content: '{{ ds.meta_data.hostname }}'}]",
        'files { path: "/a" content { text: "{{ ds.meta_data.hostname }}" } }',
        "ignition knows no Jinja",
    ),
    (
        "users: [{name: u, gecos: G, groups: 'a, b', homeDir: /h, shell: /bin/sh, primaryGroup: g, inactive: false,"
        " lockPassword: false, sudo: 'ALL=(ALL) NOPASSWD:ALL', sshAuthorizedKeys: [k], passwd: p}]",
        'users { name: "u" gecos: "G" home: "/h" shell: "/bin/sh" primary_group: "g" groups: "a" groups: "b"'
        ' password_hash { value: "p" } lock_password: false sudo: "ALL=(ALL) NOPASSWD:ALL" ssh_authorized_keys: "k"'
        " } default_user: DEFAULT_USER_OMIT",
        "all fields of a user, of which inactive: false says nothing; the image's own user is not made",
    ),
    (
        IGNITION + "users: [{name: u, passwdFrom: {secret: {name: s, key: k}}}]",
        'users { name: "u" password_hash { secret_ref { name: "s" key: "k" } } }',
        "a password from a Secret; ignition keeps the image's own user",
    ),
    ("ntp: {enabled: false, servers: [a.example.com]}", 'ntp { enabled: false servers: "a.example.com" }', "NTP"),
    ("ntp: {}", "ntp { }", "NTP, nothing said"),
    (
        "diskSetup: {partitions: [{device: /dev/sdb, layout: true, overwrite: false}]}",
        'disks { device: "/dev/sdb" table_type: PARTITION_TABLE_TYPE_MBR overwrite: false partitions { } }',
        "one partition; mbr is cloud-init's default",
    ),
    (
        IGNITION + "diskSetup: {partitions: [{device: /dev/sdb, layout: true}]}",
        'disks { device: "/dev/sdb" table_type: PARTITION_TABLE_TYPE_GPT partitions { } }',
        "gpt is Ignition's",
    ),
    ("diskSetup: {partitions: [{device: /dev/sdb, layout: false}]}", "", "the disk is left alone"),
    (
        "diskSetup: {partitions: [{device: /dev/sdb, tableType: gpt,"
        " diskLayout: [{percentage: 30, partitionType: LinuxSwap}, {percentage: 70}]}]}",
        'disks { device: "/dev/sdb" table_type: PARTITION_TABLE_TYPE_GPT partitions { percentage: 30 type: "swap" }'
        " partitions { percentage: 70 } }",
        "a layout by percentages",
    ),
    (
        "diskSetup: {filesystems: [{device: /dev/sdb, filesystem: ext4, label: l, partition: 'auto|any', overwrite: true,"
        " replaceFS: ntfs, extraOpts: ['-F']}]}",
        'filesystems { device: "/dev/sdb" format: "ext4" label: "l" partition: "any" overwrite: true'
        ' replace_format: "ntfs" options: "-F" }',
        "a filesystem",
    ),
    (
        "diskSetup: {filesystems: [{device: /dev/sdb, filesystem: xfs, label: None}]}",
        'filesystems { device: "/dev/sdb" format: "xfs" }',
        "None is no label",
    ),
    (
        "mounts: [[LABEL=etcd, /var/lib/etcd], [sdc1, /data, ext4, 'noatime,nofail', '0', '2']]",
        'mounts { source: "LABEL=etcd" path: "/var/lib/etcd" options: "defaults" options: "nofail" }'
        ' mounts { source: "/dev/sdc1" path: "/data" type: "ext4" options: "noatime" options: "nofail" dump: 0 pass: 2 }',
        "mounts are lines of fstab with cloud-init's defaults",
    ),
    (
        IGNITION + "diskSetup: {filesystems: [{device: /dev/sdb, filesystem: ext4, label: etcd}]}\n"
        "mounts: [[etcd, /var/lib/etcd, noatime]]",
        'filesystems { device: "/dev/sdb" format: "ext4" label: "etcd" }'
        ' mounts { source: "/dev/sdb" path: "/var/lib/etcd" options: "noatime" }',
        "in ignition a mount names a label, and has options only",
    ),
]


@pytest.mark.parametrize(("spec", "wanted", "reason"), OS, ids=[case[2] for case in OS])
def test_operating_system_items(spec: str, wanted: str, reason: str) -> None:
    """Each field about the system becomes the item that behaves as it does today."""
    got = without_origins(carried(spec).spec.os)
    assert got == text_format.Parse(wanted, type(got)()), reason


KUBERNETES = [
    (BETA2, "joinConfiguration: {nodeRegistration: {name: node}}", 'node { name { value: "node" } }', "a literal name"),
    (
        BETA2,
        "joinConfiguration: {nodeRegistration: {name: '{{ v1.local_hostname }}', criSocket: 'unix:///c.sock', taints: [],"
        " kubeletExtraArgs: [{name: provider-id, value: 'x:///{{ instance_id }}'}, {name: v, value: ''}],"
        " imagePullPolicy: Never, imagePullSerial: false}}",
        "node { name { segments { fact { kind: FACT_KIND_SHORT_HOSTNAME } } } taints { }"
        ' kubelet_arguments { name: "provider-id" segments { text: "x:///" }'
        ' segments { fact { kind: FACT_KIND_INSTANCE_ID } } } kubelet_arguments { name: "v" value: "" }'
        ' cri_socket: "unix:///c.sock" image_pull_policy: "Never" image_pull_serial: false }',
        "facts in name and arguments; an empty list of taints is set",
    ),
    (
        BETA2,
        "joinConfiguration: {nodeRegistration: {taints: [{key: k, value: v, effect: NoExecute}]}}",
        'node { taints { items { key: "k" value: "v" effect: TAINT_EFFECT_NO_EXECUTE } } }',
        "taints",
    ),
    (
        BETA1,
        "joinConfiguration: {apiVersion: kubeadm.k8s.io/v1beta3, kind: JoinConfiguration, nodeRegistration:"
        " {kubeletExtraArgs: {b: '2', a: '1'}}, discovery: {timeout: 5m}}",
        'node { kubelet_arguments { name: "a" value: "1" } kubelet_arguments { name: "b" value: "2" } }'
        " timeouts { tls_bootstrap { seconds: 300 } }",
        "v1beta1: maps in order of the names, durations, kubeadm's own header",
    ),
    (
        BETA2,
        "joinConfiguration: {caCertPath: /ca.crt, discovery: {bootstrapToken: {token: abcdef.0123456789abcdef,"
        " apiServerEndpoint: '10.0.0.1:6443', unsafeSkipCAVerification: true}, tlsBootstrapToken: t}}",
        'discovery { token { token { value: "abcdef.0123456789abcdef" } endpoint: "10.0.0.1:6443"'
        ' unsafe_skip_ca_verification: true } tls_bootstrap_token { value: "t" } ca_path: "/ca.crt" }',
        "discovery by token",
    ),
    (
        BETA2,
        "joinConfiguration: {discovery: {file: {kubeConfigPath: /k}}}",
        'discovery { file { path: "/k" } }',
        "discovery by a file that the image has",
    ),
    (
        BETA2,
        "joinConfiguration: {controlPlane: {localAPIEndpoint: {advertiseAddress: '{{ ds.meta_data.local_ipv4 }}',"
        " bindPort: 7443}}, timeouts: {kubeletHealthCheckSeconds: 0, kubernetesAPICallSeconds: 1,"
        " etcdAPICallSeconds: 2, discoverySeconds: 3}}",
        "control_plane { advertise_address { segments { fact { kind: FACT_KIND_PRIVATE_IPV4 } } } bind_port: 7443 }"
        " timeouts { kubelet { } kubernetes_api { seconds: 1 } etcd_api { seconds: 2 } discovery { seconds: 3 } }",
        "a further control plane; timeouts",
    ),
    (
        BETA2,
        """
        clusterConfiguration:
          apiServer:
            extraArgs: [{name: a, value: b}]
            extraVolumes: [{name: v, hostPath: /h, mountPath: /m, readOnly: true, pathType: File}]
            extraEnvs: [{name: E, value: f}]
            certSANs: [x.example.com]
          controllerManager: {extraArgs: [{name: c, value: d}]}
          scheduler: {extraArgs: [{name: e, value: f}]}
          dns: {imageRepository: r.example.com/dns, imageTag: v1}
          etcd:
            local:
              imageRepository: r.example.com/etcd
              imageTag: t
              dataDir: /d
              extraArgs: [{name: g, value: h}]
              serverCertSANs: [s]
              peerCertSANs: [p]
          imageRepository: r.example.com
          featureGates: {F: false}
          certificatesDir: /pki
          certificateValidityPeriodDays: 1
          caCertificateValidityPeriodDays: 2
          encryptionAlgorithm: ECDSA-P384
        """,
        """
        control_plane {
          api_server {
            arguments { name: "a" value: "b" }
            volumes { name: "v" host_path: "/h" mount_path: "/m" read_only: true path_type: "File" }
            environment { name: "E" value: "f" }
          }
          controller_manager { arguments { name: "c" value: "d" } }
          scheduler { arguments { name: "e" value: "f" } }
          api_server_sans: "x.example.com"
          dns { image_repository: "r.example.com/dns" image_tag: "v1" }
        }
        etcd {
          local {
            image_repository: "r.example.com/etcd" image_tag: "t" data_dir: "/d"
            arguments { name: "g" value: "h" } server_sans: "s" peer_sans: "p"
          }
        }
        images { repository: "r.example.com" }
        feature_gates { name: "F" enabled: false }
        certificates {
          directory: "/pki" validity { seconds: 86400 } ca_validity { seconds: 172800 }
          key_algorithm: KEY_ALGORITHM_ECDSA_P384
        }
        """,
        "everything of clusterConfiguration",
    ),
    (
        BETA2,
        "clusterConfiguration: {etcd: {external: {endpoints: ['https://e:2379'], caFile: /ca, certFile: /c, keyFile: /k}}}",
        'etcd { external { endpoints: "https://e:2379" ca_file: "/ca" cert_file: "/c" key_file: "/k" } }',
        "external etcd",
    ),
    (
        BETA1,
        "initConfiguration: {bootstrapTokens: [{token: abcdef.0123456789abcdef, ttl: 1h, description: d, usages: [signing],"
        " groups: ['system:bootstrappers:x']}, {token: abcdef.0123456789abcdeg, expires: '2030-01-01T00:00:00Z'}]}",
        'bootstrap_tokens { token { value: "abcdef.0123456789abcdef" } description: "d" ttl { seconds: 3600 }'
        ' usages: "signing" groups: "system:bootstrappers:x" }'
        ' bootstrap_tokens { token { value: "abcdef.0123456789abcdeg" } expire_time { seconds: 1893456000 } }',
        "tokens of the first machine",
    ),
]


@pytest.mark.parametrize(("version", "spec", "wanted", "reason"), KUBERNETES, ids=[case[3] for case in KUBERNETES])
def test_kubernetes_items(version: str, spec: str, wanted: str, reason: str) -> None:
    """Each field for kubeadm becomes the neutral setting."""
    got = without_origins(carried(spec, version=version, role=clusterpb.ROLE_CONTROL_PLANE).spec.kubernetes)
    assert got == text_format.Parse(wanted, kubernetespb.Kubernetes()), reason


def test_a_layout_beside_a_disk_layout_of_v1beta1_gives_way() -> None:
    """v1beta1 demands layout; the conversion lets diskLayout win."""
    spec = "diskSetup: {partitions: [{device: /dev/sdb, layout: true, diskLayout: [{percentage: 9}]}]}"
    assert [part.percentage for part in carried(spec, version=BETA1).spec.os.disks[0].partitions] == [9]


def test_null_means_unset() -> None:
    """As in Go a null field is none at all; under an unknown name it is still a mistake."""
    assert not carried("files: null\nusers:\nntp: ~\nverbosity: 1").spec.HasField("os")
    with pytest.raises(SourceError, match="unknown field; did you mean files"):
        carried("filse: null")


def test_options_of_kubeadm_alone() -> None:
    """What only kubeadm knows is kept apart."""
    got = carried(
        """
        verbosity: 4
        joinConfiguration:
          skipPhases: [a]
          patches: {directory: /p}
          nodeRegistration: {ignorePreflightErrors: [Swap]}
        """
    ).spec.engine_options.kubeadm
    assert without_origins(got) == text_format.Parse(
        'verbosity: 4 skipped_phases: "a" patches_directory: "/p" ignored_preflight_errors: "Swap"', type(got)()
    )


def test_a_control_plane_differs_by_role() -> None:
    """Its init half is for the first machine, its join half for those that join, the rest for both."""
    spec = carried(
        """
        clusterConfiguration: {imageRepository: r}
        initConfiguration: {nodeRegistration: {name: a}, skipPhases: [p]}
        joinConfiguration: {nodeRegistration: {name: b}}
        """,
        kind="KubeadmControlPlane",
    ).spec
    assert spec.kubernetes.images.repository == "r"
    assert not spec.kubernetes.HasField("node")
    assert (spec.init.kubernetes.node.name.value, spec.join.kubernetes.node.name.value) == ("a", "b")
    assert spec.init.engine_options.kubeadm.skipped_phases == ["p"]
    assert not spec.join.HasField("engine_options")


def test_timeouts_of_v1beta1_count_for_both_halves() -> None:
    """TimeoutForControlPlane moves to init and join, as in Cluster API's conversion, and keeps its place."""
    spec = "clusterConfiguration: {apiServer: {timeoutForControlPlane: 2m}}\ninitConfiguration: {skipPhases: [x]}"
    got = carried(spec, version=BETA1, kind="KubeadmControlPlane").spec
    assert got.init.kubernetes.timeouts.control_plane_component.seconds == 120
    assert got.join.kubernetes.timeouts.control_plane_component.seconds == 120


GATES = [
    ("v1.30.9", []),
    ("v1.31.0-rc.1", [("ControlPlaneKubeletLocalMode", True)]),
    ("v1.35.2", [("ControlPlaneKubeletLocalMode", True)]),
    ("v1.36.0", []),
]


@pytest.mark.parametrize(("version", "gates"), GATES)
def test_control_planes_get_the_feature_gate(version: str, gates: list[tuple[str, bool]]) -> None:
    """KubeadmControlPlane's own edit is applied for 1.31 to 1.35."""
    got = carried(
        "clusterConfiguration: {imageRepository: r}", kind="KubeadmControlPlane", control_plane_version=version
    )
    assert [(gate.name, gate.enabled) for gate in got.spec.kubernetes.feature_gates] == gates
    assert ("FEATURE_GATE_ADDED" in codes(got)) == bool(gates)
    assert list(got.spec.optional_features) == (["kubernetes.feature_gates"] if gates else [])
    assert not carried("files: []", control_plane_version=version).spec.kubernetes.feature_gates


def test_a_gate_that_is_set_is_left() -> None:
    """The user's own value wins."""
    spec = "clusterConfiguration: {featureGates: {ControlPlaneKubeletLocalMode: false}}"
    got = carried(spec, kind="KubeadmControlPlane").spec.kubernetes.feature_gates
    assert [(gate.name, gate.enabled) for gate in got] == [("ControlPlaneKubeletLocalMode", False)]


POLICIES = [
    ("", planpb.FAILURE_POLICY_CONTINUE, "cloud-config"),
    ("format: cloud-config", planpb.FAILURE_POLICY_CONTINUE, "cloud-config"),
    (IGNITION, planpb.FAILURE_POLICY_STOP, "ignition"),
]


@pytest.mark.parametrize(("spec", "policy", "name"), POLICIES)
def test_the_semantics_of_the_format_are_kept(spec: str, policy: planpb.FailurePolicy.ValueType, name: str) -> None:
    """A failing command stops an ignition machine and no other; the sentinel follows kubeadm; paths stay."""
    got = carried(spec + "\nverbosity: 1").spec
    assert {got.execution.on_pre_failure, got.execution.on_bootstrap_failure, got.execution.on_post_failure} == {policy}
    assert got.execution.sentinel == planpb.SENTINEL_TIME_AFTER_BOOTSTRAP
    assert got.execution.layout == planpb.LAYOUT_KUBEADM_PROVIDER
    assert (got.imported.format, got.imported.kind) == (name, "KubeadmConfig")


def test_commands_keep_their_phases_and_facts() -> None:
    """Commands become scripts of their phase, each with its place."""
    got = carried(
        """
        bootCommands: [b]
        preKubeadmCommands: ["hostnamectl set-hostname '{{ local_hostname }}'", "echo ${X}"]
        postKubeadmCommands: [c]
        """
    ).spec.commands
    assert (got.boot[0].script.text, got.post[0].script.text, got.pre[1].script.text) == ("b", "c", "echo ${X}")
    assert [segment.WhichOneof("value") for segment in got.pre[0].script.segments] == ["text", "fact", "text"]
    assert got.pre[1].origin.path == "spec.preKubeadmCommands[1]"
    assert got.pre[1].interpreter == planpb.INTERPRETER_SH
    assert not got.pre[0].HasField("retry_on_boot")


TOGETHER = [
    (["export A=1", "echo $A"], 1, "an export lasts"),
    (["echo a", "cd /tmp", "tar x"], 2, "from the first on that leaves something"),
    (["A=$(date)", "echo $A"], 1, "an assignment"),
    (["for x in 1; do", "echo $x", "done"], 1, "a loop over several commands"),
    (["A=1 echo a", "echo b && mkdir -p /x", "for s in $(ls); do $s; done"], 3, "nothing is left behind"),
    (["echo a", ""], 1, "an empty command does nothing"),
]


@pytest.mark.parametrize(("commands", "count", "reason"), TOGETHER)
def test_commands_that_share_a_shell_stay_together(commands: list[str], count: int, reason: str) -> None:
    """Today all commands of a phase run in one shell; what depends on that still works."""
    got = carried(f"preKubeadmCommands: {commands!r}").spec.commands.pre
    assert len(got) == count, reason


def test_ignition_commands_stop_at_a_failure_and_are_tried_again() -> None:
    """A script of several commands keeps `set -e`, and the next boot repeats what failed."""
    got = carried(IGNITION + "preKubeadmCommands: ['export A=1', 'false', 'echo $A']").spec.commands.pre
    assert [command.script.text for command in got] == ["set -e\nexport A=1\nfalse\necho $A\n"]
    assert got[0].retry_on_boot


def test_windows_commands_are_for_cmd() -> None:
    """Paths of Windows tell the system, and its commands are the command processor's."""
    got = carried("files: [{path: 'C:\\k\\a.txt', content: x}]\npreKubeadmCommands: ['set A=1', 'echo %A%']")
    assert got.spec.target.os_family == clusterpb.OS_FAMILY_WINDOWS
    assert [command.interpreter for command in got.spec.commands.pre] == [planpb.INTERPRETER_CMD] * 2
    assert codes(got) == ["WINDOWS"]


FILLED = """
    format: ignition
    preKubeadmCommands:
    - envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp
    - mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml
    - echo done
    joinConfiguration: {nodeRegistration: {name: NAME}}
"""


@pytest.mark.parametrize(("lock", "code"), [("true", ["LOCK_HONOURED"]), ("false", ["SSH_LEFT_ALONE"])])
def test_what_ignition_does_about_passwords_is_told(lock: str, code: list[str]) -> None:
    """Today a lock has no effect there, and its absence opens the SSH server: neither is done here, nor in silence."""
    got = carried(f"format: ignition\nusers: [{{name: u, passwd: p, lockPassword: {lock}}}]")
    assert codes(got) == code
    assert codes(carried(f"users: [{{name: u, passwd: p, lockPassword: {lock}}}]")) == ["DEFAULT_USER_OMITTED"]


def test_names_that_envsubst_fills_in_are_facts() -> None:
    """The idiom becomes a fact, and its commands go."""
    got = carried(FILLED.replace("NAME", "'${COREOS_EC2_HOSTNAME}'"))
    assert [segment.fact.kind for segment in got.spec.kubernetes.node.name.segments] == [1]
    assert [command.script.text for command in got.spec.commands.pre] == ["echo done"]
    assert codes(got) == ["MACHINE_FACT", "MACHINE_FACT"]
    assert not got.spec.imported.bound_by


def test_what_means_no_fact_binds_the_config() -> None:
    """With one variable that nobody knows all stays as it is, and only the own format can be rendered."""
    got = carried(FILLED.replace("NAME", "'${MY_NAME}-${COREOS_EC2_HOSTNAME}'"))
    (segment,) = got.spec.kubernetes.node.name.segments
    assert segment.text == "${MY_NAME}-${COREOS_EC2_HOSTNAME}"
    assert len(got.spec.commands.pre) == 3
    assert [origin.path for origin in got.spec.imported.bound_by] == [
        "spec.preKubeadmCommands[0]",
        "spec.preKubeadmCommands[1]",
    ]


def test_the_snippet_joins_the_items() -> None:
    """Items of additionalConfig stand beside the config's own; a file of the same path is replaced, keys are added."""
    spec = """
    format: ignition
    files: [{path: /a, content: old}]
    users: [{name: core, sshAuthorizedKeys: [one]}]
    ignition:
      containerLinuxConfig:
        additionalConfig: |
          storage:
            files: [{filesystem: root, path: /a, mode: 0755, contents: {inline: new}}]
            directories: [{filesystem: root, path: /d, user: {name: u}}]
            links: [{filesystem: root, path: /l, target: /a}]
          systemd:
            units: [{name: kubeadm.service, enabled: true, dropins: [{name: 10-x.conf, contents: '[Service]'}]}]
          passwd:
            users: [{name: core, ssh_authorized_keys: [two], groups: [docker]}]
            groups: [{name: g}]
    """
    got = carried(spec).spec.os
    assert without_origins(got) == text_format.Parse(
        """
        files { path: "/a" content { text: "new" } mode: 493 }
        directories { path: "/d" owner: "u" }
        links { path: "/l" target: "/a" }
        groups { name: "g" }
        users { name: "core" groups: "docker" ssh_authorized_keys: "one" ssh_authorized_keys: "two" }
        systemd_units {
          name: "kubeadm.service" enabled: true drop_ins { name: "10-x.conf" contents: "[Service]" }
        }
        """,
        type(got)(),
    )
    assert got.systemd_units[0].origin.path == ("spec.ignition.containerLinuxConfig.additionalConfig: systemd.units[0]")
    assert got.users[0].origin.path == "spec.users[0]"


def test_a_kubeconfig_is_written_for_discovery() -> None:
    """Server and CA come from the cluster; the CA is spliced in where it belongs."""
    spec = """
    joinConfiguration:
      discovery:
        file:
          kubeConfigPath: /k
          kubeConfig: {user: {exec: {command: aws, args: [token], env: [{name: A, value: b}]}}}
    """
    cluster = clusterpb.Cluster(endpoint=clusterpb.Endpoint(host="fd00::1"))
    before, authority, after = carried(spec, cluster=cluster).spec.kubernetes.discovery.file.kubeconfig.segments
    assert before.text.endswith("certificate-authority-data: ")
    assert (authority.secret_ref.name, authority.secret_ref.key) == ("slipway.dev/cluster-ca", "tls.crt")
    assert after.text.startswith("\n    server: https://[fd00::1]:6443\n")
    assert "apiVersion: client.authentication.k8s.io/v1" in after.text
    assert "interactiveMode: Never" in after.text


def test_secrets_that_are_changed_first_are_secrets_of_their_own() -> None:
    """An encoded value is decoded without ever becoming a literal."""
    spec = "files: [{path: /a, encoding: base64, contentFrom: {secret: {name: s, key: k}}}]"
    got = carried(spec, secrets={("s", "k"): b"aGVsbG8="})
    reference = got.spec.os.files[0].content.secret_ref
    assert [(each.name, each.key, each.value) for each in got.secrets] == [("s", reference.key, b"hello")]
    assert reference.key != "k"


def test_a_first_look_needs_no_secret() -> None:
    """With placeholders to come, an encoded Secret that nobody knows is only referred to."""
    spec = "files: [{path: /a, encoding: base64, contentFrom: {secret: {name: s, key: k}}}]"
    assert carried(spec, set_missing=True).spec.os.files[0].content.secret_ref.key == "k"


def test_templates_are_rendered() -> None:
    """ContentFormat Template becomes the text, for content and for Secrets."""
    spec = """
    files:
    - {path: /a, contentFormat: Template, content: 'v={{ .controlPlane.version }}'}
    - {path: /b, contentFormat: Template, contentFrom: {secret: {name: s, key: k}}}
    - {path: /c, contentFormat: Raw, content: x}
    """
    got = carried(spec, control_plane_version="v1.34.0", secrets={("s", "k"): b"{{ .controlPlane.version }}"})
    assert (got.spec.os.files[0].content.text, got.secrets[0].value) == ("v=v1.34.0", b"v1.34.0")


REMARKS = [
    (BETA1, "useExperimentalRetryJoin: true", ["NO_EFFECT"], "removed long ago"),
    (BETA1, "clusterConfiguration: {kubernetesVersion: v1.2.3, clusterName: c, networking: {podSubnet: 10.0.0.0/8}}",
     ["NO_EFFECT"] * 3, "taken from the Cluster since v1.11"),
    (BETA2, "users: [{name: u}]", ["DEFAULT_USER_OMITTED"], "as today"),
    (BETA2, "files: [{path: /a, content: '${#a[@]}'}]", ["NOT_JINJA"], "cloud-init would give up"),
    (BETA2, IGNITION + "files: [{path: /a, content: x, append: true}]", ["APPEND_HONOURED"], "silently ignored today"),
    (BETA2, IGNITION + "files: [{path: /a, permissions: '644'}]", ["PERMISSIONS_OCTAL"], "decimal today"),
    (BETA2, IGNITION + "ntp: {enabled: false}", ["NTP_HONOURED"], "treated as enabled today"),
    (BETA2, IGNITION + "diskSetup: {partitions: [{device: /dev/sdb, layout: false}]}", ["LAYOUT_HONOURED"], "partitioned today"),
    (BETA2, IGNITION + "diskSetup: {partitions: [{device: /dev/sdb, diskLayout: [{percentage: 9}]}]}",
     ["DISK_LAYOUT_HONOURED"], "ignored today"),
    (BETA2, IGNITION + "mounts: [[LABEL=x, /x]]", ["MOUNT_HONOURED"], "an empty What= today"),
    (BETA2, IGNITION + "users: [{name: u, sshAuthorizedKeys: ['', k]}]", ["EMPTY_KEY"], "an optional key"),
    (BETA2, "preKubeadmCommands: ['cd /x', ls]", ["COMMANDS_TOGETHER"], "one script"),
]  # fmt: skip


@pytest.mark.parametrize(("version", "spec", "wanted", "reason"), REMARKS)
def test_differences_are_told(version: str, spec: str, wanted: list[str], reason: str) -> None:
    """What is understood differently from today's output is a diagnostic with its origin."""
    got = carried(spec, version=version)
    assert codes(got) == wanted, reason
    assert all(diagnostic.origin.path.startswith("spec.") for diagnostic in got.diagnostics)


def test_workers_leave_the_control_plane_out() -> None:
    """As today clusterConfiguration has no effect on a worker; a warning says so."""
    spec = "clusterConfiguration: {imageRepository: r}\njoinConfiguration: {nodeRegistration: {name: node}}"
    got = carried(spec, role=clusterpb.ROLE_WORKER)
    assert not got.spec.kubernetes.HasField("images")
    assert got.spec.kubernetes.node.name.value == "node"
    assert codes(got) == ["NO_EFFECT"]


REFUSED = [
    ("files: [{path: /a, contnet: x}]", "spec.files[0].contnet", "unknown field; did you mean content?"),
    ("files: [{path: /a, permissions: 0644}]", "spec.files[0].permissions", "must be text: put the value in quotes"),
    ("files: [{path: /a, permissions: '0999'}]", "spec.files[0].permissions", "must be octal permission bits"),
    ("files: [{path: /a, permissions: '77777'}]", "spec.files[0].permissions", "must be octal permission bits"),
    ("files: [{path: /a, content: '*', encoding: base64}]", "spec.files[0].content", "not base64"),
    ("files: [{path: /a, content: aGVsbG8=, encoding: gzip+base64}]", "spec.files[0].content", "not gzip"),
    (f"files: [{{path: /a, content: {base64.b64encode(gzip.compress(b'hello', mtime=0)[:-4]).decode()}, encoding: gzip+base64}}]",
     "spec.files[0].content", "not gzip, although encoding says so: the end is missing"),
    (f"files: [{{path: /a, content: {base64.b64encode(gzip.compress(b'0' * 2**21, mtime=0)).decode()}, encoding: gzip+base64}}]",
     "spec.files[0].content", "larger than"),
    ("files: [{path: /a, encoding: base64, contentFrom: {secret: {name: s, key: k}}}]", "spec.files[0].contentFrom", "the Secret's value"),
    ("files: [{path: /a, content: x, contentFrom: {secret: {name: s, key: k}}}]", "spec.files[0]", "only one of content"),
    ("files: [{path: /a}, {path: /b}, {path: /a}]", "spec.files[0].path", "another file has the same path"),
    ("files: [{path: '/{{ region }}'}]", "spec.files[0].path", "a value that only the machine knows"),
    ("files: [{path: /a, contentFormat: Template, content: '{{ range .x }}'}]", "spec.files[0].content", "contentFormat Template: "),
    ("files: [{path: /a, content: '" + "x" * 10241 + "'}]", "spec.files[0].content", "longer than 10240 characters"),
    ("users: [{name: u, passwd: a, passwdFrom: {secret: {name: s, key: k}}}]", "spec.users[0]", "only one of passwd"),
    ("users: [{name: u, sudo: '{{ x | y }}'}]", "spec.users[0].sudo", "a value that only the machine knows"),
    ("diskSetup: {partitions: [{device: /dev/sdb}]}", "spec.diskSetup.partitions[0]", "exactly one of layout"),
    ("diskSetup: {partitions: [{device: /dev/sdb, diskLayout: [{percentage: 60}, {percentage: 60}]}]}",
     "spec.diskSetup.partitions[0].diskLayout", "the percentages"),
    ("diskSetup: {partitions: [{device: /dev/sdb, diskLayout: [{percentage: 6, partitionType: zfs}]}]}",
     "spec.diskSetup.partitions[0].diskLayout[0].partitionType", "must be Linux"),
    ("mounts: [[/dev/sdb]]", "spec.mounts[0]", "a mount needs what and where"),
    ("mounts: [[/dev/sdb, /x, ext4, ro, '0', two]]", "spec.mounts[0][5]", "must be a number"),
    (IGNITION + "mounts: [[nolabel, /x]]", "spec.mounts[0][0]", "no filesystem of diskSetup"),
    ("ignition: {containerLinuxConfig: {additionalConfig: 'storage: {}'}}", "spec.ignition", "needs format: ignition"),
    (IGNITION + "ignition: {containerLinuxConfig: {additionalConfig: 'networkd: {}'}}",
     "spec.ignition.containerLinuxConfig.additionalConfig: networkd", "not understood here"),
    ("format: butane", "spec.format", "must be one of"),
    ("joinConfiguration: {nodeRegistration: {taints: [{key: k, effect: Never}]}}",
     "spec.joinConfiguration.nodeRegistration.taints[0].effect", "must be one of"),
    ("joinConfiguration: {discovery: {bootstrapToken: {}, file: {kubeConfigPath: /k}}}",
     "spec.joinConfiguration.discovery", "only one of bootstrapToken"),
    ("joinConfiguration: {discovery: {file: {kubeConfigPath: /k, kubeConfig: {user: {exec: {command: a}}}}}}",
     "spec.joinConfiguration.discovery.file.kubeConfig.cluster.server", "required, since"),
    ("joinConfiguration: {discovery: {file: {kubeConfigPath: /k, kubeConfig: {cluster: {server: 'https://x'}, user: {}}}}}",
     "spec.joinConfiguration.discovery.file.kubeConfig.user", "needs authProvider or exec"),
    ("clusterConfiguration: {apiServer: {extraEnvs: [{name: A, valueFrom: {fieldRef: {fieldPath: x}}}]}}",
     "spec.clusterConfiguration.apiServer.extraEnvs[0].valueFrom", "only a value in place"),
    ("clusterConfiguration: {apiServer: {certSANs: ['{{ local_hostname }}']}}",
     "spec.clusterConfiguration.apiServer.certSANs[0]", "a value that only the machine knows"),
    ("clusterConfiguration: {etcd: {local: {}, external: {endpoints: [a], caFile: b, certFile: c, keyFile: d}}}",
     "spec.clusterConfiguration.etcd", "only one of local"),
    ("initConfiguration: {bootstrapTokens: [{token: hunter2}]}",
     "spec.initConfiguration.bootstrapTokens[0].token", "not a bootstrap token"),
    ("clusterConfiguration: {controlPlaneEndpoint: 'http://x/y'}",
     "spec.clusterConfiguration.controlPlaneEndpoint", "must be a host"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "path", "message"), REFUSED, ids=[case[0][:60] for case in REFUSED])
def test_what_cannot_be_carried_over_is_refused(spec: str, path: str, message: str) -> None:
    """Every refusal names the field, with file, line and column, and no value."""
    with pytest.raises(SourceError) as caught:
        import_kubeadm_config(document(spec), file="f.yaml")
    problem = caught.value.problems[0]
    assert (problem.file, problem.path) == ("f.yaml", path)
    assert problem.message.startswith(message)
    assert problem.position is not None
    assert problem.position.line > 4
    assert not any(secret in str(caught.value) for secret in ("hunter2", "butane", "zfs", "0999"))


def test_a_worker_with_a_control_plane_is_refused() -> None:
    """joinConfiguration.controlPlane contradicts the role."""
    with pytest.raises(SourceError, match=r"joinConfiguration.controlPlane: must not be set"):
        carried("joinConfiguration: {controlPlane: {}}", role=clusterpb.ROLE_WORKER)


def test_places_of_v1beta1_are_those_of_the_document() -> None:
    """What the conversion moves is still named where the user wrote it."""
    spec = "joinConfiguration:\n  nodeRegistration:\n    kubeletExtraArgs:\n      b: '{{ x'\n      a: '1'"
    got = carried(spec, version=BETA1)
    assert [diagnostic.origin.path for diagnostic in got.diagnostics] == [
        "spec.joinConfiguration.nodeRegistration.kubeletExtraArgs.b"
    ]


def test_the_endpoint_of_kubeadm_is_a_fact_of_the_cluster() -> None:
    """clusterConfiguration.controlPlaneEndpoint is told apart from the spec."""
    got = carried("clusterConfiguration: {controlPlaneEndpoint: '[fd00::1]:7443'}").cluster.endpoint
    assert (got.host, got.port) == ("fd00::1", 7443)


DOCUMENTS = [
    (b"\xff", "not text in UTF-8"),
    (b"", "must hold exactly one document"),
    (b"apiVersion: v1\nkind: Secret\n", "must be one of KubeadmConfig, KubeadmConfigTemplate"),
    (b"kind: KubeadmConfig\n", "required"),
    (b"apiVersion: bootstrap.cluster.x-k8s.io/v1alpha4\nkind: KubeadmConfig\n", "only v1beta1 and v1beta2"),
    (b"- a\n", "must be a mapping of fields"),
]


@pytest.mark.parametrize(("content", "message"), DOCUMENTS)
def test_other_documents_are_refused(content: bytes, message: str) -> None:
    """Only the four kinds in the two versions can be read; the contract's error names the fields."""
    with pytest.raises(SourceError, match=message) as caught:
        import_kubeadm_config(content)
    error = import_invalid(caught.value)
    assert error.reason == "IMPORT_INVALID"
    assert error.violations


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["a", "", "/x", "{{ x", "${y}", "ignition", "base64"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "files",
                    "path",
                    "content",
                    "encoding",
                    "users",
                    "name",
                    "mounts",
                    "diskSetup",
                    "partitions",
                    "device",
                    "layout",
                    "format",
                    "ntp",
                    "joinConfiguration",
                    "initConfiguration",
                    "clusterConfiguration",
                    "nodeRegistration",
                    "kubeletExtraArgs",
                    "discovery",
                    "value",
                    "extra",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(st.sampled_from(["files", "users", "mounts", "joinConfiguration", "format", "x"]), TREES),
    st.sampled_from([BETA1, BETA2]),
)
def test_any_tree_is_carried_over_or_refused(tree: dict[str, object], version: str) -> None:
    """No config leads to anything but a result or a SourceError whose problems have places."""
    text = json.dumps({"apiVersion": f"bootstrap.cluster.x-k8s.io/{version}", "kind": "KubeadmConfig", "spec": tree})
    problems: tuple[SourceProblem, ...] = ()
    try:
        import_kubeadm_config(text)
    except SourceError as error:
        problems = error.problems
    assert all(problem.position and problem.path.startswith("spec") for problem in problems)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_content_arrives_character_for_character(text: str) -> None:
    """Whatever stands in a file of an ignition config is the file's text."""
    import json

    tree = {
        "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2",
        "kind": "KubeadmConfig",
        "spec": {"format": "ignition", "files": [{"path": "/a", "content": text}]},
    }
    escaped = json.dumps(tree, ensure_ascii=False).translate(
        {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)}
    )
    assert import_kubeadm_config(escaped).spec.os.files[0].content.text == text
