"""Addresses of package repositories, which every account of a machine can read."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from slipway.contract.errors import Violation
from slipway.v1alpha1 import os_pb2 as ospb


def violations(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Give the addresses that no package manager can be given, by field path; the address is never repeated."""
    for index, repository in enumerate(os.packages.repositories):
        where = f"{path}.packages.repositories[{index}].url"
        try:
            address = urlsplit(repository.url)
        except ValueError:
            continue  # The field's own grammar refuses it.
        if "@" in address.netloc:
            yield Violation(
                where,
                "holds credentials, which every account of the machine could read",
                remedy="put them into a file of the package manager's by os.files, with mode 0600",
            )
        elif repository.url and (address.scheme not in {"http", "https"} or not address.hostname):
            yield Violation(where, "must be an address of http or https")
