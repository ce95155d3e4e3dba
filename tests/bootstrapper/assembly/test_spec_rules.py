"""Bad specs: each is refused with the path of the field, and never with its value; and what is filled in."""

import json

import pytest

from slipway.bootstrapper.assembly.subject import check
from slipway.contract.errors import SpecInvalid
from tests.bootstrapper.assembly.subjects import subject
from tests.bootstrapper.lowering import specs

CA = json.dumps({"text": specs.PEM})
CREDENTIALS = "credentials: {username: a, password: {value: b}}"
ELSEWHERE = "onlyEndpoints: true, endpoints: [{url: 'https://b'}]"
MIRRORED = f"os: {{containerd: {{registries: [{{host: a, {ELSEWHERE}, {CREDENTIALS}}}]}}}}"
CANARY = "Zq7CanaryValue"


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("os: {files: [{path: etc/x, content: {text: a}}]}", "os.files[0].path", "a relative path"),
        ("os: {files: [{path: /etc/../x, content: {text: a}}]}", "os.files[0].path", "a path with .."),
        ("os: {files: [{path: /etc/x}]}", "os.files[0]", "no content at all"),
        ("os: {files: [{content: {text: a}}]}", "os.files[0].path", "no path"),
        (
            "os: {files: [{path: /a/b, content: {text: a}}, {path: /a/b, content: {text: b}}]}",
            "os.files[1]",
            "one path twice",
        ),
        ("os: {files: [{path: /etc/slipway/x, content: {text: a}}]}", "os.files[0].path", "a reserved folder"),
        (
            "os: {files: [{path: /etc/x, owner: 'a:b', content: {text: a}}]}",
            "os.files[0].owner",
            "an owner with a colon",
        ),
        (
            "os: {files: [{path: /etc/x, remote: {urls: ['http://x.example/a']}}]}",
            "os.files[0].remote.urls[0]",
            "http without a hash",
        ),
        (
            "os: {files: [{path: /etc/x, remote: {urls: ['https://x.example/a'], sha256: abc}}]}",
            "os.files[0].remote.sha256",
            "a hash of the wrong length",
        ),
        (
            f"os: {{files: [{{path: /etc/x, remote: {{urls: ['http://x.example'], sha256: {'a' * 64}, ca: {CA}}}}}]}}",
            "os.files[0].remote.ca",
            "authorities of a server that shows no certificate",
        ),
        (
            "os: {links: [{path: /etc/x, target: other, hard: true}]}",
            "os.links[0].target",
            "a hard link to a file somewhere",
        ),
        ('os: {links: [{path: /etc/x, target: "a\\0b"}]}', "os.links[0].target", "a link that no system can make"),
        ("os: {sysctls: [{name: 'a b', value: '1'}]}", "os.sysctls[0].name", "a sysctl with a space"),
        ('os: {sysctls: [{name: a.b, value: "1\\n2"}]}', "os.sysctls[0].value", "a value of two lines"),
        (
            "os: {trustedCertificates: [{name: x, certificate: {text: nonsense}}]}",
            "os.trustedCertificates[0].certificate.text",
            "no PEM",
        ),
        ("agent: {source: Download}", "agent.version", "a download of no version"),
        ("agent: {source: Download, version: 1.0.0, required: false}", "agent.required", "a download nobody waits for"),
        ("agent: {source: Image, version: 1.0.0}", "agent.version", "a version where the image decides"),
        ("agent: {source: Image, urls: ['https://x.example']}", "agent.urls", "mirrors of an image"),
        ("agent: {source: None, required: true}", "agent.required", "nothing, required"),
        ("agent: {source: Download, version: 1.0.0, urls: ['ftp://x.example']}", "agent.urls[0]", "no HTTP"),
        ("agent: {source: Download, version: 1.0.0, urls: ['https://x.example/?a']}", "agent.urls[0]", "a query"),
        ("reporting: {sinks: [{}]}", "reporting.sinks[0]", "a sink of no kind"),
        ("reporting: {logs: Always}", "reporting.logs", "logs that no sink takes"),
        ("reporting: {sinks: [{put: {}}]}", "reporting.sinks[0].put.url", "no address"),
        (
            "reporting: {sinks: [{put: {url: {name: a, key: k}}}, {put: {url: {name: b, key: k}}}]}",
            "reporting.sinks",
            "two addresses",
        ),
        (
            "reporting: {sinks: [{workloadCluster: {}}, {workloadCluster: {}}]}",
            "reporting.sinks",
            "the cluster twice",
        ),
        (
            "reporting: {sinks: [{workloadCluster: {}}], logs: Always}",
            "reporting.logs",
            "logs that the cluster takes not",
        ),
        ("os: {users: [{name: 'root:x'}]}", "os.users[0].name", "a user name with a colon"),
        ("os: {users: [{name: a}, {name: a}]}", "os.users[1]", "a user twice"),
        ("os: {users: [{name: a, uid: 9}, {name: b, uid: 9}]}", "os.users[1].uid", "a number of two users"),
        ("os: {groups: [{name: a, gid: 9}, {name: b, gid: 9}]}", "os.groups[1].gid", "a number of two groups"),
        (
            'os: {sysctls: [{name: net.ipv4.ip_forward, value: "1"}, {name: net/ipv4/ip_forward, value: "0"}]}',
            "os.sysctls[1].name",
            "a parameter by both of its names",
        ),
        (
            'os: {sysctls: [{name: net.ipv4.conf.a/b.mtu, value: "1"}, {name: net/ipv4/conf/a.b/mtu, value: "1"}]}',
            "os.sysctls[1].name",
            "a device with a dot in its name, by both names of a parameter",
        ),
        (
            "os: {disks: [{device: /dev/sdb, partitions: [{}]}], filesystems: [{device: /dev/sdb, format: ext4}]}",
            "os.filesystems[0].device",
            "a filesystem on the whole of a disk that is divided",
        ),
        (
            "os: {swaps: [{path: /swap, sizeMib: 1}], files: [{path: /swap, content: {text: a}}]}",
            "os.swaps[0]",
            "a swap file that is a file, too",
        ),
        ("os: {disks: [{device: sda1/../x}]}", "os.disks[0].device", "a device outside /dev"),
        (
            "os: {disks: [{device: /dev/sdb, partitions: [{percentage: 60}, {percentage: 60}]}]}",
            "os.disks[0].partitions",
            "more than the whole disk",
        ),
        ("os: {systemdUnits: [{name: x.service}]}", "os.systemdUnits[0]", "a unit that says nothing"),
        ("os: {systemdUnits: [{name: ../x.service, enabled: true}]}", "os.systemdUnits[0].name", "a unit's path"),
        ("kubernetes: {node: {labels: [{name: 'a b', value: x}]}}", "kubernetes.node.labels[0].name", "a bad label"),
        ("kubernetes: {etcd: {}}", "kubernetes.etcd", "neither local nor external"),
        (
            "kubernetes: {discovery: {token: {caHashes: ['md5:1']}}}",
            "kubernetes.discovery.token.caHashes[0]",
            "a hash of another kind",
        ),
        (
            f"engineOptions: {{kubeadm: {{bootstrapTokens: [{{token: {{value: {CANARY}}}}}]}}}}",
            "engineOptions.kubeadm.bootstrapTokens[0].token",
            "no token",
        ),
        (
            "init: {engineOptions: {kubeadm: {bootstrapTokens: [{token: {value: ABCDEF.0123456789abcdef}}]}}}",
            "init.engineOptions.kubeadm.bootstrapTokens[0].token",
            "a token in capitals, for the first machine",
        ),
        (
            f"kubernetes: {{discovery: {{token: {{token: {{value: {CANARY}}}}}}}}}",
            "kubernetes.discovery.token.token",
            "no token to find the cluster by",
        ),
        (
            f"engineOptions: {{kubeadm: {{tlsBootstrapToken: {{value: {CANARY}}}}}}}",
            "engineOptions.kubeadm.tlsBootstrapToken",
            "no token to authenticate by",
        ),
        ("kubernetes: {timeouts: {tlsBootstrap: 0s}}", "kubernetes.timeouts.tlsBootstrap", "no time at all to wait"),
        (
            "join: {engineOptions: {kubeadm: {timeouts: {discovery: 900ms}}}}",
            "join.engineOptions.kubeadm.timeouts.discovery",
            "less than a second",
        ),
        ("commands: {pre: [{}]}", "commands.pre[0]", "a command without anything to run"),
        ("commands: {pre: [{argv: [a], script: {text: b}}]}", "commands.pre[0]", "argv and script"),
        ("commands: {pre: [{argv: [a], timeout: 0s}]}", "commands.pre[0].timeout", "no time at all"),
        (
            "extensions: [{id: nodomain, mediaType: a/b, content: {text: x}}]",
            "extensions[0].id",
            "an id without domain",
        ),
        ("os: {users: [{name: a, passwordHash: {value: hunter2}}]}", "os.users[0].passwordHash", "plain text"),
        ("init: {os: {users: [{name: a, passwordHash: {value: hunter2}}]}}", "init.os.users[0]", "in an override"),
        ("os: {users: [{name: a, passwordHash: {value: abJnggxhB.yWI}}]}", "os.users[0]", "a word, or a hash of 1979"),
        ("os: {users: [{name: a, passwordHash: {value: $9$salt$hash}}]}", "os.users[0]", "a scheme that crypt lacks"),
        ("os: {users: [{name: a, passwordHash: {value: '$6$salt$h:0:0'}}]}", "os.users[0]", "another field of passwd"),
        (
            MIRRORED,
            "os.containerd.registries[0].credentials",
            "credentials of a registry that is never asked",
        ),
        (
            f"os: {{containerd: {{registries: [{{host: a.io, server: 'https://b.io:5000', {CREDENTIALS}}}]}}}}",
            "os.containerd.registries[0].server",
            "credentials of a registry whose server is another",
        ),
    ],
)
def test_a_bad_spec_is_refused_with_the_users_own_path(text: str, path: str, reason: str) -> None:
    """Each rule names the field as the user wrote it."""
    with pytest.raises(SpecInvalid) as caught:
        check(subject(text))
    paths = [violation.path.removeprefix("SlipwayConfig/x: ") for violation in caught.value.violations]
    assert any(refused.startswith(path) for refused in paths), (reason, paths)


@pytest.mark.parametrize(
    "text",
    [
        f"os: {{files: [{{path: relative/{CANARY}, content: {{text: {CANARY}}}}}]}}",
        f"os: {{users: [{{name: 'a:{CANARY}', passwordHash: {{value: {CANARY}}}}}]}}",
        f"kubernetes: {{node: {{labels: [{{name: '{CANARY} x', value: '{CANARY} y'}}]}}}}",
        f"os: {{proxy: {{httpProxy: 'not a url {CANARY}'}}}}",
        f"engineOptions: {{kubeadm: {{bootstrapTokens: [{{token: {{value: {CANARY}}}}}]}}}}",
    ],
)
def test_no_value_of_the_spec_is_ever_in_the_error(text: str) -> None:
    """A person may write a secret into the wrong field: the error must not repeat it."""
    with pytest.raises(SpecInvalid) as caught:
        check(subject(text))
    said = f"{caught.value} {caught.value.violations} {caught.value.metadata} {caught.value.to_status()}"
    assert CANARY not in said


def test_cluster_and_machine_are_checked_too() -> None:
    """A bad CIDR, version and endpoint are refused with their paths."""
    bad = subject("{}")
    bad.cluster.pod_cidrs.append("10.0.0.1/8")
    bad.cluster.kubernetes_version = "latest"
    bad.cluster.ClearField("endpoint")
    with pytest.raises(SpecInvalid) as caught:
        check(bad)
    paths = {violation.path for violation in caught.value.violations}
    assert {"cluster.podCidrs[0]", "cluster.kubernetesVersion", "cluster.endpoint"} <= paths


def test_defaults_are_filled_in_by_the_bootstrapper() -> None:
    """A provisioner defaults nothing: owner, group and mode are always said."""
    spec = check(subject("os: {files: [{path: /etc/x, content: {text: a}}], directories: [{path: /srv/y}]}")).spec
    assert (spec.os.files[0].owner, spec.os.files[0].group, spec.os.files[0].mode) == ("root", "root", 0o644)
    assert spec.os.directories[0].mode == 0o755


@pytest.mark.parametrize(
    ("content", "mode"),
    [
        ("{secretRef: {name: a, key: b}}", 0o600),
        ("{segments: [{text: a}, {secretRef: {name: a, key: b}}]}", 0o600),
        ("{segments: [{text: a}]}", 0o644),
    ],
)
def test_files_with_a_secret_are_private_unless_the_spec_says_otherwise(content: str, mode: int) -> None:
    """An imported one has the mode that its first-boot system gives it."""
    asked = subject(
        f"os: {{files: [{{path: /a, content: {content}}}, {{path: /b, mode: '0640', content: {content}}}]}}"
    )
    assert [file.mode for file in check(asked).spec.os.files] == [mode, 0o640]
    asked.spec.imported.kind = "KubeadmConfig"
    assert [file.mode for file in check(asked).spec.os.files] == [0o644, 0o640]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (
            'kubernetes: {node: {kubeletArguments: [{name: a, value: "x\\0y"}]}}',
            "kubernetes.node.kubeletArguments[0].value",
        ),
        (
            'kubernetes: {controlPlane: {apiServer: {environment: [{name: A, value: "x\\0"}]}}}',
            "kubernetes.controlPlane.apiServer.environment[0].value",
        ),
        ('os: {links: [{path: /a/b, target: "x\\0y"}]}', "os.links[0].target"),
        ('commands: {pre: [{argv: [a, "x\\0y"]}]}', "commands.pre[0].argv[1]"),
        ('init: {commands: {pre: [{argv: [a, "x\\0y"]}]}}', "init.commands.pre[0].argv[1]"),
    ],
)
def test_nul_characters_are_refused(text: str, path: str) -> None:
    """A NUL in any text of a spec is refused by the path of the field: programs would see only what is before it."""
    with pytest.raises(SpecInvalid) as caught:
        check(subject(text))
    assert [refused.path for refused in caught.value.violations if refused.path.endswith(path)]


def test_contents_may_hold_nul_characters() -> None:
    """The content of a file is bytes, and arrives as such."""
    check(subject('os: {files: [{path: /etc/x, content: {text: "a\\0b"}}]}'))
