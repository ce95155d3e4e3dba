"""Stores: each secret is made once per cluster, kept safely, and never mixed with another cluster's."""

import multiprocessing
import os
import stat
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.credentials.cluster_file import UnreadableClusterFile, decode, encode, folder_name
from slipway.bootstrapper.credentials.cluster_secrets import cluster_declarations
from slipway.bootstrapper.credentials.directory_store import DirectoryStore
from slipway.bootstrapper.credentials.entropy import KeyType, SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.credentials.store import ClusterKey, Credentials, CredentialStore, KeySettings
from slipway.contract.errors import CredentialsMissing
from slipway.v1alpha1 import secret_pb2 as secretpb

CLUSTER = ClusterKey("prod", "default")
OTHER = ClusterKey("prod", "elsewhere")
TOKEN = secretpb.SecretDeclaration(name="a.example/token", kind=secretpb.SECRET_KIND_BOOTSTRAP_TOKEN)
LATER = secretpb.SecretDeclaration(name="a.example/later", kind=secretpb.SECRET_KIND_RANDOM_BASE64)
SETTINGS = KeySettings()


@pytest.fixture(params=["ephemeral", "directory"])
def store(request: pytest.FixtureRequest, factory: SecretFactory, tmp_path: Path) -> CredentialStore:
    """Give each store that makes secrets."""
    return EphemeralStore(factory) if request.param == "ephemeral" else DirectoryStore(tmp_path / "c", factory)


def test_the_same_secrets_come_every_time(store: CredentialStore) -> None:
    """Three control-plane machines and a worker, rendered one after another, agree."""
    first = store.ensure(CLUSTER, cluster_declarations(), SETTINGS)
    assert store.ensure(CLUSTER, cluster_declarations(), SETTINGS).secrets == first.secrets
    assert len(first.secrets) == 9


def test_clusters_do_not_share_secrets(store: CredentialStore) -> None:
    """Two clusters of one name in two namespaces have nothing in common."""
    one = store.ensure(CLUSTER, [TOKEN], SETTINGS).secrets
    two = store.ensure(OTHER, [TOKEN], SETTINGS).secrets
    assert one[0].value != two[0].value


def test_a_secret_that_is_declared_later_is_added(store: CredentialStore) -> None:
    """A provisioner that comes later gets its secrets; the old ones stay; nothing unasked is given."""
    before = store.ensure(CLUSTER, [TOKEN], SETTINGS).secrets
    after = store.ensure(CLUSTER, [LATER, TOKEN], SETTINGS).secrets
    assert [secret.name for secret in after] == ["a.example/later", "a.example/token"]
    assert after[1] == before[0]
    assert store.ensure(CLUSTER, [TOKEN], SETTINGS).secrets == before


def test_threads_agree(store: CredentialStore) -> None:
    """Requests that come at the same time get the same secrets."""
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: store.ensure(CLUSTER, [TOKEN, LATER], SETTINGS).secrets, range(16)))
    assert all(result == results[0] for result in results)


def _ensure_in_another_process(directory: str) -> list[bytes]:
    factory = SecretFactory(entropy=SystemEntropy(), clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    credentials = DirectoryStore(Path(directory), factory).ensure(CLUSTER, cluster_declarations(), SETTINGS)
    return [secret.value for secret in credentials.secrets]


def test_processes_agree(tmp_path: Path) -> None:
    """Processes that start together on an empty directory make one set of secrets between them."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(3, mp_context=context) as pool:
        results = list(pool.map(_ensure_in_another_process, [str(tmp_path / "c")] * 6))
    assert all(result == results[0] for result in results)


def test_the_directory_is_for_its_owner_only(tmp_path: Path, factory: SecretFactory) -> None:
    """Folders are 0700 and files 0600 whatever the umask is, and no temporary file stays."""
    previous = os.umask(0)
    try:
        DirectoryStore(tmp_path / "c", factory).ensure(CLUSTER, [TOKEN], SETTINGS)
    finally:
        os.umask(previous)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"c": 0o700, "default_prod": 0o700, ".lock": 0o600, "credentials.json": 0o600}


@pytest.mark.parametrize("name", ["", "credentials.json"])
def test_what_is_open_to_others_is_refused(tmp_path: Path, factory: SecretFactory, name: str) -> None:
    """Secrets that others could have read are not handed out in silence."""
    store = DirectoryStore(tmp_path, factory)
    store.ensure(CLUSTER, [TOKEN], SETTINGS)
    (tmp_path / "default_prod" / name).chmod(0o755)
    with pytest.raises(CredentialsMissing, match="open to others"):
        store.ensure(CLUSTER, [TOKEN], SETTINGS)


def test_a_link_in_place_of_the_file_is_refused(tmp_path: Path, factory: SecretFactory) -> None:
    """Nobody can make the store read or write somewhere else."""
    store = DirectoryStore(tmp_path, factory)
    store.ensure(CLUSTER, [TOKEN], SETTINGS)
    file = tmp_path / "default_prod" / "credentials.json"
    file.rename(tmp_path / "moved")
    file.symlink_to(tmp_path / "moved")
    with pytest.raises(CredentialsMissing, match="cannot be used"):
        store.ensure(CLUSTER, [TOKEN], SETTINGS)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"{}", "without version"),
        (b'{"version": 2}', "of another version"),
        (b"\xff\xfe", "not text"),
        (encode(OTHER, []), "of another cluster"),
        (
            encode(CLUSTER, []).replace(b"[]", b'[{"name": "n", "key": "k", "kind": "hunter2", "value": ""}]'),
            "kind",
        ),
        (
            encode(CLUSTER, []).replace(
                b"[]", b'[{"name": "n", "key": "k", "kind": "SECRET_KIND_OPAQUE", "value": "hunter2!"}]'
            ),
            "value",
        ),
        (b"[1]", "a list"),
    ],
)
def test_a_damaged_file_is_refused_and_left_alone(
    tmp_path: Path, factory: SecretFactory, data: bytes, reason: str
) -> None:
    """A file that cannot be read is an error that shows nothing of it; it is never overwritten."""
    store = DirectoryStore(tmp_path, factory)
    store.ensure(CLUSTER, [TOKEN], SETTINGS)
    file = tmp_path / "default_prod" / "credentials.json"
    file.write_bytes(data)
    with pytest.raises(CredentialsMissing) as caught:
        store.ensure(CLUSTER, [TOKEN], SETTINGS)
    assert file.read_bytes() == data, reason
    assert "hunter2" not in str(caught.value)


def test_a_directory_that_cannot_be_made_is_a_named_error(tmp_path: Path, factory: SecretFactory) -> None:
    """The error is one of the contract's, not an OSError."""
    (tmp_path / "file").touch()
    with pytest.raises(CredentialsMissing, match="cannot be used"):
        DirectoryStore(tmp_path / "file", factory).ensure(CLUSTER, [TOKEN], SETTINGS)


def test_a_file_of_an_interrupted_write_does_no_harm(tmp_path: Path, factory: SecretFactory) -> None:
    """What a crash left beside the file is thrown away."""
    folder = tmp_path / "default_prod"
    folder.mkdir(mode=0o700)
    (folder / ".credentials.json.new").write_bytes(b"half")
    store = DirectoryStore(tmp_path, factory)
    assert store.ensure(CLUSTER, [TOKEN], SETTINGS) is not None
    assert not (folder / ".credentials.json.new").exists()


NAMES = st.one_of(st.text(max_size=300), st.sampled_from(["..", ".", "a/b", "prod", "con", "a" * 253]))


@given(NAMES, NAMES, NAMES, NAMES)
def test_folder_names_are_safe_and_different(a: str, b: str, c: str, d: str) -> None:
    """No name leaves the directory, and no two clusters share a folder."""
    one, two = ClusterKey(a, b), ClusterKey(c, d)
    folder = folder_name(one)
    assert "/" not in folder
    assert "\0" not in folder
    assert folder not in ("", ".", "..")
    assert len(folder.encode()) <= 255
    assert (folder == folder_name(two)) == (one == two)


@given(
    st.lists(
        st.builds(
            secretpb.Secret,
            name=st.text(max_size=9),
            key=st.text(max_size=9),
            kind=st.sampled_from(secretpb.SecretKind.values()),
            value=st.binary(max_size=40),
        ),
        max_size=4,
        unique_by=lambda secret: (secret.name, secret.key),
    )
)
def test_the_file_gives_back_what_was_written(secrets: list[secretpb.Secret]) -> None:
    """decode(encode(x)) is x, sorted, for bytes of every kind."""
    for secret in secrets[1:]:
        secret.expire_time.FromSeconds(1_800_000_000)
    decoded = decode(CLUSTER, encode(CLUSTER, secrets))
    assert decoded == sorted(secrets, key=lambda secret: (secret.name, secret.key))
    with pytest.raises(UnreadableClusterFile):
        decode(OTHER, encode(CLUSTER, secrets))


def test_an_ephemeral_store_warns(factory: SecretFactory) -> None:
    """Nobody builds a cluster on memory without having been told."""
    (warning,) = EphemeralStore(factory).ensure(CLUSTER, [TOKEN], SETTINGS).warnings
    assert "--credentials" in warning


def test_placeholders_create_nothing_and_are_marked() -> None:
    """The same bytes for every cluster and call, never expiring, and said to be placeholders."""
    one = PlaceholderStore().ensure(CLUSTER, cluster_declarations(), SETTINGS)
    two = PlaceholderStore().ensure(OTHER, cluster_declarations(), SETTINGS)
    assert one.secrets == two.secrets
    assert one.placeholder
    assert not any(secret.HasField("expire_time") for secret in one.secrets)


@pytest.mark.parametrize("key_type", list(KeyType))
def test_placeholders_have_the_size_of_the_real_thing(factory: SecretFactory, key_type: KeyType) -> None:
    """Within the few bytes by which two real ones differ (DER integers lose their leading zeros)."""
    settings = KeySettings(key_type=key_type)
    declared = [*cluster_declarations(), LATER]
    if key_type in (KeyType.RSA_3072, KeyType.RSA_4096):
        declared = declared[:1]
    placeholders = PlaceholderStore().ensure(CLUSTER, declared, settings)
    real = EphemeralStore(factory).ensure(CLUSTER, declared, settings)
    assert _sizes(placeholders, places=True) == _sizes(real, places=True)
    for guess, truth in zip(_sizes(placeholders), _sizes(real), strict=True):
        assert abs(guess - truth) <= 12


def test_no_repr_shows_a_secret(factory: SecretFactory) -> None:
    """Credentials can be logged by accident without harm."""
    credentials = EphemeralStore(factory).ensure(CLUSTER, [TOKEN], SETTINGS)
    assert credentials.secrets[0].value.decode() not in repr(credentials)


def _sizes(credentials: Credentials, *, places: bool = False) -> Iterable:  # type: ignore[type-arg]
    if places:
        return [(secret.name, secret.key, secret.kind) for secret in credentials.secrets]
    return [len(secret.value) for secret in credentials.secrets]


def test_an_expired_token_is_made_again_and_told(tmp_path: Path) -> None:
    """A day later the directory still serves: a new token, the same authorities, and a word about it."""
    now = datetime(2030, 1, 1, tzinfo=UTC)
    early = SecretFactory(entropy=SystemEntropy(), clock=lambda: now)
    late = SecretFactory(entropy=SystemEntropy(), clock=lambda: now + 2 * SETTINGS.token_lifetime)
    first = DirectoryStore(tmp_path / "c", early).ensure(CLUSTER, [TOKEN, LATER], SETTINGS)
    second = DirectoryStore(tmp_path / "c", late).ensure(CLUSTER, [TOKEN, LATER], SETTINGS)
    assert second.secrets[0] == first.secrets[0]
    assert second.secrets[1].value != first.secrets[1].value
    assert first.warnings == ()
    assert TOKEN.name in second.warnings[0]


def test_a_token_for_the_life_of_the_cluster_stays(tmp_path: Path) -> None:
    """A declaration can say that its token never expires; then it is never made again."""
    lasting = secretpb.SecretDeclaration(name=TOKEN.name, kind=TOKEN.kind, never_expires=True)
    now = datetime(2030, 1, 1, tzinfo=UTC)
    early = SecretFactory(entropy=SystemEntropy(), clock=lambda: now)
    late = SecretFactory(entropy=SystemEntropy(), clock=lambda: now + 1000 * SETTINGS.token_lifetime)
    first = DirectoryStore(tmp_path / "c", early).ensure(CLUSTER, [lasting], SETTINGS)
    assert DirectoryStore(tmp_path / "c", late).ensure(CLUSTER, [lasting], SETTINGS).secrets == first.secrets
