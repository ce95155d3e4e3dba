"""What the suite calls different: missing, other, out of order, more than was asked for; and what it cannot tell."""

import base64

import pytest
from google.protobuf.json_format import ParseDict

from slipway.conformance.compare import compare
from slipway.conformance.field_paths import names_item
from slipway.conformance.figures import Load
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_BOOT = [{"argv": ["/bin/echo", word]} for word in ("first", "second")]


def _bundle(**of: object) -> bundlepb.BootstrapBundle:
    return ParseDict(of, bundlepb.BootstrapBundle())


def _state(*features: str, **of: object) -> statepb.MachineState:
    return ParseDict({**of, "features": features}, statepb.MachineState())


@pytest.mark.parametrize(
    ("bundle", "state", "problem", "reason"),
    [
        ({"users": [{"name": "a"}]}, {"users": [{"name": "a"}]}, "", "as it was asked for"),
        ({"users": [{"name": "a"}]}, {"users": []}, "os.users[0]", "somebody is missing"),
        ({"users": [{"name": "a"}]}, {"users": [{"name": "a", "shell": "/bin/sh"}]}, "shell", "a shell unasked"),
        ({"users": [{"name": "a"}]}, {"users": [{"name": "a"}, {"name": "b"}]}, "a user is", "somebody besides"),
        ({"users": [{"name": "a"}]}, {"users": [{"name": "a", "sudo": ["ALL"]}]}, "`sudo`", "more than was asked for"),
        (
            {"users": [{"name": "a", "lockPassword": True}]},
            {"users": [{"name": "a", "lockPassword": True, "passwordHash": {"value": "!*"}}]},
            "", "a password that locks gives nothing",
        ),
    ],
)  # fmt: skip
def test_users(bundle: dict, state: dict, problem: str, reason: str) -> None:
    """Whoever is not there, is there besides, or may do more than the bundle says."""
    seen = ("os.users", "os.users.sudo", "os.users.lock_password")
    found = compare(_bundle(os=bundle), _state(*seen, os=state), windows=False)
    assert bool(found.problems) == bool(problem), reason
    assert problem in " ".join(found.problems), reason


@pytest.mark.parametrize(("field", "wrong"), [("shell", False), ("gecos", True)])
def test_an_empty_text_that_no_grammar_takes_counts_as_unset(field: str, wrong: bool) -> None:
    """A system may have any shell then; an empty comment is a comment."""
    state = _state("os.users", "os.users.shell", "os.users.gecos", os={"users": [{"name": "a", field: "/bin/sh"}]})
    comparison = compare(_bundle(os={"users": [{"name": "a", field: ""}]}), state, windows=False)
    assert bool(comparison.problems) is wrong


@pytest.mark.parametrize(("kind", "longest"), [("ext4", 16), ("xfs", 12), ("vfat", 11), ("swap", 15), ("btrfs", 255)])
def test_labels_that_a_filesystem_does_not_hold(kind: str, longest: int) -> None:
    """A label that a program would cut is wrong, even where the user data has it as it is; bytes count."""
    seen = ("os.storage.filesystems", "os.storage.filesystems.label")
    for label, holds in (("x" * longest, True), ("x" * longest + "x", False), ("x" * (longest - 1) + "ü", False)):
        filesystem = {"device": "/dev/sdb1", "format": kind, "label": label}
        state = _state(*seen, os={"filesystems": [filesystem]})
        comparison = compare(_bundle(os={"filesystems": [filesystem]}), state, windows=False)
        assert (not comparison.problems) == holds, label


@pytest.mark.parametrize(
    ("programs", "holds", "reason"),
    [
        (_BOOT, True, "in their order"),
        ([_BOOT[0], {"argv": ["/bin/true"]}, _BOOT[1]], True, "with something in between"),
        (_BOOT[::-1], False, "the other way round"),
    ],
)
def test_order_of_commands(programs: list, holds: bool, reason: str) -> None:  # a column of the table
    """Commands are run in their order, or it is no fulfilment."""
    state = _state("os.commands", "os.commands.boot", programs=programs)
    found = compare(_bundle(commands={"boot": _BOOT}), state, windows=False)
    assert (not found.problems) == holds, reason


@pytest.mark.parametrize(
    ("argv", "holds", "reason"),
    [
        (["/opt/run", "two words", "$x"], True, "word for word"),
        (["sh", "-c", "/opt/run 'two words' '$x'"], True, "a text of which a shell makes the same words"),
        (["sh", "-c", "/opt/run two words '$x'"], False, "a text without quotes"),
        (["sh", "-c", "/opt/run 'two words' $x"], False, "a variable"),
        (["sh", "-c", "/opt/run 'two words' '$x'; true"], False, "one command more"),
        (["sh", "-c", "/opt/run 'two words' '$x'", "more"], False, "arguments of the shell"),
        (["bash", "-lc", "/opt/run 'two words' '$x'"], False, "another shell, which reads files of its own first"),
    ],
)
def test_entry_point_as_a_text(argv: list[str], holds: bool, reason: str) -> None:
    """A shell in between is right where it changes no word."""
    bundle = _bundle(plan={"entrypoint": {"argv": ["/opt/run", "two words", "$x"]}})
    found = compare(bundle, _state("plan.entrypoint", programs=[{"argv": argv}]), windows=False)
    assert (not found.problems) == holds, reason


_PLANE = {
    "controlPlane": {"apiServerSans": ["api.example.org"], "bindPort": 7443},
    "etcd": {"local": {"imageTag": "3"}},
}
_OTHER = {**_PLANE, "controlPlane": {"apiServerSans": ["api.example.com"], "bindPort": 7443}}
_SEEN = ("kubernetes.control_plane", "kubernetes.control_plane.api_server_sans", "kubernetes.control_plane.bind_port",
         "kubernetes.etcd", "kubernetes.etcd.local", "kubernetes.etcd.local.image_tag")  # fmt: skip


@pytest.mark.parametrize(
    ("claimed", "there", "failed", "verified", "reason"),
    [
        (_SEEN, _PLANE, set(), set(_SEEN), "all of it is there"),
        (_SEEN, _OTHER, {_SEEN[1]}, set(_SEEN) - {_SEEN[1]}, "another name"),
        (_SEEN, {}, {_SEEN[1], _SEEN[2], _SEEN[5]}, {_SEEN[0], _SEEN[3], _SEEN[4]}, "nothing of it"),
        (_SEEN[:3], _PLANE, set(), set(_SEEN[:3]), "of etcd the decoder says nothing"),
        ((), _PLANE, set(), set(), "what is not claimed is neither right nor wrong"),
    ],
)
def test_control_plane_of_a_decoder_of_ones_own(
    claimed: tuple[str, ...], there: dict, failed: set[str], verified: set[str], reason: str
) -> None:
    """Control planes of other formats are held against the intent as those of our own are."""
    bundle = _bundle(intent={"role": "ROLE_CONTROL_PLANE", "kubernetes": _PLANE})
    found = compare(bundle, _state(*claimed, node={"kubernetes": there}), windows=False)
    assert found.failed == failed, reason
    assert found.verified == verified, reason
    assert (found.unverified & set(_SEEN) == set()) == (set(claimed) == set(_SEEN)), reason


_GIVEN = {("acme/ca", "tls.crt"): "certificate", ("acme/token", "token"): "token", ("acme/other", "token"): "other"}
_PAIR = {"certificate": {"name": "etcd", "key": "tls.crt"}, "privateKey": {"name": "etcd", "key": "tls.key"}}


def _held(*rows: tuple[str, str, str]) -> list[dict]:
    return [{"name": name, "key": key, "value": _base64(value)} for name, key, value in rows]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


_ETCD = (("etcd_ca", "tls.crt", "c"), ("etcd_ca", "tls.key", "k"))
_ALL = tuple((*id_, value) for id_, value in _GIVEN.items())


@pytest.mark.parametrize(
    ("held", "holds", "reason"),
    [
        ((*_ALL, *_ETCD), True, "each under its name"),
        ((*[("x", f"{n}", value) for n, (_, _, value) in enumerate(_ALL)], *_ETCD), True, "names of the decoder's own"),
        ((*_ALL[1:], *_ETCD), False, "an authority is missing"),
        ((*_ALL, _ETCD[0]), False, "a key of the cluster is missing"),
        ((*_ALL, _ETCD[1]), False, "a certificate of the cluster is missing"),
        ((), False, "nothing is told"),
        ((*_ALL, *_ETCD, ("acme/ca", "tls.key", "key")), False, "a key that the machine is not to have"),
        ((_ALL[0], ("acme/token", "token", "other"), ("acme/other", "token", "token"), *_ETCD), False, "mixed up"),
        ((*_ALL, ("etcd_ca", "tls.crt", "c"), ("etcd_ca", "tls.key", "")), False, "an empty one"),
    ],
)
def test_secrets_of_a_node(held: tuple[tuple[str, str, str], ...], holds: bool, reason: str) -> None:  # a column
    """A machine holds each secret that it was given for its role, in its place, and no other."""
    values = {**_GIVEN, ("etcd", "tls.crt"): "c", ("etcd", "tls.key"): "k"}
    secrets = [{"name": name, "key": key, "value": _base64(value)} for (name, key), value in values.items()]
    declared = [{"name": name, "key": key} for name, key in _GIVEN]
    bundle = _bundle(intent={"credentials": {"declared": declared, "etcdCa": _PAIR}}, secrets={"secrets": secrets})
    found = compare(bundle, _state("kubernetes.credentials", node={"secrets": _held(*held)}), windows=False)
    assert ("kubernetes.credentials" in found.verified) == holds, reason
    assert ("kubernetes.credentials" in found.failed) != holds, reason


@pytest.mark.parametrize(
    ("path", "leads", "reason"),
    [
        ("os.files[1].mode", True, "a field of an item"),
        ("os.files[1]", True, "an item"),
        ("os.users[0].groups", True, "a list of words belongs to its item"),
        ("target.os_family", True, "a field of the request"),
        ("os.files", False, "a list of items"),
        ("os.files[2].mode", False, "an item that is not there"),
        ("os.file[0]", False, "no field"),
        ("", False, "nothing"),
    ],
)
def test_field_paths(path: str, leads: bool, reason: str) -> None:  # a column of the table
    """A path leads to something in the request, or it helps nobody."""
    system = {"files": [{"path": "/a"}, {"path": "/b"}], "users": [{"name": "a", "groups": ["b"]}]}
    request = provisionerpb.RenderRequest(bundle=_bundle(os=system))
    request.target.os_family = 1
    assert names_item(request, path) == leads, reason


def test_figures() -> None:
    """Rate, middle and the slowest of a hundred, in one line."""
    load = Load("all formats", [0.001] * 98 + [0.5, 0.5], 2.0)
    assert (load.rate, load.quantile(0.5), load.quantile(0.99)) == (50.0, 0.001, 0.5)
    assert str(load) == "all formats: 100 renders, 50 a second, p50 1.0 ms, p99 500.0 ms"
    assert Load("nothing", [], 0.0).rate == 0.0
