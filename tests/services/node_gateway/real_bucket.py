"""A bucket of a real object store, as the tests of the gateway and of its inbox use it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.services.certificates import Authority
from tools.oracles import object_store
from tools.oracles.object_store import ObjectStore


@pytest.fixture
def server(engine: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    """Run an object store, which this process reaches by its environment as a service does."""
    engine(object_store.NAME)
    folder = tmp_path / "buckets"
    folder.mkdir()
    with object_store.object_store(folder) as running:
        authority = tmp_path / "authority.crt"
        authority.write_bytes(Authority().certificate)
        settings = {**running.environment(), "SSL_CERT_FILE": str(authority)}
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield running
