"""Every "or choose X, which takes it" is true: whoever follows it is not refused the same again."""

import re
from collections.abc import AsyncIterator, Iterator

import pytest

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.explanation import explain
from slipway.contract.errors import SlipwayError, Violation
from slipway.embedded.bootstrapper import served
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.bootstrapper.asking import EXAMPLES, asked, bootstrapper, found, question, refused

pytestmark = pytest.mark.long

NAMED = re.compile(r", or choose (.*), which takes? it$")
MACHINE = ("machine.", "cluster.", "target.")

PROMISES = {
    "a config of another media type": (
        "{extensions: [{id: ignition.slipway.dev/config, mediaType: a/b, content: {text: a}}]}"
    ),
    "a disk with partitions": "{os: {disks: [{device: /dev/b, tableType: Mbr, partitions: [{}]}]}}",
    "a disk without partitions": "{os: {disks: [{device: /dev/b, tableType: Mbr}]}}",
    "a unit that nothing would start": (
        '{os: {systemdUnits: [{name: a.service, enabled: true, contents: "[Service]\\nExecStart=/a\\n"}]}}'
    ),
    "a masked unit with contents": '{os: {systemdUnits: [{name: a.service, masked: true, contents: "[Service]\\n"}]}}',
    "kernel arguments": "{os: {kernelArguments: [{argument: a}]}}",
    "commands": "{commands: {pre: [{argv: [a]}]}}",
    "files of somebody": "{os: {files: [{path: /var/a, owner: b, content: {text: c}}]}}",
    "files elsewhere, and users": '{os: {files: [{path: /etc/a, content: {text: ""}}], users: [{name: ann}]}}',
    "many things at once": (
        "{os: {kernelArguments: [{argument: a}], sysctls: [{name: a.b, value: c}], disks: [{device: /dev/b}], "
        "mounts: [{source: ephemeral0, path: /m}], packages: {upgrade: true}, ntp: {pools: [a.example.com]}}}"
    ),
    "credentials for all registries": (
        "{os: {containerd: {registries: [{host: _default, credentials: {username: a, password: {value: b}}}]}}}"
    ),
    "labels": "{kubernetes: {node: {labels: [{name: a.k8s.io/b, value: c}], criSocket: unix:///a.sock}}}",
    "a directory": "{os: {directories: [{path: /etc/a}], links: [{path: /usr/a, target: b}]}}",
}


def promises(error: SlipwayError) -> Iterator[tuple[Violation, str]]:
    """Give each refused field with everyone who is said to take it."""
    for violation in error.violations:
        said = NAMED.search(violation.remedy)
        for name in re.split(r", | or ", said[1]) if said else ():
            yield violation, name


async def broken(one: MachineQuestion, error: SlipwayError, provisioner: str) -> AsyncIterator[str]:
    """Give the promises of a refusal that do not hold; whoever is named, however often, is asked once."""
    answers: dict[str, SlipwayError | None] = {}
    for violation, name in promises(error):
        own = name.removeprefix("format ")
        if name not in answers:
            answers[name] = await refused(asked(one, provisioner, own) if own != name else asked(one, name))
        again = answers[name]
        told = () if again is None else again.violations
        if again is not None and not told:
            yield f"{violation.path}: {name}: {again}"
        for other in told:
            if other.path == violation.path or other.path.startswith(MACHINE):
                yield f"{violation.path}: {violation.description}: {name} says: {other.description}"


async def check(one: MachineQuestion, provisioners: list[str]) -> int:
    """Follow each promise that anybody makes of a machine; give how many there were."""
    number = 0
    for provisioner in provisioners:
        error = await refused(asked(one, provisioner))
        if error is not None:
            assert [lie async for lie in broken(one, error, provisioner)] == []
            number += len(list(promises(error)))
    return number


@pytest.mark.parametrize("reason", PROMISES)
async def test_who_is_named_takes_it(reason: str) -> None:
    """Of specs that somebody refuses."""
    one = question(PROMISES[reason])
    one.subject.spec.provisioner.Clear()
    await check(one, list(served()))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
async def test_who_is_named_takes_what_the_examples_say(example: object) -> None:
    """Of every machine of every example."""
    for one in found(example):
        await check(one, list(served()))


async def test_promises_are_made() -> None:
    """The tests above can fail."""
    assert await check(question(PROMISES["kernel arguments"]), ["cloud-init"]) == 1


async def test_explain_promises_the_same() -> None:
    """It has asked everyone itself, and names nobody else than a refusal does."""
    one = question(PROMISES["many things at once"])
    answer = await explain(bootstrapper(), bootstrappb.ExplainRequest(subject=one.subject))
    columns = [(index, column) for index, column in enumerate(answer.columns) if not column.renderable]
    assert columns
    for index, column in columns:
        error = await refused(asked(one, column.provisioner, column.format))
        assert error is not None
        told = {violation.remedy for violation in error.violations}
        cells = [row.cells[index] for row in answer.rows]
        assert {cell.remedy for cell in cells if cell.verdict == bootstrappb.VERDICT_REFUSED} <= told
