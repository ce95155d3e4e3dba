"""Documents of Kubernetes' kinds in a spec: refused by field and line where the program that reads them would end."""

import pytest
import yaml

from slipway.bootstrapper.assembly.subject import check
from slipway.contract.errors import SpecInvalid
from slipway.contract.yaml_decode import fill
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb

KEY = "c2VjcmV0LWNhbmFyeQ=="
AUDIT = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: {level}\n"
ENCRYPTION = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
ADMISSION = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- {name: a}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a, image: b}]\n"
KUBECONFIG = "clusters: [{name: a, cluster: {server: 'https://a'}}]\n"
GOOD_ENCRYPTION = f"{ENCRYPTION}- resources: [secrets]\n  providers: [{{identity: {{}}}}]\n"


def component(text: str, argument: str, kind: str = "api-server") -> dict[str, object]:
    """Give a spec with a file of a component."""
    file = {"name": "a", "component": kind, "argument": argument, "content": {"text": text}}
    return {"kubernetes": {"controlPlane": {"files": [file]}}}


def audit(text: str) -> dict[str, object]:
    """Give a spec with an audit policy."""
    return {"kubernetes": {"controlPlane": {"audit": {"policy": {"text": text}}}}}


def encryption(text: str) -> dict[str, object]:
    """Give a spec with an encryption configuration."""
    return {"kubernetes": {"controlPlane": {"encryption": {"configuration": {"text": text}}}}}


def webhook(text: str) -> dict[str, object]:
    """Give a spec with the kubeconfig of a webhook."""
    return {"kubernetes": {"controlPlane": {"authenticationWebhook": {"kubeconfig": {"text": text}}}}}


def static_pod(text: str) -> dict[str, object]:
    """Give a spec with a static pod."""
    return {"kubernetes": {"staticPods": [{"name": "a", "manifest": {"text": text}}]}}


def kubelet(text: str) -> dict[str, object]:
    """Give a spec with a kubelet configuration."""
    return {"kubernetes": {"node": {"kubeletConfiguration": {"text": text}}}}


def patch(name: str, text: str) -> dict[str, object]:
    """Give a spec with a patch of kubeadm's."""
    return {"engineOptions": {"kubeadm": {"patches": [{"name": name, "content": {"text": text}}]}}}


def patch_file(name: str, text: str) -> dict[str, object]:
    """Give a spec with a file in the folder that kubeadm reads patches from."""
    options = {"kubeadm": {"patchesDirectory": "/etc/kubernetes/patches"}}
    return {**file(f"/etc/kubernetes/patches/{name}", text), "engineOptions": options}


def file(path: str, text: str, **kubernetes: object) -> dict[str, object]:
    """Give a spec with a file, and what refers to it."""
    return {"os": {"files": [{"path": path, "content": {"text": text}}]}, "kubernetes": kubernetes}


NAMED = {
    "controlPlane": {
        "apiServer": {
            "arguments": [{"name": "audit-policy-file", "value": "/in/policy.yaml"}],
            "volumes": [{"name": "a", "hostPath": "/etc/out", "mountPath": "/in"}],
        }
    }
}
PLANE = "spec.kubernetes.controlPlane"
PRIORITY = "spec: {priority: 5}\n"
WRONG = [
    (patch("kube-apiserver.yaml", f"{PRIORITY}---\nspec: {{prio: 5}}"), "", "line 3: spec.prio: is no field"),
    (patch_file("kube-apiserver.yaml", f"{PRIORITY}---\n- a"), "", "must be documents of kind Pod"),
    (audit(AUDIT.format(level="All")), f"{PLANE}.audit.policy", "line 4: rules[0].level: must be one of None"),
    (audit(AUDIT.format(level="None\n  levle: x")), f"{PLANE}.audit.policy", "line 5: rules[0].levle: is no field"),
    (
        audit("apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: None}]"),
        "",
        "line 1: apiVersion: must be",
    ),
    (audit(POD), "", "line 2: kind: must be Policy"),
    (audit("- a"), "", "must be one document of kind Policy"),
    (audit("a: 'b"), "", "not YAML"),
    (audit(f"{AUDIT.format(level='None')}---\n{AUDIT.format(level='None')}"), "", "must be one document"),
    (
        encryption(
            f"{ENCRYPTION}- resources: [secrets]\n  providers:\n  - aescbc: {{keys: [{{nam: k, secret: {KEY}}}]}}"
        ),
        f"{PLANE}.encryption.configuration",
        "line 6: resources[0].providers[0].aescbc.keys[0].nam: is no field of this Kubernetes version; did you mean na",
    ),
    (
        encryption(f"{ENCRYPTION}- resources: [secrets]\n  providers: [{{aescbc: {KEY}}}]"),
        f"{PLANE}.encryption.configuration",
        "resources[0].providers[0].aescbc: must be a mapping",
    ),
    (encryption(f"{ENCRYPTION}- resources: [secrets]"), "", "resources[0].providers: is required"),
    (encryption(f"{ENCRYPTION}- {{resources: [a], providers: [{{}}]}}"), "", "must have exactly one provider"),
    (
        webhook(f"apiVersion: v1\nkind: Confg\n{KUBECONFIG}"),
        f"{PLANE}.authenticationWebhook.kubeconfig",
        "kind: must be",
    ),
    (
        webhook(f"{KUBECONFIG}users: [{{name: a, user: {{tokn: {KEY}}}}}]"),
        "",
        "line 2: users[0].user.tokn: is no field",
    ),
    (webhook("clusters: [{name: a, cluster: {}}]"), "", "clusters[0].cluster.server: is required"),
    (component(AUDIT, "admission-control-config-file"), f"{PLANE}.files[0].content", "kind: must be Admission"),
    (component(f"{ADMISSION}- {{}}", "admission-control-config-file"), "", "plugins[1].name: is required"),
    (component("kind: X", "kubeconfig", "scheduler"), "", "kind: must be Config"),
    (static_pod(POD.replace("image", "imag")), "spec.kubernetes.staticPods[0].manifest", "containers[0].imag: is no"),
    (static_pod(POD.replace(", image: b", "")), "", "line 5: spec.containers[0].image: is required"),
    (static_pod(f"{POD}  hostNetwork: 'yes'\n"), "", "line 6: spec.hostNetwork: must be true or false"),
    (kubelet("maxPods: '9'"), "spec.kubernetes.node.kubeletConfiguration", "line 1: maxPods: must be an integer"),
    (kubelet("evictionHard: {a: 5}"), "", "evictionHard.a: must be text"),
    (kubelet("maxPods: -5"), "", "line 1: maxPods: must be at least 0"),
    (patch("kubeletconfiguration.yaml", "clusterDNS: [foo]"), "", "clusterDNS[0]: must be an IP address"),
    (
        patch("kube-apiserver0+merge.yaml", "spec: {contaners: []}"),
        "spec.engineOptions.kubeadm.patches[0].content",
        "conta",
    ),
    (patch("kubeletconfiguration.yaml", "maxPod: 5"), "", "maxPod: is no field"),
    (patch_file("kubeletconfiguration0+strategic.yaml", "maxPods: {"), "spec.os.files[0].content", "not YAML"),
    (
        patch_file("kube-apiserver.json", '{"spec": {"contaners": []}}'),
        "spec.os.files[0].content",
        "contaners: is no field",
    ),
    (file("/etc/kubernetes/manifests/a.yaml", "kind: Pod"), "spec.os.files[0].content", "apiVersion: must be v1"),
    (file("/etc/out/policy.yaml", AUDIT.format(level="x"), **NAMED), "spec.os.files[0].content", "rules[0].level"),
]
RIGHT = [
    (patch("kube-apiserver0.yaml", f"{PRIORITY}---\nspec: {{hostname: a}}\n"), "patches one after the other"),
    (patch_file("kube-apiserver0+merge.yaml", f"---\n{PRIORITY}---\n---\n{PRIORITY}---\n"), "and parts without one"),
    (patch("etcd.yaml", "# nothing\n"), "a patch of nothing"),
    (patch_file("etcd.json", "\n"), "an empty file of patches"),
    (audit(AUDIT.format(level="Metadata")), "a policy"),
    (encryption(GOOD_ENCRYPTION), "an encryption configuration"),
    (webhook(KUBECONFIG), "a kubeconfig may leave out its kind"),
    (component(ADMISSION, "admission-control-config-file"), "an admission configuration"),
    (component("anything", "oidc-ca-file"), "a file of no kind"),
    (static_pod(POD), "a pod"),
    (kubelet("maxPods: 9"), "a part of a configuration"),
    (patch("kube-apiserver.yaml", "spec: {$patch: merge, priority: 5}"), "a directive"),
    (patch("kube-apiserver+json.yaml", "[{op: remove, path: /a}]"), "a patch by operations"),
    (patch("corednsdeployment.yaml", "spec: {a: b}"), "a target of no known kind"),
    (patch_file("kubeletconfiguration.yaml", "maxPods: 5"), "a patch in kubeadm's folder"),
    (patch_file("readme.yaml", "a: b"), "a file in kubeadm's folder that is no patch"),
    (file("/etc/kubernetes/manifests/.a.yaml", "x: y"), "a file that the kubelet ignores"),
    (file("/etc/kubernetes/other.yaml", "kind: Pod"), "a file that nobody names"),
    (file("/etc/in/policy.yaml", "x: y", **NAMED), "another file"),
]


def subject(tree: dict[str, object], version: str = "v1.34.2") -> bootstrappb.Subject:
    """Give a control-plane machine with a spec."""
    spec = specpb.MachineBootstrapSpec()
    assert not list(fill(yaml.safe_load(yaml.safe_dump(tree)), spec, path=("spec",), document=""))
    cluster = clusterpb.Cluster(
        name="c", kubernetes_version=version, endpoint=clusterpb.Endpoint(host="api.example.com")
    )
    return bootstrappb.Subject(
        spec=spec, cluster=cluster, machine=clusterpb.Machine(name="m", role=clusterpb.ROLE_INIT)
    )


@pytest.mark.parametrize(("tree", "path", "message"), WRONG, ids=[row[-1] for row in WRONG])
def test_wrong_documents_are_refused(tree: dict[str, object], path: str, message: str) -> None:
    """By field of the spec, line and field of the document; no value of it is repeated."""
    with pytest.raises(SpecInvalid) as caught:
        check(subject(tree))
    (violation,) = caught.value.violations
    assert violation.path == (path or violation.path)
    assert message in violation.description
    assert KEY not in f"{caught.value} {caught.value.violations}"


@pytest.mark.parametrize(("tree", "path", "message"), WRONG, ids=[row[-1] for row in WRONG])
def test_an_imported_spec_keeps_its_documents(tree: dict[str, object], path: str, message: str) -> None:
    """With a warning at the same place: the machine may work today, as the readers differ in how strict they are."""
    imported = subject(tree)
    imported.spec.imported.kind = "KubeadmConfig"
    (remark,) = check(imported).diagnostics
    assert message in remark.message
    assert remark.origin.path == (path or remark.origin.path)


@pytest.mark.parametrize(("tree", "reason"), RIGHT, ids=[row[-1] for row in RIGHT])
def test_right_documents_are_accepted(tree: dict[str, object], reason: str) -> None:
    """And so is what is no document of a known kind."""
    assert check(subject(tree)).diagnostics == (), reason


def test_a_newer_version_may_have_further_fields() -> None:
    """Unknown fields are a warning there, wrong types are refused as ever."""
    tree = kubelet("brandNew: 5")
    with pytest.raises(SpecInvalid):
        check(subject(tree))
    (remark,) = check(subject(tree, "v1.99.0")).diagnostics
    assert "line 1: brandNew: may be no field of this Kubernetes version" in remark.message
    with pytest.raises(SpecInvalid):
        check(subject(kubelet("maxPods: many"), "v1.99.0"))


def test_what_is_known_only_later_is_not_judged() -> None:
    """A document in a secret, and one with a part that only the machine knows."""
    secret = {"secretRef": {"name": "a", "key": "b"}}
    parts = {"segments": [{"text": "x: "}, {"fact": {"kind": "InstanceId"}}]}
    for content in (secret, parts):
        tree = {"kubernetes": {"controlPlane": {"audit": {"policy": content}}}}
        assert check(subject(tree)).diagnostics == ()
