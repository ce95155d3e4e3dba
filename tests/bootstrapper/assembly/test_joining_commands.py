"""Commands that join a domain with a user's password are warned of by field; other commands are not."""

import pytest

from slipway.bootstrapper.assembly.joining_commands import CODE, joining_paths, joins_with_password
from slipway.bootstrapper.assembly.subject import check
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

CANARY = "canary-Passw0rd"

JOINS = [
    f"echo {CANARY} | realm join -U joiner corp.example.com",
    "realm --verbose join --user=joiner corp.example.com",
    f"printf %s '{CANARY}' | /usr/sbin/adcli join --stdin-password -U joiner --domain=corp.example.com",
    "adcli join corp.example.com --login-user joiner",
    f"net ads join -U joiner%{CANARY}",
    "set -e\nif true; then sudo net -k ads join --user=joiner; fi",
    "net ads join \\\n  -Ujoiner",
    f"samba-tool domain join corp.example.com MEMBER -U joiner --password={CANARY}",
    "Add-Computer -DomainName corp.example.com -Credential $credential -Restart",
    "add-computer -domain corp `\n  -cred (New-Object PSCredential('a', $b))",
    f"C:\\Windows\\System32\\NETDOM.EXE join %COMPUTERNAME% /Domain:corp /UserD:joiner /PasswordD:{CANARY}",
]
OTHERS = [
    "realm join --one-time-password=x corp.example.com",
    "adcli join --login-type=computer --stdin-password",
    "kubeadm join --config /etc/kubeadm.yaml",
    "# realm join -U joiner corp.example.com",
    "net ads testjoin -U joiner",
    "net ads join; id -U",
    "realm join\nuser -U x",
    "Add-Computer -WorkgroupName nodes",
    "djoin /requestODJ /loadFile blob /windowspath C:\\Windows /localos",
    "join -U a b",
    "",
]


@pytest.mark.parametrize("text", JOINS)
def test_a_join_by_password_is_recognised(text: str) -> None:
    """By program and option, with paths, pipes, continued lines and the habits of Windows."""
    assert joins_with_password(text)


@pytest.mark.parametrize("text", OTHERS)
def test_nothing_else_is(text: str) -> None:
    """Joins with the machine's own credential, other joins, other commands of a line, comments."""
    assert not joins_with_password(text)


def _spec() -> specpb.MachineBootstrapSpec:
    """Give a spec with such a command in each place."""
    join = JOINS[0]
    secret = secretpb.SecretReference(name="s", key="k")
    segments = [
        contentpb.Segment(text="echo "),
        contentpb.Segment(secret_ref=secret),
        contentpb.Segment(data=b" | net ads join -U a"),
    ]
    spec = specpb.MachineBootstrapSpec()
    spec.commands.boot.add(argv=["sh", "-c", join])
    spec.commands.pre.add(argv=["realm", "join", "-U", "joiner", "corp.example.com"])
    spec.commands.pre.add(argv=["true"])
    spec.commands.post.add(script=contentpb.Content(text=join), interpreter=planpb.INTERPRETER_SH)
    spec.os.files.append(ospb.File(path="/etc/a", content=contentpb.Content(data=join.encode())))
    spec.os.files.append(ospb.File(path="/etc/b", content=contentpb.Content(segments=segments)))
    spec.os.files.append(ospb.File(path="/etc/c", content=contentpb.Content(secret_ref=secret)))
    return spec


PATHS = [
    "commands.boot[0].argv",
    "commands.pre[0].argv",
    "commands.post[0].script",
    "os.files[0].content",
    "os.files[1].content",
]


def test_each_place_is_named() -> None:
    """Arguments, scripts and files, as text, as bytes and in parts."""
    assert list(joining_paths(_spec())) == PATHS


def test_the_warning_names_the_field_and_no_value() -> None:
    """It is among the remarks of a spec that is valid: a warning, with what to use instead."""
    spec = _spec()
    spec.os.files[0].origin.path = "spec.os.files[0]"
    machine = clusterpb.Machine(name="w", role=clusterpb.ROLE_WORKER, kubernetes_version="v1.34.2")
    cluster = clusterpb.Cluster(name="c", endpoint=clusterpb.Endpoint(host="api.example.com", port=6443))
    checked = check(bootstrappb.Subject(spec=spec, cluster=cluster, machine=machine))
    joins = [remark for remark in checked.diagnostics if remark.code == CODE]
    assert [remark.field_path for remark in joins] == PATHS
    assert joins[3].origin.path == "spec.os.files[0].content"
    assert all("os.directory" in remark.message for remark in joins)
    assert CANARY not in repr(joins)
