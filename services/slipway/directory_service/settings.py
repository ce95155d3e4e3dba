"""Settings of `slipway-directory`. What `slipway directory` has as well has the same variable in the environment."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from slipway.contract.grammars import grammars
from slipway.directory.failures import ConfigurationInvalid
from slipway.directory.ownership import Mark
from slipway.directory.settings import Settings, read_password
from slipway.rpc.settings import ServerSettings


class DirectorySettings(ServerSettings):
    """Which domain is served, as whom, and where computers go. Lists are comma-separated.

    Attributes:
        directory_domain: DNS name of the domain; specs with another one are left alone.
        directory_server: the domain controller, ldaps://HOST or ldaps://HOST:PORT.
        directory_user: the delegated account.
        directory_password_file: a file with its password; it is read again for each connection.
        directory_ca_file: certificates that are trusted; those of the system where None.
        directory_base: the unit below which everything has to be.
        directory_unit: where new computers go; the base where "".
        directory_units: a file with units by namespace and Cluster.
        directory_owner: the id in the mark of our objects.
        directory_cleanup: remove the computers of Machines that are deleted.
        net_program: Samba's `net`, for blobs.
        namespaces: the only ones that are followed; None for all.
        kubeconfig: the management cluster; without it that of this pod.
        leader_elect: only the leader writes.
        lease_namespace: namespace of the leader's Lease; without it the process's own.
    """

    directory_domain: str
    directory_server: str
    directory_user: str
    directory_password_file: Path
    directory_ca_file: Path | None = None
    directory_base: str
    directory_unit: str = ""
    directory_units: Path | None = None
    directory_owner: str
    directory_cleanup: bool = False
    net_program: str = Field(default="net", min_length=1)
    namespaces: Annotated[frozenset[str] | None, NoDecode] = None
    kubeconfig: Path | None = None
    leader_elect: bool = True
    lease_namespace: str | None = None

    @field_validator("directory_domain")
    @classmethod
    def _is_a_domain(cls, value: str) -> str:
        domain = value.casefold()
        if "." not in domain or not grammars()["dns-subdomain"].check(domain):
            raise ValueError("must be the DNS name of the domain, such as corp.example.com")
        return domain

    @field_validator("directory_owner")
    @classmethod
    def _is_an_owner(cls, value: str) -> str:
        Mark(value, "a/b")
        return value

    @field_validator("namespaces", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return frozenset(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("namespaces")
    @classmethod
    def _check_namespaces(cls, value: frozenset[str] | None) -> frozenset[str] | None:
        """Refuse an empty list as well: it would mean all of them to the API server."""
        if value is not None and not (value and all(grammars()["dns-label"].check(name) for name in value)):
            raise ValueError("must be names of namespaces, comma-separated; leave it out for all of them")
        return value

    def connection(self, unit: str) -> Settings:
        """Return how to connect, with the password as it is now, and where new computers go ("": the default).

        Raises:
            ConfigurationInvalid: something cannot be used; the message names it.
        """
        try:
            # The kubelet gives a Secret's file to root and to the group of the pod.
            password = read_password(self.directory_password_file, group=True)
        except OSError:
            raise ConfigurationInvalid("password file: cannot be read") from None
        return Settings(
            server=self.directory_server,
            user=self.directory_user,
            password=password,
            base=self.directory_base,
            owner=self.directory_owner,
            unit=unit or self.directory_unit,
            authority=self.directory_ca_file,
        )
