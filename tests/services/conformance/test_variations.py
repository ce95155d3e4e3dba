"""Variations of a bundle: what the rules of its fields allow, and nothing else."""

import pytest

from slipway.conformance.likenesses import likenesses
from slipway.conformance.variations import Variation, lists, parts, values, words
from slipway.contract.validation import violations
from slipway.v1alpha1 import bundle_pb2 as bundlepb


def _bundle() -> bundlepb.BootstrapBundle:
    bundle = bundlepb.BootstrapBundle()
    bundle.os.hostname.name.value = "worker-1"
    bundle.os.ntp.enabled = True
    bundle.os.users.add(name="operator", gecos="O. Perator", uid=3000)
    bundle.os.files.add(path="/var/lib/a", owner="operator", group="operator", mode=0o600)
    bundle.os.packages.install.add(name="socat", version="1.7")
    webhook = bundle.intent.kubernetes.control_plane.authentication_webhook
    webhook.cache_ttl.seconds = 60
    return bundle


def _of(field: str) -> list[Variation]:
    return [made for made in values(_bundle(), set()) if made.field == field]


def test_variations_keep_the_rules() -> None:
    """None breaks a rule that the bundle itself keeps, and none is the bundle itself."""
    bundle = _bundle()
    known = {made.path for made in violations(bundle)}
    made = [*values(bundle, set()), *lists(bundle, set())]
    assert len(made) > 40
    assert [made.field for made in made if {fault.path for fault in violations(made.bundle)} - known] == []
    assert [made.field for made in made if made.bundle == bundle] == []


def test_a_text_in_parts() -> None:
    """What may have parts has two of them, which together are the text; each field once."""
    tried: set[str] = set()
    (variation,) = parts(_bundle(), tried)
    assert [segment.text for segment in variation.bundle.os.hostname.name.segments] == ["work", "er-1"]
    assert not variation.bundle.os.hostname.name.HasField("value")
    assert list(parts(_bundle(), tried)) == []


@pytest.mark.parametrize(
    ("field", "wanted", "reason"),
    [
        ("User.gecos", "it's", "an apostrophe"),
        ("User.gecos", "two  blanks", "two blanks"),
        ("hostname.name.value", "1e3", "a name that is a number in YAML"),
        ("hostname.name.value", "worker-1xxxxxxxxxxxxxxxxxxxxxxx", "a long name"),
        ("File.path", "/var/lib/a", "a path goes on behind the made that is there"),
    ],
)
def test_texts(field: str, wanted: str, reason: str) -> None:
    """Each field gets what its own grammar allows of the texts."""
    texts = [str(made.bundle.os).replace("\\'", "'") for made in _of(field)]
    assert any(wanted in text for text in texts), reason


def test_what_is_not_said() -> None:
    """A field that may be unset is, once; a number, a duration and a word for yes have other values."""
    assert [made.bundle.os.ntp.HasField("enabled") for made in _of("Ntp.enabled")] == [False, True]
    assert [made.bundle.os.ntp.enabled for made in _of("Ntp.enabled")] == [False, False]
    assert {made.bundle.os.users[0].uid for made in _of("User.uid")} >= {0, 70_000}
    webhook = "AuthenticationWebhook.cache_ttl"
    ttl = [made.bundle.intent.kubernetes.control_plane.authentication_webhook.cache_ttl for made in _of(webhook)]
    assert 500_000_000 in {made.nanos for made in ttl}


def test_a_name_that_is_referred_to() -> None:
    """It changes there, too: a file whose owner is not there would be another case."""
    assert all(made.bundle.os.files[0].owner == made.bundle.os.users[0].name for made in _of("User.name"))


def test_fields_are_tried_once() -> None:
    """What an earlier bundle has had is left out."""
    tried: set[str] = set()
    assert list(values(_bundle(), tried))
    assert list(values(_bundle(), tried)) == []
    assert list(lists(_bundle(), tried))
    assert list(lists(_bundle(), tried)) == []


def test_words_that_mean_something() -> None:
    """Each has a case of its own beside each set of fields that stand with it."""
    bundle = _bundle()
    registries = bundle.os.containerd.registries
    registries.add(host="registry.example.com")
    registries.add(host="registry.example.com", only_endpoints=True)
    registries.add(host="other.example.com", only_endpoints=True)
    made = [made.bundle.os.containerd.registries for made in words(bundle, set()) if made.field == "Registry.host"]
    names = [[registry.host for registry in registries] for registries in made]
    same, other = "registry.example.com", "other.example.com"
    assert names == [
        ["_default", same, other], ["docker.io", same, other], [same, "_default", other], [same, "docker.io", other],
    ]  # fmt: skip


def test_lists_of_three() -> None:
    """The second entry says only what it must; the names differ."""
    (users_of_three,) = [made for made in lists(_bundle(), set()) if made.field == "OperatingSystem.users"]
    users = users_of_three.bundle.os.users
    assert [user.name for user in users] == ["operator-2", "operator-1", "operator-3"]
    assert [user.gecos for user in users] == ["O. Perator-2", "", "O. Perator-3"]
    assert [user.HasField("uid") for user in users] == [True, False, True]


def test_entries_that_are_alike_in_one_field() -> None:
    """Each text of an entry is once that of another one, unless it is the entry's name; no rule is broken."""
    bundle = _bundle()
    server = bundle.intent.kubernetes.control_plane.api_server
    server.volumes.add(name="a", host_path="/var/a", mount_path="/a")
    known, tried = {fault.path for fault in violations(bundle)}, set[str]()
    made = [entry for entry in likenesses(bundle, tried) if entry.field.startswith("Component.volumes")]
    volumes = [entry.bundle.intent.kubernetes.control_plane.api_server.volumes for entry in made]
    assert [(before.host_path, before.mount_path) for before, _ in volumes] == [("/var/a", "/a")] * len(volumes)
    assert ("/var/a", "/a-like") in [(behind.host_path, behind.mount_path) for _, behind in volumes]
    assert "a" not in [behind.name for _, behind in volumes]
    assert [entry.field for entry in made if {fault.path for fault in violations(entry.bundle)} - known] == []
    assert list(likenesses(bundle, tried)) == []
