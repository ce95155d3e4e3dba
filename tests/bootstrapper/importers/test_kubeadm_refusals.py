"""What has no neutral meaning is refused with its place, and nothing ends otherwise."""

# ruff: noqa: E501  # the tables read best with one case a line

import base64
import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.importers.lone_config import import_invalid, import_kubeadm_config
from slipway.contract.source_position import SourceError, SourceProblem
from tests.bootstrapper.importers.carrying import (
    BETA1,
    BETA2,
    IGNITION,
    document,
)

OF_THE_MACHINE = "a value that only the machine knows cannot be carried over here; "
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
    ("joinConfiguration: {patches: {directory: '/run/{{ x }}'}}",
     "spec.joinConfiguration.patches.directory", f"{OF_THE_MACHINE}write the value itself"),
    ("files: [{path: /a, contentFormat: Template, content: '{{ range .x }}'}]", "spec.files[0].content", "contentFormat Template: "),
    ("files: [{path: /a, content: '" + "x" * 10241 + "'}]", "spec.files[0].content", "longer than 10240 characters"),
    ("users: [{name: u, passwd: a, passwdFrom: {secret: {name: s, key: k}}}]", "spec.users[0]", "only one of passwd"),
    ("diskSetup: {partitions: [{device: /dev/sdb}]}", "spec.diskSetup.partitions[0]", "exactly one of layout"),
    ("diskSetup: {partitions: [{device: /dev/sdb, diskLayout: [{percentage: 60}, {percentage: 60}]}]}",
     "spec.diskSetup.partitions[0].diskLayout", "the percentages"),
    ("diskSetup: {partitions: [{device: /dev/sdb, diskLayout: [{percentage: 6, partitionType: zfs}]}]}",
     "spec.diskSetup.partitions[0].diskLayout[0].partitionType", "must be Linux"),
    ("mounts: [[/dev/sdb, /x, ext4, ro, '0', two]]", "spec.mounts[0][5]", "must be a number"),
    (IGNITION + "mounts: [[ephemeral0]]", "spec.mounts[0]",
     "a mount needs what and where; that the image's own is left out is not carried over: have a command of preKubeadmCommands"),
    (IGNITION + "mounts: [[nolabel, /x]]", "spec.mounts[0][0]", "no filesystem of diskSetup"),
    ("ignition: {containerLinuxConfig: {additionalConfig: 'storage: {}'}}", "spec.ignition", "needs format: ignition"),
    (IGNITION + "ignition: {containerLinuxConfig: {additionalConfig: 'flannel: {}'}}",
     "spec.ignition.containerLinuxConfig.additionalConfig: flannel", "not understood here"),
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
    ("clusterConfiguration: {certificatesDir: '/{{ local_hostname }}'}",
     "spec.clusterConfiguration.certificatesDir", "a value that only the machine knows"),
    ("clusterConfiguration: {etcd: {local: {}, external: {endpoints: [a], caFile: b, certFile: c, keyFile: d}}}",
     "spec.clusterConfiguration.etcd", "only one of local"),
    ("initConfiguration: {bootstrapTokens: [{token: hunter2}]}",
     "spec.initConfiguration.bootstrapTokens[0].token", "not a bootstrap token"),
    ("clusterConfiguration: {controlPlaneEndpoint: 'http://x/y'}",
     "spec.clusterConfiguration.controlPlaneEndpoint", "must be a host"),
    ("joinConfiguration: {timeouts: {kubernetesAPICallSeconds: 0}}",
     "spec.joinConfiguration.timeouts.kubernetesAPICallSeconds", "must be at least one second"),
    ("joinConfiguration: {nodeRegistration: {kubeletExtraArgs: {v: '2'}}}",
     "spec.joinConfiguration.nodeRegistration.kubeletExtraArgs", "is a map, the form of v1beta1"),
    ("clusterConfiguration: {apiServer: {extraArgs: {v: '2'}}}",
     "spec.clusterConfiguration.apiServer.extraArgs", "is a map, the form of v1beta1"),
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


OLD = [
    ("clusterConfiguration: {apiServer: {timeoutForControlPlane: 0s}}",
     "spec.clusterConfiguration.apiServer.timeoutForControlPlane", "must be at least one second"),
    ("joinConfiguration: {discovery: {timeout: 900ms}}", "spec.joinConfiguration.discovery.timeout", "must be at least one second"),
    ("joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: v, value: '2'}]}}",
     "spec.joinConfiguration.nodeRegistration.kubeletExtraArgs", "is a list, the form of v1beta2"),
    ("clusterConfiguration: {etcd: {local: {extraArgs: [{name: v, value: '2'}]}}}",
     "spec.clusterConfiguration.etcd.local.extraArgs", "is a list, the form of v1beta2"),
    ("joinConfiguration: {nodeRegistration: {kubeletExtraArgs: {v: " + "hunter2" * 200 + "}}}",
     "spec.joinConfiguration.nodeRegistration.kubeletExtraArgs.v", "longer than 1024 characters"),
    ("joinConfiguration: {nodeRegistration: {kubeletExtraArgs: {'': a}}}",
     "spec.joinConfiguration.nodeRegistration.kubeletExtraArgs[]", "must not be empty"),
    ("clusterConfiguration: {apiServer: {extraArgs: {" + ", ".join(f"a{number}: b" for number in range(101)) + "}}}",
     "spec.clusterConfiguration.apiServer.extraArgs", "more than 100 entries"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "path", "message"), OLD, ids=[case[0][:60] for case in OLD])
def test_what_v1beta1_says_is_refused_where_it_was_written(spec: str, path: str, message: str) -> None:
    """Also of what stands elsewhere in v1beta2, or in another form."""
    with pytest.raises(SourceError) as caught:
        import_kubeadm_config(document(spec, version=BETA1), file="f.yaml")
    assert {(problem.path, problem.message.startswith(message)) for problem in caught.value.problems} == {(path, True)}


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
