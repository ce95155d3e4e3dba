"""What Talos cannot do is refused with its path; most of it Talos' own validator would let pass."""

import pytest

from slipway.contract.errors import (
    BundleInvalid,
    CredentialsMissing,
    KubernetesVersionUnsupported,
    UnsupportedFeature,
    UnsupportedTarget,
)
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.provisioners.talos import samples

WORKER, INIT = clusterpb.ROLE_WORKER, clusterpb.ROLE_INIT
FILE = 'os { files { path: "%s" owner: "%s" group: "root" mode: %d content { segments { data: "%s" } } } }'
NODE = "intent { kubernetes { node { %s } } }"
PLANE = "intent { kubernetes { control_plane { %s } } }"
API = PLANE % "api_server { %s }"
ARGUMENT = 'arguments { name: "%s" value: "hunter2" }'
REGISTRY = 'os { containerd { registries { host: "a.example.com" %s } } }'


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        (FILE % ("/etc/a", "root", 420, "x"), "os.files[0]", "only /var can be written"),
        (FILE % ("/var/lib/a", "app", 420, "x"), "os.files[0]", "there are no other users"),
        (FILE % ("/var/lib/a", "root", 0o4755, "x"), "os.files[0].mode", "Go's mode has other bits for setuid"),
        (FILE % ("/var/lib/a", "root", 420, "\\377"), "os.files[0].content", "the document is text"),
        ('os { users { name: "a" } }', "os.users[0]", "there are no users"),
        ("os { packages {} }", "os.packages", "there are no packages"),
        ('os { directory { domain: "corp.example.com" } }', "os.directory", "there are no accounts"),
        (
            'os { kernel_arguments { argument: "a=b" } }',
            "os.kernel_arguments[0]",
            "only in force after an installation",
        ),
        ('os { time_zone { name: "Europe/Berlin" } }', "os.time_zone", "Talos knows no time zone"),
        ('os { ntp { pools: "pool.ntp.org" } }', "os.ntp.pools[0]", "Talos asks servers"),
        (REGISTRY % 'server: "https://b"', "os.containerd.registries[0].server", "the fallback is the registry itself"),
        (REGISTRY % "only_endpoints: true", "os.containerd.registries[0].only_endpoints", "no endpoint, no mirror"),
        (
            REGISTRY % 'endpoints { url: "https://m[" }',
            "os.containerd.registries[0].endpoints[0].url",
            "its host has no end",
        ),
        (
            REGISTRY % 'endpoints { url: "https://m" skip_verify: true } endpoints { url: "https://m/x" }',
            "os.containerd.registries[0].endpoints[1]",
            "Talos keeps TLS settings by host",
        ),
        (NODE % 'node_ip { value: "hunter2" }', "intent.kubernetes.node.node_ip", "Talos wants an address"),
        (
            NODE % 'kubelet_arguments { name: "kubeconfig" value: "hunter2" }',
            "intent.kubernetes.node.kubelet_arguments[0].name",
            "Talos sets it",
        ),
        (
            NODE % 'kubelet_arguments { name: "v" value: "1" } kubelet_arguments { name: "v" value: "hunter2" }',
            "intent.kubernetes.node.kubelet_arguments[1].name",
            "a mapping holds it once",
        ),
        (
            NODE % 'kubelet_configuration { text: "rotateCertificates: false" }',
            "intent.kubernetes.node.kubelet_configuration",
            "Talos sets it",
        ),
        (
            NODE % 'kubelet_configuration { text: "hunter2: 1" }',
            "intent.kubernetes.node.kubelet_configuration",
            "no kubelet would start",
        ),
        (
            NODE % 'kubelet_configuration { text: "kind: Pod" }',
            "intent.kubernetes.node.kubelet_configuration",
            "it is no kubelet configuration",
        ),
        (
            NODE % 'labels { name: "node-role.kubernetes.io/worker" value: "" }',
            "intent.kubernetes.node.labels[0].name",
            "NodeRestriction",
        ),
        (
            NODE % 'name { value: "a" } } } } os { hostname { name { value: "b" } } } intent { kubernetes { node {',
            "intent.kubernetes.node.name",
            "they are one name",
        ),
        (
            NODE % "name { segments { fact { kind: FACT_KIND_HOSTNAME } } }",
            "intent.kubernetes.node.name",
            "nobody knows the infrastructure",
        ),
        (
            NODE % "name { segments { fact { kind: FACT_KIND_INSTANCE_ID } } }",
            "intent.kubernetes.node.name.segments[0].fact.kind",
            "Talos cannot call itself so",
        ),
        (
            'intent { kubernetes { static_pods { name: "a" manifest { segments { data: "kind: Deployment" } } } } }',
            "intent.kubernetes.static_pods[0].manifest",
            "the kubelet runs pods",
        ),
        (NODE % 'cri_socket: "unix:///run/crio.sock"', "intent.kubernetes.node.cri_socket", "Talos runs containerd"),
        (
            NODE % 'image_pull_policy: "Never"',
            "intent.kubernetes.node.image_pull_policy",
            "Talos pulls what is missing",
        ),
        ("intent { kubernetes { timeouts {} } }", "intent.kubernetes.timeouts", "Talos has its own"),
        ("commands { pre { argv: 'true' } }", "commands", "there is no shell"),
        (
            'extensions { id: "talos.slipway.dev/patch" media_type: "a/b" content { segments { data: "[hunter2" } } }',
            "extensions[0].content",
            "no YAML",
        ),
        ('extensions { id: "ignition.slipway.dev/config" media_type: "a/b" }', "extensions[0].id", "somebody else's"),
    ],
)
def test_a_worker_refuses(text, path, reason):
    """Each refusal names the field, and never a value of the bundle."""
    with pytest.raises(UnsupportedFeature) as caught:
        samples.render(samples.bundle(WORKER, text))
    assert path in {violation.path for violation in caught.value.violations}, reason
    assert "hunter2" not in f"{caught.value} {caught.value.violations}"


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        (API % ARGUMENT % "etcd-servers", "intent.kubernetes.control_plane.api_server.arguments[0].name", "denied"),
        (
            PLANE % "controller_manager { %s }" % ARGUMENT % "root-ca-file",
            "intent.kubernetes.control_plane.controller_manager.arguments[0].name",
            "denied",
        ),
        (
            "intent { kubernetes { etcd { local { " + ARGUMENT % "data-dir" + " } } } }",
            "intent.kubernetes.etcd.local.arguments[0].name",
            "denied",
        ),
        (
            API % 'volumes { name: "a" host_path: "/a" mount_path: "/a" path_type: "FileOrCreate" }',
            "intent.kubernetes.control_plane.api_server.volumes[0].path_type",
            "Talos makes no file",
        ),
        (
            API % 'volumes { name: "a" host_path: "/a" mount_path: "/a" path_type: "hunter2" }',
            "intent.kubernetes.control_plane.api_server.volumes[0].path_type",
            "Kubernetes has no such type",
        ),
        (
            PLANE % 'files { name: "a" component: "api-server" argument: "tls-cert-file" content {} }',
            "intent.kubernetes.control_plane.files[0]",
            "denied by another door",
        ),
        (
            PLANE % 'audit { policy { segments { data: "kind: Policy\\napiVersion: v1" } } }',
            "intent.kubernetes.control_plane.audit.policy",
            "no audit policy",
        ),
        (PLANE % "encryption { configuration {} }", "intent.kubernetes.control_plane.encryption", "Talos has its own"),
        (
            PLANE % 'audit { policy { segments { data: "hunter2: [" } } log_path: "/var/log/a" }',
            "intent.kubernetes.control_plane.audit.log_path",
            "Talos mounts one path",
        ),
        (
            'intent { kubernetes { etcd { external { endpoints: "https://e:2379" } } } }',
            "intent.kubernetes.etcd.external",
            "Talos runs its own etcd",
        ),
    ],
)
def test_a_control_plane_refuses(text, path, reason):
    """The same for what only control planes have."""
    with pytest.raises(UnsupportedFeature) as caught:
        samples.render(samples.bundle(INIT, text))
    assert path in {violation.path for violation in caught.value.violations}, reason
    assert "hunter2" not in f"{caught.value} {caught.value.violations}"


@pytest.mark.parametrize(
    ("form", "version", "accepted"),
    [
        ("talos/v1.13", "v1.36.0", True),
        ("talos/v1.13", "v1.37.0", False),
        ("talos/v1.13", "v1.30.9", False),
        ("talos/v1.9", "v1.27.0", True),
        ("talos/v1.9", "v1.33.0", False),
        ("talos/v1.9", "v2.30.0", False),
    ],
)
def test_each_talos_runs_its_own_window_of_kubernetes_versions(form, version, accepted):
    """Talos refuses other versions on the machine; the bounds are in the answer."""
    bundle = samples.bundle(WORKER, version=version)
    if accepted:
        assert f"kubelet:{version}".encode() in samples.render(bundle, form).user_data
        return
    with pytest.raises(KubernetesVersionUnsupported) as caught:
        samples.render(bundle, form)
    assert set(caught.value.metadata) == {"lowest", "highest"}


@pytest.mark.parametrize(
    ("fields", "accepted"),
    [
        ({"distribution": "ubuntu"}, False),
        ({"distribution": "talos", "os_version": "1.12.4"}, False),
        ({"distribution": "talos", "os_version": "v1.14.0"}, True),
        ({"infrastructure": "metal"}, False),
        ({"infrastructure": "aws"}, True),
    ],
)
def test_targets(fields, accepted):
    """Another distribution, an older Talos and metal without a disk to install to are refused."""
    bundle = samples.bundle(WORKER)
    if accepted:
        assert samples.render(bundle, where=samples.target(**fields)).user_data
        return
    with pytest.raises(UnsupportedTarget) as caught:
        samples.render(bundle, where=samples.target(**fields))
    assert caught.value.violations


def test_metal_is_told_its_disk_by_a_patch():
    """The patch is the one place where a disk can be named."""
    bundle = samples.bundle(WORKER)
    extension = bundle.extensions.add(id="talos.slipway.dev/patch", media_type="application/yaml")
    extension.content.segments.add(data=b"machine: {install: {disk: /dev/vda}}")
    assert b"disk: /dev/vda" in samples.render(bundle, where=samples.target(infrastructure="metal")).user_data


@pytest.mark.parametrize("name", ["talos.slipway.dev/machine-ca", "talos.slipway.dev/cluster-id"])
def test_a_declared_secret_that_is_not_there_is_named(name):
    """Rendering cannot invent it: every machine of the cluster must have the same."""
    bundle = samples.bundle(WORKER)
    kept = [secret for secret in bundle.secrets.secrets if secret.name != name]
    del bundle.secrets.secrets[:]
    bundle.secrets.secrets.extend(kept)
    with pytest.raises(CredentialsMissing) as caught:
        samples.render(bundle)
    assert caught.value.metadata["credentials"] == name


@pytest.mark.parametrize("field", ["cluster_ca"])
def test_a_credential_that_is_not_there_is_named(field):
    """The same for the cluster's own secrets."""
    bundle = samples.bundle(WORKER)
    bundle.intent.credentials.ClearField(field)
    with pytest.raises(CredentialsMissing) as caught:
        samples.render(bundle)
    assert caught.value.violations[0].path.startswith(f"intent.credentials.{field}")


def test_a_credential_that_no_machine_of_talos_needs_is_refused_where_it_is_not_there():
    """By its own path: a reference to nothing is a mistake of who made the bundle."""
    bundle = samples.bundle(WORKER)
    count = len(bundle.intent.credentials.declared)
    bundle.intent.credentials.bootstrap_token.name = "nowhere"
    bundle.intent.credentials.declared.add(name="nowhere", key="k")
    with pytest.raises(BundleInvalid) as caught:
        samples.render(bundle)
    assert {violation.path for violation in caught.value.violations} == {
        "intent.credentials.bootstrap_token",
        f"intent.credentials.declared[{count}]",
    }


@pytest.mark.parametrize(
    ("name", "key"), [("slipway.dev/cluster-ca", "tls.crt"), ("slipway.dev/cluster-ca", "tls.key")]
)
def test_a_key_pair_that_can_not_be_read_is_refused(name, key):
    """Talos would find out only when it makes the first certificate."""
    bundle = samples.bundle(INIT)
    for secret in bundle.secrets.secrets:
        if (secret.name, secret.key) == (name, key):
            secret.value = b"hunter2"
    with pytest.raises(BundleInvalid) as caught:
        samples.render(bundle)
    assert "hunter2" not in f"{caught.value} {caught.value.violations}"


def test_a_trusted_certificate_that_is_none_is_refused():
    """Talos' validator does not look into it."""
    with pytest.raises(BundleInvalid) as caught:
        samples.render(samples.bundle(WORKER, 'os { trusted_certificates { name: "a" certificate {} } }'))
    assert caught.value.violations[0].path == "os.trusted_certificates[0].certificate"
