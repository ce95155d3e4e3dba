"""What the tests of credentials share: a fixed clock and a factory on it."""

from datetime import UTC, datetime

import pytest

from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.generation import SecretFactory
from tools.oracles.pytest_plugin import engine

__all__ = ["engine"]

NOW = datetime(2026, 5, 4, 12, 30, 15, 999, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    """Give the only time there is in these tests."""
    return NOW


@pytest.fixture
def factory(now: datetime) -> SecretFactory:
    """Give a factory with real randomness and a fixed clock."""
    return SecretFactory(entropy=SystemEntropy(), clock=lambda: now)
