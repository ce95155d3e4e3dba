"""Settings of updates, reboots and networks of a Container Linux Config, and what the transpiler makes of them."""

# ruff: noqa: RUF012  # pydantic copies defaults

import re
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from slipway.bootstrapper.importers.container_linux_types import Text
from slipway.bootstrapper.importers.foreign import Foreign
from slipway.bootstrapper.importers.sprig import quoted

UPDATE_CONF = "/etc/coreos/update.conf"
"""Where the transpiler puts the settings."""

_WINDOW = re.compile(r"(?:(?:sun|mon|tue|wed|thu|fri|sat) +)?(?:[01]?[0-9]|2[0-3]):[0-5][0-9]", re.IGNORECASE)
_LENGTH = re.compile(r"[+-]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))++)")


def _strategy(value: str | None) -> str | None:
    if value and value.lower() not in {"reboot", "etcd-lock", "off"}:
        raise ValueError("must be one of reboot, etcd-lock, off")
    return value


def _window_start(value: str | None) -> str | None:
    if value and not _WINDOW.fullmatch(value):
        raise ValueError("must be a time, such as 01:00 or Sun 01:00")
    return value


def _window_length(value: str | None) -> str | None:
    if value and not _LENGTH.fullmatch(value):
        raise ValueError("must be a duration, such as 1h30m")
    return value


class Update(Foreign):
    """Where updates come from."""

    group: Text = ""
    server: Text = ""
    pcr_policy_server: Annotated[Text, Field(alias="pcr_policy_server")] = ""
    download_user: Annotated[Text, Field(alias="download_user")] = ""
    download_password: Annotated[Text, Field(alias="download_password", repr=False)] = ""
    machine_alias: Annotated[Text, Field(alias="machine_alias")] = ""


class Locksmith(Foreign):
    """When the machine reboots after an update."""

    reboot_strategy: Annotated[Text | None, AfterValidator(_strategy), Field(alias="reboot_strategy")] = None
    window_start: Annotated[Text | None, AfterValidator(_window_start), Field(alias="window_start")] = None
    window_length: Annotated[Text | None, AfterValidator(_window_length), Field(alias="window_length")] = None
    group: Text | None = None
    etcd_endpoints: Annotated[Text | None, Field(alias="etcd_endpoints")] = None
    etcd_cafile: Annotated[Text | None, Field(alias="etcd_cafile")] = None
    etcd_certfile: Annotated[Text | None, Field(alias="etcd_certfile")] = None
    etcd_keyfile: Annotated[Text | None, Field(alias="etcd_keyfile")] = None

    @model_validator(mode="after")
    def _whole_window(self) -> "Locksmith":
        if bool(self.window_start) is not bool(self.window_length):
            raise ValueError("window_start and window_length must both be set, or neither")
        return self


class NetworkdDropIn(Foreign):
    """A drop-in of a unit."""

    name: Annotated[Text, Field(min_length=1)]
    contents: Text = ""


class NetworkdUnit(Foreign):
    """A unit of systemd-networkd."""

    name: Annotated[Text, Field(min_length=1)]
    contents: Text = ""
    dropins: list[NetworkdDropIn] = []


class Networkd(Foreign):
    """Units of systemd-networkd."""

    units: list[NetworkdUnit] = []


_UPDATE_NAMES = {
    "server": "SERVER",
    "pcr_policy_server": "PCR_POLICY_SERVER",
    "download_user": "DOWNLOAD_USER",
    "download_password": "DOWNLOAD_PASSWORD",
    "machine_alias": "MACHINE_ALIAS",
}
_LOCKSMITH_NAMES = {
    "reboot_strategy": "REBOOT_STRATEGY",
    "window_start": "LOCKSMITHD_REBOOT_WINDOW_START",
    "window_length": "LOCKSMITHD_REBOOT_WINDOW_LENGTH",
    "group": "LOCKSMITHD_GROUP",
    "etcd_endpoints": "LOCKSMITHD_ENDPOINT",
    "etcd_cafile": "LOCKSMITHD_ETCD_CAFILE",
    "etcd_certfile": "LOCKSMITHD_ETCD_CERTFILE",
    "etcd_keyfile": "LOCKSMITHD_ETCD_KEYFILE",
}


def update_conf(update: Update | None, locksmith: Locksmith | None) -> str:
    """Give the text of update.conf, to the byte what the transpiler makes, or ""."""
    text = ""
    if update is not None:
        text += f"GROUP={update.group.lower()}" if update.group else ""
        given = ((name, getattr(update, field)) for field, name in _UPDATE_NAMES.items())
        text += "".join(f"\n{name}={value}" for name, value in given if value)
    if locksmith is not None:
        values = ((name, getattr(locksmith, field)) for field, name in _LOCKSMITH_NAMES.items())
        text += "".join(f"\n{name}={quoted(value)}" for name, value in values if value is not None)
    return text
