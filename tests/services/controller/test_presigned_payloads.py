"""Payloads that machines fetch from the bucket itself, by addresses that are signed for one object."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pydantic import ValidationError

from slipway.bootstrapper.delivery.fetching import Fetching
from slipway.bootstrapper.delivery.stubs.formats import STUBS
from slipway.bootstrapper.delivery.stubs.source import MOST_BYTES, Source
from slipway.controller.payloads import Payloads
from slipway.controller.settings import ControllerSettings
from slipway.reports.objects import Objects
from tests.services.controller.payload_scene import SPEC, annotations, stored
from tests.services.controller.scene import Scene

BUCKET = "https://s3.eu-central-1.amazonaws.com/bucket/slipway"
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "eu-central-1"}
PRESIGNED: dict[str, Any] = {
    "insecure": True,
    "listen_address": "127.0.0.1:1",
    "embedded_provisioners": "cloud-init",
    "fetch_infrastructures": "metal",
    "payload_store": "s3://bucket/slipway",
    "payload_presigned": True,
}


@pytest.fixture
def credential(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Give the process a credential for S3 that does not expire."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


async def test_a_presigned_address_needs_no_ticket(
    scene: Scene, store: Objects, credential: pytest.MonkeyPatch
) -> None:
    """The stub has the address of one object, signed for a day and an hour; the Secret's annotation opens nothing."""
    del credential
    signing = ControllerSettings(**PRESIGNED, payload_url_base=BUCKET).payloads()
    assert signing is not None
    scene.payloads = replace(signing, objects=StoredElsewhere(signing.objects.store, store.threads, kept=store))
    scene.restart()
    scene.worker(spec=SPEC)
    await scene.reconcile()
    ((name, _),) = stored(store).items()
    stub = scene.value()
    assert f'url="{BUCKET}/payload/{name}?X-Amz-Algorithm='.encode() in stub
    assert b"X-Amz-Expires=90000" in stub
    assert b"Bearer" not in stub
    assert len(stub) <= 2048
    assert annotations(scene)["bootstrap.slipway.dev/payload"] == f"{BUCKET}/payload/{name}"
    before = scene.value()
    scene.later(minutes=5)
    await scene.reconcile()
    assert scene.value() == before
    signing.objects.close()


@dataclass(frozen=True)
class StoredElsewhere(Objects):
    """Signs for a bucket, and keeps the objects in a folder."""

    kept: Objects | None = None

    def put(self, path: str, data: bytes) -> None:
        """Write to the folder."""
        assert self.kept is not None
        self.kept.put(path, data)

    def paths(self, folder: str, *, after: str = "") -> Iterator[tuple[str, int]]:
        """Read from the folder."""
        assert self.kept is not None
        return self.kept.paths(folder, after=after)


@pytest.mark.parametrize(
    ("change", "environment", "message"),
    [
        ({}, {"AWS_SESSION_TOKEN": "token"}, "a credential that does not expire"),
        ({"payload_url_base": "https://other.example.com"}, {}, "must be the address of --payload-store"),
    ],
    ids=["a session", "another address"],
)
def test_addresses_that_would_not_open_end_at_the_start(
    credential: pytest.MonkeyPatch, change: dict[str, Any], environment: dict[str, str], message: str
) -> None:
    """A machine that boots after 20 hours shall not be the first to learn of it."""
    for name, value in environment.items():
        credential.setenv(name, value)
    with pytest.raises(click.UsageError, match=message):
        ControllerSettings(**{**PRESIGNED, "payload_url_base": BUCKET, **change}).payloads()


def test_a_folder_signs_no_addresses() -> None:
    """Machines fetch from it by a gateway only."""
    with pytest.raises(ValidationError, match="needs a --payload-store of s3"):
        ControllerSettings(**{**PRESIGNED, "payload_store": "file:///srv"}, payload_url_base=BUCKET)


def _of_google(key: bytes | None) -> str:
    """Give the file of a credential; without a key it is that of a workload identity."""
    account = {"type": "service_account", "client_email": "a@p.example", "private_key_id": "1", "project_id": "p"}
    if key is None:
        account = {"type": "external_account"}
    return json.dumps({**account, "private_key": key.decode()} if key else account)


RSA_KEY = rsa.generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
AZURE = {"AZURE_STORAGE_ACCOUNT_NAME": "acct", "AZURE_STORAGE_ACCOUNT_KEY": base64.b64encode(b"k" * 32).decode()}
STORES = [
    ("gs://bucket/slipway", "https://storage.googleapis.com/bucket/slipway", {}, "X-Goog-Expires=90000"),
    ("az://container/slipway", "https://acct.blob.core.windows.net/container/slipway", AZURE, "sp=r"),
]


@pytest.mark.parametrize("bucket", STORES, ids=["Google", "Azure"])
def test_other_buckets_sign_as_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bucket: tuple[str, str, dict[str, str], str]
) -> None:
    """By the key of a service account or of a storage account: the stub is small enough, and reads one object."""
    store_url, base, environment, words = bucket
    (tmp_path / "key.json").write_text(_of_google(RSA_KEY))
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(tmp_path / "key.json"))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    payloads = ControllerSettings(**{**PRESIGNED, "payload_store": store_url}, payload_url_base=base).payloads()
    assert payloads is not None
    sign = payloads.fetching_of(bytes(32), config_uid="u", rotation=0).sign
    assert sign is not None
    name = "5f" * 32
    url = sign(name)
    assert url.startswith(f"{base}/payload/{name}?")
    assert words in url
    assert len(STUBS["cloud-config"].write(Source(url, "ab" * 32))) <= MOST_BYTES
    payloads.objects.close()


@pytest.mark.parametrize("credential_file", [None, "workload identity", "nothing that is JSON"])
def test_a_key_of_google_s_own_does_not_live_long_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, credential_file: str | None
) -> None:
    """A service signs for pods without a key, for twelve hours at most: refused at the start, without asking it."""
    monkeypatch.delenv("GOOGLE_SERVICE_ACCOUNT", raising=False)
    if credential_file is not None:
        text = _of_google(None) if credential_file == "workload identity" else credential_file
        (tmp_path / "key.json").write_text(text)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
    settings = ControllerSettings(**{**PRESIGNED, "payload_store": STORES[0][0]}, payload_url_base=STORES[0][1])
    with pytest.raises(click.UsageError, match=r"a credential that does not expire|cannot be opened"):
        settings.payloads()


def test_a_delegation_of_azure_is_refused(monkeypatch: pytest.MonkeyPatch, store: Objects) -> None:
    """Its key expires with the credential of the pod, which the address says."""
    payloads = Payloads(store, Fetching(frozenset({"metal"}), "https://a.example"), presigned=True)
    signed = "https://a.example/payload/probe?sv=2023-11-03&skoid=1&ske=2026-01-01&sig=x"
    monkeypatch.setattr(Objects, "signed_address", lambda *_: signed)
    with pytest.raises(ValueError, match="a credential that does not expire"):
        payloads.check_presigned()
