"""Each field for kubeadm becomes the neutral setting that means the same on the machine."""

# ruff: noqa: E501, ISC004  # the tables read best with one case a line

import pytest
from google.protobuf import text_format

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.importers.carrying import BETA1, BETA2, carried, without_origins

KUBERNETES = [
    (BETA2, "joinConfiguration: {nodeRegistration: {name: node}}", 'node { name { value: "node" } }', "a literal name"),
    (
        BETA2,
        "joinConfiguration: {nodeRegistration: {name: ' Node-A'}}",
        'node { name { value: "node-a" } }',
        "as kubeadm",
    ),
    (
        BETA2,
        "joinConfiguration: {nodeRegistration: {name: '{{ v1.local_hostname }}', criSocket: 'unix:///c.sock', taints: [],"
        " kubeletExtraArgs: [{name: provider-id, value: 'x:///{{ instance_id }}'}, {name: v, value: ''}],"
        " imagePullPolicy: Never, imagePullSerial: false}}",
        "node { name { segments { fact { kind: FACT_KIND_SHORT_HOSTNAME } } } taints { }"
        ' kubelet_arguments { name: "provider-id" segments { text: "x:///" }'
        ' segments { fact { kind: FACT_KIND_INSTANCE_ID } } } kubelet_arguments { name: "v" value: "" }'
        ' cri_socket: "unix:///c.sock" image_pull_policy: "Never" }'
        " --- image_pull_serial: false",
        "facts in name and arguments; an empty list of taints is set",
    ),
    (
        BETA2,
        "joinConfiguration: {nodeRegistration: {taints: [{key: k, value: v, effect: NoExecute}]}}",
        'node { taints { items { key: "k" value: "v" effect: TAINT_EFFECT_NO_EXECUTE } } }',
        "taints",
    ),
    (
        BETA2,
        "joinConfiguration: {nodeRegistration: {criSocket: 'unix://{{ v1.availability_zone }}', taints: [{key: k, effect: NoExecute,"
        " value: '{{ v1.region }}'}]}, discovery: {bootstrapToken: {apiServerEndpoint: '{{ ds.meta_data.local_ipv4 }}:1'}}}",
        'node { taints { items { key: "k" effect: TAINT_EFFECT_NO_EXECUTE } } } discovery { token { } }'
        ' --- machine_values { field: "discovery.bootstrapToken.apiServerEndpoint" value {'
        ' segments { fact { kind: FACT_KIND_PRIVATE_IPV4 } } segments { text: ":1" } } }'
        ' machine_values { field: "nodeRegistration.criSocket" value { segments { text: "unix://" }'
        " segments { fact { kind: FACT_KIND_AVAILABILITY_ZONE } } } }"
        ' machine_values { field: "nodeRegistration.taints[0].value" value { segments { fact { kind: FACT_KIND_REGION } } } }',
        "what only the machine knows",
    ),
    (
        BETA2,
        "joinConfiguration: {nodeRegistration: {criSocket: 'unix://{{ ds.x }}', taints: [{key: k, effect: NoExecute,"
        " value: '{{ v1.region }}'}]}}",
        'node { taints { items { key: "k" effect: TAINT_EFFECT_NO_EXECUTE } } }'
        ' --- machine_values { field: "nodeRegistration.criSocket" value { segments { text: "unix://" }'
        ' segments { extension { id: "cloud-init.slipway.dev/jinja" text: "{{ ds.x }}" } } } }'
        ' machine_values { field: "nodeRegistration.taints[0].value" value {'
        ' segments { extension { id: "cloud-init.slipway.dev/jinja" text: "{{ v1.region }}" } } } }',
        "facts beside Jinja in one file stay Jinja",
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
        " unsafe_skip_ca_verification: true } }"
        ' --- tls_bootstrap_token { value: "t" } ca_path: "/ca.crt"',
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
        " bindPort: 7443}}, timeouts: {kubeletHealthCheckSeconds: 4, kubernetesAPICallSeconds: 1,"
        " etcdAPICallSeconds: 2, discoverySeconds: 3}}",
        "control_plane { advertise_address { segments { fact { kind: FACT_KIND_PRIVATE_IPV4 } } } bind_port: 7443 }"
        " --- timeouts { kubelet { seconds: 4 } kubernetes_api { seconds: 1 } etcd_api { seconds: 2 }"
        " discovery { seconds: 3 } }",
        "a further control plane; timeouts",
    ),
    (
        BETA2,
        """
        clusterConfiguration:
          apiServer:
            extraArgs: [{name: a, value: b}]
            extraVolumes: [{name: v, hostPath: /h//, mountPath: /m/, readOnly: true, pathType: File}]
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
            arguments { name: "g" value: "h" }
          }
        }
        images { repository: "r.example.com" }
        certificates { ca_validity { seconds: 172800 } key_algorithm: KEY_ALGORITHM_ECDSA_P384 }
        ---
        feature_gates { name: "F" enabled: false } certificates_directory: "/pki"
        certificate_validity { seconds: 86400 } etcd_server_sans: "s" etcd_peer_sans: "p"
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
        '--- bootstrap_tokens { token { value: "abcdef.0123456789abcdef" } description: "d" ttl { seconds: 3600 }'
        ' usages: "signing" groups: "system:bootstrappers:x" }'
        ' bootstrap_tokens { token { value: "abcdef.0123456789abcdeg" } expire_time { seconds: 1893456000 } }',
        "tokens of the first machine",
    ),
]


@pytest.mark.parametrize(("version", "spec", "wanted", "reason"), KUBERNETES, ids=[case[3] for case in KUBERNETES])
def test_kubernetes_items(version: str, spec: str, wanted: str, reason: str) -> None:
    """Each field for kubeadm becomes the neutral setting, or an option of kubeadm behind the dashes."""
    role = clusterpb.ROLE_INIT if spec.startswith("initConfiguration") else clusterpb.ROLE_CONTROL_PLANE
    got = carried(spec, version=version, role=role).spec
    neutral, _, options = wanted.partition("---")
    assert without_origins(got.kubernetes) == text_format.Parse(neutral, kubernetespb.Kubernetes()), reason
    kubeadm = without_origins(got.engine_options.kubeadm)
    assert kubeadm == text_format.Parse(options, specpb.KubeadmOptions()), reason


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


@pytest.mark.parametrize("host", ["fd00::1", "[fd00::1]"])
def test_a_kubeconfig_is_written_for_discovery(host: str) -> None:
    """Server and CA come from the cluster; the CA is spliced in where it belongs."""
    spec = """
    joinConfiguration:
      discovery:
        file:
          kubeConfigPath: /k
          kubeConfig: {user: {exec: {command: aws, args: [token], env: [{name: A, value: b}]}}}
    """
    cluster = clusterpb.Cluster(endpoint=clusterpb.Endpoint(host=host))
    before, authority, after = carried(spec, cluster=cluster).spec.kubernetes.discovery.file.kubeconfig.segments
    assert before.text.endswith("certificate-authority-data: ")
    assert (authority.secret_ref.name, authority.secret_ref.key) == ("slipway.dev/cluster-ca", "tls.crt")
    assert after.text.startswith("\n    server: https://[fd00::1]:6443\n")
    assert "apiVersion: client.authentication.k8s.io/v1" in after.text
    assert "interactiveMode: Never" in after.text
