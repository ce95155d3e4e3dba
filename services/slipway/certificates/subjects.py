"""Subjects of certificates as a person writes them: ROLE/NAME, with names and addresses after a "="."""

import click

from slipway.certificates.authority import Subject


def read_subject(text: str) -> Subject:
    """Read one, e.g. "registry/registry=registry,127.0.0.1".

    Raises:
        click.UsageError: it has another form.
    """
    who, _, hosts = text.partition("=")
    role, separator, name = who.partition("/")
    if not separator or not role or not name:
        raise click.UsageError("--subject takes ROLE/NAME or ROLE/NAME=HOST,HOST")
    return Subject(role, name, tuple(host for host in hosts.split(",") if host))
