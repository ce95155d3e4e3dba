"""The addresses to which machines report: made by the controller, for those that can and whose spec says nothing."""

import base64
import gzip
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import click
import pytest
from pydantic import ValidationError

from slipway.bootstrapper.policy import Policy
from slipway.controller.report_addresses import NO_ROOM, ReportAddresses
from slipway.controller.settings import ControllerSettings
from slipway.reports.capability import Capabilities, Kind, Refused, Target
from slipway.reports.names import BundleKey
from tests.services.controller.scene import CLUSTER, Scene
from tests.services.kubernetes_api.memory_api import NOW

BASE = "https://gateway.example.com:8443"
KEY = b"k" * 32
ADDRESS = "ReportAddressIncluded"
WINDOWS = {
    "provisioner": {"name": "windows"},
    "target": {"osFamily": "Windows", "distribution": "windows", "osVersion": "2022", "infrastructure": "metal"},
}


@pytest.fixture
def reporting(scene: Scene) -> Scene:
    """Give a scene whose controller makes addresses."""
    scene.reports = ReportAddresses(BASE, Capabilities([KEY]), timedelta(hours=48), lambda: scene.now)
    scene.restart()
    return scene


def addresses(scene: Scene, name: str = "w") -> list[str]:
    """Give the addresses in a machine's user data."""
    data = scene.value(name)
    matched = re.search(rb"report failure (\S+) (\S+) >", texts(data) if data.startswith(b"{") else data)
    return [] if matched is None else [base64.b64decode(part).decode() for part in matched.groups()]


def target_of(address: str, *, after: timedelta = timedelta(0)) -> Target:
    """Give what the gateway, which has the same key, takes an address for."""
    parts = urlsplit(address)
    assert f"{parts.scheme}://{parts.netloc}" == BASE
    names = [unquote(part) for part in parts.path.removeprefix("/reports/").split("/")]
    return Capabilities([KEY]).check(names, dict(parse_qsl(parts.query)), now=(NOW + after).timestamp())


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_a_machine_gets_addresses_of_its_own(reporting: Scene, provisioner: str) -> None:
    """They are signed for this Machine and the bundle that the status names, for two days, and for nothing else."""
    spec: dict[str, Any] = {"provisioner": {"name": provisioner}}
    reporting.worker(spec=spec)
    await reporting.reconcile()
    key = BundleKey("default", CLUSTER, "w", reporting.status()["bundleId"])
    events, logs = addresses(reporting)
    assert target_of(events) == Target(key, Kind.EVENTS)
    assert target_of(logs, after=timedelta(hours=47)) == Target(key, Kind.LOGS)
    with pytest.raises(Refused, match="expired"):
        target_of(events, after=timedelta(hours=48))


def texts(data: bytes) -> bytes:
    """Give all texts of an Ignition config."""
    decoded = [base64.b64decode(part) for part in re.findall(rb";base64,([A-Za-z0-9+/=]+)", data)]
    return b"\n".join(gzip.decompress(text) if text.startswith(b"\x1f\x8b") else text for text in decoded)


async def test_it_is_in_the_data_secret_and_nowhere_else(reporting: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the status, nor annotations, nor events, nor the log have it."""
    reporting.worker()
    await reporting.reconcile()
    signature = addresses(reporting)[0].rpartition("signature=")[2]
    secret = reporting.api.find("Secret", "w") or {}
    others = [reporting.api.all(kind) for kind in ("SlipwayConfig", "Machine", "Event")]
    assert signature not in repr([others, secret["metadata"]])
    assert signature not in "".join(capsys.readouterr())


async def test_without_it_nothing_changes(scene: Scene, reporting: Scene) -> None:
    """A machine of an operator who has configured no gateway has the user data that it always had."""
    reporting.reports = None
    reporting.restart()
    scene.worker()
    await scene.reconcile()
    assert b"slipway-report" not in scene.value()


@pytest.mark.parametrize(
    "spec",
    [
        {"provisioner": {"name": "cloud-init"}, "reporting": {"sinks": [{"console": {}}]}},
        {"provisioner": {"name": "cloud-init"}, "reporting": {}},
        WINDOWS,
    ],
    ids=["the console", "nowhere", "Windows"],
)
async def test_who_says_otherwise_or_cannot_gets_none(reporting: Scene, spec: dict[str, Any]) -> None:
    """A spec wins, and a machine that cannot report is rendered as it was: it boots the same."""
    reporting.worker(spec=spec)
    await reporting.reconcile()
    assert reporting.condition()[0] == "True", reporting.condition()
    assert base64.b64encode(b"/reports/").rstrip(b"=")[:8] not in reporting.value()
    assert b"slipway-report" not in reporting.value()


async def test_an_address_of_the_spec_wins(reporting: Scene) -> None:
    """Its machine has that one, and none of the operator's."""
    reporting.secret("own", {"url": b"https://own.example.com/put"})
    sinks = [{"put": {"url": {"name": "own", "key": "url"}}}]
    reporting.worker(spec={"provisioner": {"name": "cloud-init"}, "reporting": {"sinks": sinks}})
    await reporting.reconcile()
    assert base64.b64encode(b"https://own.example.com/put") in reporting.value()
    assert base64.b64encode(BASE.encode())[:30] not in reporting.value()


async def test_a_pool_gets_none(reporting: Scene) -> None:
    """Its machines share their user data, and an address is for one machine."""
    reporting.pool()
    await reporting.reconcile("p")
    assert reporting.condition("p")[0] == "True"
    assert addresses(reporting, "p") == []


@pytest.mark.parametrize("denied", ["reporting", "os.commands", "os.*"])
async def test_an_operator_who_denies_it_gives_none(reporting: Scene, denied: str) -> None:
    """What no spec may ask for is not added either, and the machine is not refused for it."""
    policy = replace(reporting.bootstrapper.policy, denied_features=frozenset({denied}))
    reporting.bootstrapper = replace(reporting.bootstrapper, policy=policy)
    reporting.restart()
    reporting.worker()
    await reporting.reconcile()
    assert reporting.condition()[0] == "True", reporting.condition()
    assert addresses(reporting) == []


async def test_an_allow_list_judges_what_specs_say(reporting: Scene) -> None:
    """What the operator adds needs no permission."""
    policy = Policy(allowed_features=frozenset({"kubernetes.*"}))
    reporting.bootstrapper = replace(reporting.bootstrapper, policy=policy)
    reporting.restart()
    reporting.worker()
    await reporting.reconcile()
    assert len(addresses(reporting)) == 2


async def test_who_has_no_room_boots_without(reporting: Scene) -> None:
    """User data that fit only without the addresses are rendered without: a report is never worth a machine."""
    reporting.worker("small", spec=large(0))
    await reporting.reconcile("small")
    assert reporting.condition("small")[0] == "True", reporting.condition("small")
    with_addresses = len(reporting.value("small"))
    room = 65_535 - with_addresses
    reporting.worker("large", spec=large(room + 300))
    await reporting.reconcile("large")
    assert reporting.condition("large")[0] == "True", reporting.condition("large")
    assert 62_000 < len(reporting.value("large")) <= 65_535
    assert addresses(reporting, "small")
    assert addresses(reporting, "large") == []
    assert reporting.condition("small", ADDRESS) == ("", "", "")
    for _ in range(2):  # a controller that starts later knows it by the data Secret
        assert reporting.condition("large", ADDRESS) == ("False", "NoRoomInUserData", NO_ROOM)
        reporting.restart()
        await reporting.reconcile("large")
    events = [event for event in reporting.api.all("Event") if event["reason"] == "NoRoomInUserData"]
    assert [(event["involvedObject"]["name"], event["type"], event["message"]) for event in events] == [
        ("large", "Warning", NO_ROOM)
    ]


async def test_a_paused_config_keeps_the_condition(reporting: Scene) -> None:
    """It is there once: what was said before stays, and nothing is added to it."""
    reporting.worker(spec=large(61_000))
    await reporting.reconcile()
    assert reporting.condition("w", ADDRESS)[0] == "False"
    config = reporting.api.find("SlipwayConfig", "w") or {}
    config["metadata"]["annotations"] = {"cluster.x-k8s.io/paused": ""}
    reporting.api.put(config)
    await reporting.reconcile()
    assert reporting.condition("w", "Paused")[0] == "True"
    assert [item["type"] for item in reporting.status()["conditions"]].count(ADDRESS) == 1


def large(more: int) -> dict[str, Any]:
    """Give a spec for an infrastructure that takes 64 KiB, with so many bytes more."""
    target = {"osFamily": "Linux", "distribution": "debian", "osVersion": "12", "infrastructure": "azure"}
    text = "".join(f"{index * 7919 % 10007:05}" for index in range(more // 5 + 1))[: max(more, 1)]
    files = [{"path": "/etc/filler", "content": {"text": text}}]
    return {"provisioner": {"name": "cloud-init"}, "target": target, "os": {"files": files}}


def test_a_file_of_keys_that_cannot_be_read_is_wrong_usage() -> None:
    """The process ends at its start with the flag and the reason."""
    made = ControllerSettings(
        insecure=True, listen_address="127.0.0.1:1", embedded_provisioners="talos",
        report_url_base="https://gw.example.com/slipway/", report_key_file="/nowhere",
    )  # fmt: skip
    with pytest.raises(click.UsageError, match="--report-key-file: /nowhere: No such file"):
        made.report_addresses(lambda: NOW)


def test_the_keys_are_those_of_the_file(tmp_path: Path) -> None:
    """The first key signs, and a slash at the end of the base is not doubled."""
    file = tmp_path / "key"
    file.write_bytes(KEY + b"\n" + b"o" * 32)
    made = ControllerSettings(
        insecure=True, listen_address="127.0.0.1:1", embedded_provisioners="talos",
        report_url_base=f"{BASE}/", report_key_file=file, report_url_hours=1,
    ).report_addresses(lambda: NOW)  # fmt: skip
    assert made is not None
    assert made.base == BASE
    assert (made.capabilities.keys[0], made.valid) == (KEY, timedelta(hours=1))
    assert KEY.decode() not in repr(made)


@pytest.mark.parametrize(
    "settings",
    [
        {"report_url_base": BASE},
        {"report_key_file": "/key"},
        {"report_url_base": "gateway:443", "report_key_file": "/key"},
        {"report_url_base": f"{BASE}?a=b", "report_key_file": "/key"},
        {"report_url_base": "https://user@gateway", "report_key_file": "/key"},
        {"report_url_base": f'{BASE}/"', "report_key_file": "/key"},
        {"report_url_base": f"{BASE}\\a", "report_key_file": "/key"},
        {"report_url_base": BASE, "report_key_file": "/key", "report_url_hours": 0},
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any]) -> None:
    """An address needs both, and a base that can be continued by a path."""
    with pytest.raises(ValidationError):
        ControllerSettings(insecure=True, listen_address="127.0.0.1:1", embedded_provisioners="talos", **settings)
