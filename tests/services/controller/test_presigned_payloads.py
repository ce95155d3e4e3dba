"""Payloads that machines fetch from the bucket itself, by addresses that are signed for one object."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import click
import pytest
from pydantic import ValidationError

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


def test_only_s3_signs_for_a_day() -> None:
    """What other stores sign, and for how long, is not known here."""
    with pytest.raises(ValidationError, match="needs a --payload-store of s3"):
        ControllerSettings(**{**PRESIGNED, "payload_store": "gs://bucket"}, payload_url_base=BUCKET)
