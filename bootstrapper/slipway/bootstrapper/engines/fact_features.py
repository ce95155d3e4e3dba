"""The features of a text that may hold facts of the machine, or text of an extension."""

from collections.abc import Iterator

_FACTS = (
    "hostname",
    "local_hostname",
    "instance_id",
    "provider_id",
    "private_ipv4",
    "ipv6",
    "public_ipv4",
    "region",
    "availability_zone",
    "instance_type",
    "short_hostname",
)


def with_facts(feature: str, *, extensions: bool = True) -> Iterator[str]:
    """Give a feature with those of its machine facts and, where the engine takes it, of text of an extension."""
    yield feature
    yield f"{feature}.facts"
    yield from (f"{feature}.facts.{fact}" for fact in _FACTS)
    if extensions:
        yield f"{feature}.extensions"
