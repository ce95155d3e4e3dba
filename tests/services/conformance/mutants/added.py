"""Mutants that add to the user data itself, past all that a bundle can say: commands, hooks, calls home."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from slipway.contract.errors import UnsupportedFeature, Violation
from tests.services.conformance.bent import Bent, Request, Response, Servicer, abort
from tests.services.conformance.mutants.bending import answered
from tests.services.conformance.mutants.control_plane import NewestTalos
from tests.services.conformance.mutants.mutant import Mutant
from tests.services.conformance.mutants.others import CloudbaseInit
from tests.services.conformance.mutants.unasked import OneIgnition, asked, own_file, own_unit, system

_CORE, _EXTENDED = ("RND-018.core-items",), ("RND-019.extended-items",)
_HEADER = "#cloud-config\n"
_STARTS = "it is started without an entry point, too"


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant(
        "a command of its own", _CORE, _cloud_config(_more("runcmd", ["touch", "/etc/upkeep"])), ("EXE",), why=_STARTS
    )
    yield Mutant(
        "a line of shell of its own", _CORE, _cloud_config(_more("runcmd", "id > /etc/upkeep")), ("EXE",), why=_STARTS
    )
    yield Mutant(
        "a boot hook of its own",
        _CORE,
        _cloud_config(_more("bootcmd", ["touch", "/etc/upkeep"])),
        ("EXE",),
        why=_STARTS,
    )
    yield Mutant("a script at every boot", _CORE, _cloud_config(_more("write_files", _SCRIPT)), ("EXE",), why=_STARTS)
    yield Mutant("a call home", _CORE, _cloud_config(lambda config, _: config.update(phone_home=_HOME)))
    yield Mutant("a group of its own", _CORE, _cloud_config(_more("groups", "upkeep")))
    yield Mutant("a config that is fetched", _CORE, _ignition(_fetched))
    yield Mutant("a sysctl of its own", _CORE, system(_sysctl, NewestTalos))
    yield Mutant("a module of its own", _CORE, system(lambda os: os.kernel_modules.add(name="upkeep"), NewestTalos))
    yield Mutant("a program where there is no entry point", ("EXE-001.entry-point",), asked(_default_program))
    yield Mutant("no bundle without an entry point", ("EXE-001.entry-point",), Bent(call=_wants_a_program))
    yield Mutant("a stamp among Slipway's own files", ("EXE-009.places-of-slipway",), _cloud_config(_stamp))
    yield Mutant(
        "a stamp among Slipway's own files on Windows",
        ("EXE-009.places-of-slipway",),
        system(_stamp_on_windows, CloudbaseInit),
    )
    yield Mutant("a job beside users", _EXTENDED, system(lambda os: own_file(os) if os.users else None))
    yield Mutant(
        "a service beside mounts", _EXTENDED, system(lambda os: own_unit(os) if os.mounts else None, OneIgnition)
    )
    yield Mutant("a command beside users", _EXTENDED, _cloud_config(_beside_users))
    yield Mutant("a hook beside packages", _EXTENDED, _cloud_config(_beside_packages))


_SCRIPT = {"path": "/var/lib/cloud/scripts/per-boot/upkeep", "content": "#!/bin/sh\nid\n", "permissions": "0755"}
_HOME = {"url": "https://home.example.net/", "post": "all"}


def _cloud_config(change: Callable[[dict[str, Any], Request], object]) -> Bent:
    def after(request: Request, response: Response) -> None:
        text = response.user_data.decode()
        if text.startswith(_HEADER):
            config = yaml.safe_load(text)
            change(config, request)
            response.user_data = (_HEADER + yaml.safe_dump(config, sort_keys=False)).encode()

    return answered(after)


def _ignition(change: Callable[[dict[str, Any]], object]) -> Bent:
    def after(_request: Request, response: Response) -> None:
        if response.user_data:
            config = json.loads(response.user_data)
            change(config)
            response.user_data = json.dumps(config).encode()

    return answered(after, provisioner=OneIgnition)


def _more(key: str, entry: object) -> Callable[[dict[str, Any], Request], None]:
    def change(config: dict[str, Any], _request: Request) -> None:
        config[key] = [*config.get(key, []), entry]

    return change


def _fetched(config: dict[str, Any]) -> None:
    config["ignition"]["config"] = {"merge": [{"source": "https://configs.example.net/a.ign"}]}


def _sysctl(os: Any) -> None:
    os.sysctls.add(name="net.ipv4.conf.all.accept_redirects", value="1")


def _default_program(request: Request) -> None:
    entry = request.bundle.plan.entrypoint
    if not entry.argv and not entry.commands:
        entry.unit_name = "slipway-bootstrap.service"
        entry.argv.extend(["/bin/sh", "/var/lib/conformance/run"])


async def _wants_a_program(servicer: Servicer, request: Request, context: Any) -> Response:
    if request.bundle.HasField("plan") and not request.bundle.plan.HasField("entrypoint"):
        missing = [Violation("plan.entrypoint.argv", "must name the program to start")]
        error = UnsupportedFeature("it starts nothing", violations=missing, metadata={"features": "plan.entrypoint"})
        await abort(context, error.to_status())
    return await servicer.rendered(request, context)


def _stamp(config: dict[str, Any], request: Request) -> None:
    """Put a file there that says so itself what it is for."""
    text = "\n".join(request.bundle.plan.entrypoint.argv)
    _more("write_files", {"path": "/var/lib/slipway/started", "content": text})(config, request)


def _stamp_on_windows(os: Any) -> None:
    file = os.files.add(path="C:\\ProgramData\\Slipway\\started", owner="root", group="root", mode=0o644)
    file.content.segments.add(data=b"")


def _beside_users(config: dict[str, Any], request: Request) -> None:
    if request.bundle.os.users:
        _more("runcmd", ["touch", "/etc/upkeep"])(config, request)


def _beside_packages(config: dict[str, Any], request: Request) -> None:
    if request.bundle.os.HasField("packages"):
        _more("bootcmd", "id > /etc/upkeep")(config, request)
