"""Stores and checks look at secrets by name; the contract lists them one value at a time."""

from collections.abc import Iterable

from slipway.v1alpha1 import secret_pb2 as secretpb


def by_name(secrets: Iterable[secretpb.Secret]) -> dict[str, dict[str, bytes]]:
    """Group values by name and key."""
    grouped: dict[str, dict[str, bytes]] = {}
    for secret in secrets:
        grouped.setdefault(secret.name, {})[secret.key] = secret.value
    return grouped


def named(
    secrets: Iterable[secretpb.Secret], declarations: Iterable[secretpb.SecretDeclaration]
) -> list[secretpb.Secret]:
    """Keep the secrets that were declared."""
    names = {declaration.name for declaration in declarations}
    return [secret for secret in secrets if secret.name in names]
