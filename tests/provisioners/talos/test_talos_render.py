# ruff: noqa: E501  # tables of bundles and results read best on one line
"""The machine configuration that a bundle becomes, read back as YAML."""

import base64

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from tests.provisioners.talos import samples

INIT, CONTROL_PLANE, WORKER = samples.ROLES


def documents(bundle, form="talos/v1.13", where=None):
    """Render and read back: the main document, and the others by kind."""
    main, *others = yaml.safe_load_all(samples.render(bundle, form, where).user_data)
    return main, {document["kind"]: document for document in others}


@pytest.mark.parametrize("role", samples.ROLES)
@pytest.mark.parametrize("form", samples.FORMATS)
def test_the_same_bundle_gives_the_same_bytes(form, role):
    """Rendering is pure; protobuf maps, sets and hashes must not leak into the order."""
    text = samples.everything(role, mixed_override=False)
    first = samples.render(samples.bundle(role, text, version="v1.31.1"), form)
    second = samples.render(samples.bundle(role, text, version="v1.31.1"), form)
    assert first == second


@pytest.mark.parametrize("keys", ["ec", "rsa"])
def test_a_worker_holds_no_private_key(keys):
    """A worker that is broken into must not give away the cluster."""
    main, _ = documents(samples.bundle(WORKER, samples.everything(WORKER), keys=keys))
    assert main["machine"]["type"] == "worker"
    assert "key" not in main["machine"]["ca"]
    assert "key" not in main["cluster"]["ca"]
    assert b"PRIVATE KEY" not in base64.b64decode(main["cluster"]["ca"]["crt"])
    unknown_to_workers = {"aggregatorCA", "serviceAccount", "etcd", "secretboxEncryptionSecret", "apiServer"}
    assert not unknown_to_workers & set(main["cluster"])


@pytest.mark.parametrize(
    ("keys", "label"), [("ec", b"-----BEGIN EC PRIVATE KEY"), ("rsa", b"-----BEGIN RSA PRIVATE KEY")]
)
def test_private_keys_have_the_labels_that_every_talos_knows(keys, label):
    """The bundle has PKCS #8; Talos 1.9 does not read it."""
    main, _ = documents(samples.bundle(CONTROL_PLANE, keys=keys))
    assert base64.b64decode(main["cluster"]["serviceAccount"]["key"]).startswith(label)
    assert base64.b64decode(main["machine"]["ca"]["key"]).startswith(b"-----BEGIN ED25519 PRIVATE KEY")


@pytest.mark.parametrize(
    ("form", "kinds"),
    [
        ("talos/v1.13", {"HostnameConfig", "TimeSyncConfig", "RegistryMirrorConfig", "EnvironmentConfig"}),
        ("talos/v1.12", {"HostnameConfig", "TimeSyncConfig", "RegistryMirrorConfig"}),
        ("talos/v1.11", set()),
        ("talos/v1.9", set()),
    ],
)
def test_documents_of_their_own_appear_with_their_version(form, kinds):
    """An older Talos refuses a document that it does not know; each item is written exactly once."""
    main, others = documents(
        samples.bundle(WORKER, samples.everything(WORKER, mixed_override=False), version="v1.32.0"), form
    )
    always = {"TrustedRootsConfig"}
    registries = {"RegistryTLSConfig", "RegistryAuthConfig"} if kinds else set()
    assert set(others) == kinds | always | registries
    machine = main["machine"]
    assert ("env" in machine) == ("EnvironmentConfig" not in kinds)
    assert ("time" in machine, "registries" in machine, "network" in machine) == (not kinds, not kinds, not kinds)


def test_the_first_machine_says_that_it_needs_a_call():
    """Without the one call etcd never starts, and nobody would know why."""
    answer = samples.render(samples.bundle(INIT))
    codes = {diagnostic.code: diagnostic.severity for diagnostic in answer.diagnostics}
    assert codes["POST_BOOT_ACTION"] == diagnosticpb.SEVERITY_WARNING
    (attachment,) = answer.attachments
    assert (attachment.name, attachment.operator_only) == ("talosconfig", True)
    config = yaml.safe_load(attachment.content)
    context = config["contexts"][config["context"]]
    assert base64.b64decode(context["ca"]) == samples.authority("ed25519")[0]
    assert b"PRIVATE KEY" in base64.b64decode(context["key"])


@pytest.mark.parametrize("role", [CONTROL_PLANE, WORKER])
def test_only_the_first_machine_has_a_talosconfig(role):
    """The operator needs one, and each copy is an administrator."""
    answer = samples.render(samples.bundle(role))
    assert not answer.attachments
    assert "POST_BOOT_ACTION" not in {diagnostic.code for diagnostic in answer.diagnostics}


LITERAL = 'os { hostname { name { value: "%s" } } }'
NODE_FACT = "intent { kubernetes { node { name { segments { fact { kind: FACT_KIND_%s } } } } } }"


@pytest.mark.parametrize(
    ("text", "infrastructure", "expected", "reason"),
    [
        ("", "aws", ({"auto": "stable"}, None), "nobody said anything: Talos decides"),
        (LITERAL % "a", "aws", ({"hostname": "a"}, None), "a short name"),
        (LITERAL % "a.b.c", "aws", ({"hostname": "a.b.c"}, True), "the Node has the whole host name"),
        (
            'intent { kubernetes { node { name { value: "n" } } } }',
            "openstack",
            ({"hostname": "n"}, None),
            "a Node's name is the host name",
        ),
        (NODE_FACT % "LOCAL_HOSTNAME", "aws", ({"auto": "stable"}, True), "the platform's name, domain included"),
        (NODE_FACT % "HOSTNAME", "gcp", ({"auto": "stable"}, True), "the same"),
    ],
)
def test_names(text, infrastructure, expected, reason):
    """Host name and Node name."""
    where = samples.target(infrastructure=infrastructure)
    main, others = documents(samples.bundle(WORKER, text), where=where)
    named = {key: value for key, value in others["HostnameConfig"].items() if key in {"auto", "hostname"}}
    assert (named, main["machine"]["kubelet"].get("registerWithFQDN")) == expected, reason


def test_a_text_of_literal_parts_is_that_text():
    """Its parts are joined, for the address and the provider id as for names; none is taken for nothing."""
    parts = (
        'node_ip { segments { text: "192.0." } segments { text: "2.1" } } provider_id { segments { text: "x://1" } }'
    )
    main, _ = documents(samples.bundle(WORKER, f"intent {{ kubernetes {{ node {{ {parts} }} }} }}"))
    kubelet = main["machine"]["kubelet"]
    assert kubelet["nodeIP"]["validSubnets"] == ["192.0.2.1/32"]
    assert kubelet["extraArgs"]["provider-id"] == "x://1"


@pytest.mark.parametrize(
    ("path_type", "warned"),
    [
        *((word, True) for word in ("Directory", "File", "Socket", "CharDevice", "BlockDevice")),
        ("DirectoryOrCreate", False),
        ("", False),
    ],
)
def test_a_check_of_a_host_path_that_talos_does_not_make_is_reported(path_type, warned):
    """Talos' volumes have no type; without it the runtime makes a folder, as DirectoryOrCreate asks for anyway."""
    field = f'path_type: "{path_type}"' if path_type else ""
    for component in ("api_server", "controller_manager", "scheduler"):
        volume = f'volumes {{ name: "a" host_path: "/a" mount_path: "/b" {field} }}'
        text = f"intent {{ kubernetes {{ control_plane {{ {component} {{ {volume} }} }} }} }}"
        answer = samples.render(samples.bundle(INIT, text))
        paths = [item.field_path for item in answer.diagnostics if item.code == "PATH_TYPE_UNCHECKED"]
        path = f"intent.kubernetes.control_plane.{component}.volumes[0].path_type"
        assert paths == ([path] if warned else [])


@pytest.mark.parametrize(("role", "told"), [(WORKER, True), (CONTROL_PLANE, False)])
def test_what_a_worker_does_not_carry_is_told(role, told):
    """A worker's spec may hold the control plane's part; that it has no effect is never left unsaid."""
    text = "intent { kubernetes { control_plane { bind_port: 7443 } etcd { local {} } } }"
    found = [
        diagnostic.field_path
        for diagnostic in samples.render(samples.bundle(role, text)).diagnostics
        if diagnostic.code == "NOT_USED_BY_ROLE"
    ]
    assert found == (["intent.kubernetes.control_plane", "intent.kubernetes.etcd"] if told else [])


USUAL = '{ key: "node-role.kubernetes.io/control-plane" effect: TAINT_EFFECT_NO_SCHEDULE }'
OTHER = '{ key: "a" value: "b" effect: TAINT_EFFECT_NO_EXECUTE }'
TAINTS = "intent { kubernetes { node { taints { %s } } } }"
REGISTERED = [{"key": "a", "effect": "NoExecute", "value": "b"}]


@pytest.mark.parametrize(
    ("role", "text", "everything", "registered", "reason"),
    [
        (CONTROL_PLANE, "", None, None, "unset: the usual taint"),
        (CONTROL_PLANE, TAINTS % "", True, None, "set and empty: none"),
        (CONTROL_PLANE, TAINTS % f"items {USUAL}", False, None, "the usual one alone"),
        (CONTROL_PLANE, TAINTS % f"items {USUAL} items {OTHER}", False, REGISTERED, "the usual one and another"),
        (CONTROL_PLANE, TAINTS % f"items {OTHER}", True, REGISTERED, "another in place of it"),
        (WORKER, TAINTS % f"items {OTHER}", None, REGISTERED, "a worker registers with it"),
    ],
)
def test_taints(role, text, everything, registered, reason):
    """What the contract says of unset, empty and given taints."""
    main, _ = documents(samples.bundle(role, text))
    extra = main["machine"]["kubelet"].get("extraConfig") or {}
    found = (main["cluster"].get("allowSchedulingOnControlPlanes"), extra.get("registerWithTaints"))
    assert found == (everything, registered), reason


@pytest.mark.parametrize(
    ("text", "images", "reason"),
    [
        (
            "",
            {
                "apiServer": "registry.k8s.io/kube-apiserver:v1.33.1",
                "proxy": "registry.k8s.io/kube-proxy:v1.33.1",
                "coreDNS": None,
                "etcd": None,
            },
            "the public registry",
        ),
        (
            'images { repository: "m.example.com/k" }',
            {
                "apiServer": "m.example.com/k/kube-apiserver:v1.33.1",
                "controllerManager": "m.example.com/k/kube-controller-manager:v1.33.1",
                "scheduler": "m.example.com/k/kube-scheduler:v1.33.1",
                "coreDNS": "m.example.com/k/coredns:v1.14.6",
                "etcd": "m.example.com/k/etcd:v3.6.12",
            },
            "all images but the kubelet's",
        ),
        (
            'etcd { local { image_repository: "e" } } control_plane { dns { image_tag: "v9" } kube_proxy { image_tag: "v8" } }',
            {
                "etcd": "e/etcd:v3.6.12",
                "coreDNS": "registry.k8s.io/coredns/coredns:v9",
                "proxy": "registry.k8s.io/kube-proxy:v8",
            },
            "one by one",
        ),
    ],
)
def test_images(text, images, reason):
    """Image names, as the other systems compose them."""
    main, _ = documents(samples.bundle(CONTROL_PLANE, f"intent {{ kubernetes {{ {text} }} }}"))
    found = {name: main["cluster"].get(name, {}).get("image") for name in images}
    assert found == images, reason


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [
        ("10.0.0.1", 6443, "https://10.0.0.1:6443"),
        ("fd00::1", 443, "https://[fd00::1]:443"),
        ("a.example.com", 0, "https://a.example.com:6443"),
    ],
)
def test_the_endpoint(host, port, expected):
    """A URL with the port that the contract says, IPv6 in brackets."""
    bundle = samples.bundle(WORKER)
    bundle.intent.cluster.endpoint.host = host
    bundle.intent.cluster.endpoint.ClearField("port")
    if port:
        bundle.intent.cluster.endpoint.port = port
    assert documents(bundle)[0]["cluster"]["controlPlane"]["endpoint"] == expected


def test_files_of_components_are_made_mounted_and_named():
    """A file that a component reads needs three things; one of them alone would keep it from starting."""
    main, _ = documents(samples.bundle(INIT, samples.everything(INIT)))
    server = main["cluster"]["apiServer"]
    path = server["extraArgs"]["admission-control-config-file"]
    assert path in {file["path"] for file in main["machine"]["files"]}
    assert {"hostPath": path.rpartition("/")[0], "mountPath": path.rpartition("/")[0], "readonly": True} in server[
        "extraVolumes"
    ]
    assert server["extraArgs"]["authentication-token-webhook-cache-ttl"] == "90s"


def test_validate_only_says_the_same_without_user_data():
    """A dry run must not differ from a real one in anything but what it hands out."""
    bundle = samples.bundle(INIT)
    full = samples.render(bundle)
    dry = samples.render(bundle, validate_only=True)
    assert (dry.user_data, list(dry.attachments)) == (b"", [])
    assert list(dry.diagnostics) == list(full.diagnostics)


def test_roles_are_told_apart():
    """Init and further control planes get the same configuration: what makes the first one first is the call."""
    init = samples.render(samples.bundle(INIT)).user_data
    assert init == samples.render(samples.bundle(clusterpb.ROLE_CONTROL_PLANE)).user_data


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200), st.integers(0, 0o777))
def test_any_text_and_mode_of_a_file_arrive(text, mode):
    """Leading blanks, tabs, template signs, a missing last line break: content is content."""
    bundle = samples.bundle(WORKER)
    file = bundle.os.files.add(path="/var/lib/a", owner="root", group="root", mode=mode)
    file.content.segments.add(data=text.encode())
    (written,) = documents(bundle)[0]["machine"]["files"]
    assert (written["content"], written["permissions"], written["op"]) == (text, mode, "create")


@given(
    st.dictionaries(
        st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True),
        st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), max_size=20),
        max_size=5,
    )
)
def test_any_argument_stays_text(values):
    """Talos wants text; a value that looks like a number or a boolean must not become one."""
    bundle = samples.bundle(WORKER)
    for name, value in values.items():
        bundle.intent.kubernetes.node.kubelet_arguments.add(name=name, value=value)
    refused = {"config", "kubeconfig"} & set(values)
    if not refused:
        assert documents(bundle)[0]["machine"]["kubelet"].get("extraArgs", {}) == values
