"""slipway diff."""

import asyncio
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import click

from slipway.bootstrapper.assembly.layers import Layers
from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.assembly.secrets import INLINE
from slipway.bootstrapper.assembly.subject import check
from slipway.bootstrapper.compliance.names import DOCUMENT, origin_of_controls
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.placeholders import PLACEHOLDER, user_placeholders
from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.known_secrets import Comparable, digested, known_values, one_sided
from slipway.cli.loading import STDIN, Loaded, load
from slipway.cli.options import file_options, files_from, inputs_from, output_option, variable_options
from slipway.cli.output import emit, note, say, show, table
from slipway.cli.remarks import note_error, note_files
from slipway.contract.errors import SlipwayError
from slipway.contract.items import items, within
from slipway.contract.yaml_encode import encode
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bundle_pb2 as bundlepb

_SIDES = 2
_KEYS = ("path", "name", "device", "argument", "host", "id")


@click.command("diff", short_help="Show what changes on the machines between two files, in neutral terms.")
@partial(file_options, metavar="BEFORE AFTER")
@variable_options
@click.option("--exit-code", is_flag=True, help="End with 1 when something changes, as diff does.")
@output_option()
@reported
def diff(exit_code: bool, output: str, **values: Any) -> None:  # noqa: FBT001  # click gives options by name
    """Show what changes on the machines when the specs of BEFORE become those of AFTER.

    Files, users, sysctls, node settings and so on, each by its name; secrets and file contents are compared but never
    shown: where nothing but the value of a secret differs, it says "changed (secret)". Values that are referred to are
    compared where both files hold the Secret, else the references are. Machines are identified by their names. Nothing
    is created.

    \b
    Examples:
      slipway diff old.yaml new.yaml
      slipway diff cluster.yaml imported.yaml --set-missing -o json

    \b
    Exit codes:
      0  done; with --exit-code: nothing changes
      1  a file is invalid; with --exit-code also: something changes
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    files = files_from(values)
    if len(files) != _SIDES:
        raise click.UsageError(f"two files are required, before and after; got {len(files)}")
    if len(set(files)) == 1 and STDIN in files:
        raise click.UsageError("standard input can be only one of the two")
    before, after = (load(inputs_from(dict(values), files=(path,))) for path in files)
    # A variable may be one of the other file.
    both = {name: text for name, text in before.unused.items() if name in after.unused}
    before.unused, after.unused = {}, both
    invented = PLACEHOLDER if values["set_missing"] else None
    old, new = (asyncio.run(_machines(loaded, invented)) for loaded in (before, after))
    for name, key in one_sided(old, new):
        note(f"key {key} of secret {name} is in one of the two files only: its value is not compared", "warning")
    changes = list(compare(old, new))
    if output != "table":
        emit(
            [{"machine": change[0], "change": change[1], "what": change[2], "fields": change[3]} for change in changes],
            output,
        )
    elif changes:
        rows = [[machine, change, what, ", ".join(fields)] for machine, change, what, fields in changes]
        show(table("", ["machine", "change", "what", "fields"], rows))
    else:
        say("nothing changes")
    if changes and exit_code:
        sys.exit(FAILED)


async def _machines(loaded: Loaded, invented: bytes | None) -> dict[str, Comparable]:
    """Give what every machine of a file will be, with placeholders for the cluster's secrets; none leaves this process.

    Every refused machine is reported with the places in the file, and ends the command. A secret of the value
    `invented` stands for one that is not at hand.
    """
    note_files(loaded)
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    machines: dict[str, Comparable] = {}
    refused = False
    for question in loaded.questions:
        secrets = user_placeholders(question.subject.spec)
        try:
            subject = check(question.subject)
            bundle, available, _ = await bootstrapper.neutral(subject, None, secrets)
        except SlipwayError as error:
            note_error(loaded, question, error, kind="invalid")
            refused = True
            continue
        inline = (entry for entry in available if entry.name == INLINE)
        written = (secret for secret in question.secrets.secrets if secret.value != invented)
        controls = dict(_controls(bundle, subject.layers))
        machines[question.name] = Comparable(bundle, known_values([*inline, *written]), controls)
    if refused:
        sys.exit(FAILED)
    return machines


def _controls(bundle: bundlepb.BootstrapBundle, layers: Layers) -> Iterator[tuple[str, str]]:
    """Give the controls that ask for each item, or for a part of it, by the item's field path."""
    for item in items(bundle):
        if item.message.origin.document == DOCUMENT:
            yield item.path, describe(item.message.origin)
            continue
        path = item.path.removeprefix("intent.")
        by_path = [*layers.controls.items(), *layers.shared.items()]
        names = [name for place, controls in by_path if within(place, path) for name in controls]
        if names:
            yield item.path, describe(origin_of_controls(names))


def compare(old: dict[str, Comparable], new: dict[str, Comparable]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Give each change: machine, "added", "removed", "changed" or "changed (secret)", what, and the fields that differ.

    "changed (secret)" is said of what differs in nothing but the values of secrets. What controls of compliance
    profiles ask for has them behind the fields.
    """
    for machine in sorted(old.keys() | new.keys()):
        if machine not in new or machine not in old:
            yield machine, "removed" if machine not in new else "added", "the machine", []
            continue
        before, after = (_trees(entry) for entry in digested(old[machine], new[machine], by_value=True))
        controls = [
            {what: text for what, _, path in _parts(entry.bundle) if (text := entry.controls.get(path))}
            for entry in (old[machine], new[machine])
        ]
        masked = [_trees(entry) for entry in digested(old[machine], new[machine], by_value=False)]
        for what in sorted(before.keys() | after.keys()):
            side = controls[1] if what in after else controls[0]
            by = [side[what]] if what in side else []
            if what not in after or what not in before:
                yield machine, "removed" if what not in after else "added", what, by
            elif before[what] != after[what]:
                change = "changed" if masked[0].get(what) != masked[1].get(what) else "changed (secret)"
                yield machine, change, what, [*_fields(before[what], after[what]), *by]


def _trees(bundle: bundlepb.BootstrapBundle) -> dict[str, dict[str, Any]]:
    return {what: tree for what, tree, _ in _parts(bundle)}


def _parts(bundle: bundlepb.BootstrapBundle) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Give the items of a bundle by a name that does not depend on their place in a list, with their field paths."""
    seen: dict[str, int] = {}
    for item in items(bundle):
        tree = encode(item.message)
        key = next((str(tree[name]) for name in _KEYS if isinstance(tree.get(name), str)), "")
        what = f"{item.feature or item.path.removeprefix('intent.')} {key}".strip()
        seen[what] = seen.get(what, 0) + 1
        yield what if seen[what] == 1 else f"{what} #{seen[what]}", tree, item.path
    cluster = {name: value for name, value in encode(bundle.cluster).items() if name != "kubernetesVersion"}
    yield "cluster", cluster, ""
    yield "kubernetes version", {"version": bundle.intent.kubernetes_version}, ""
    rest = encode(bundle.intent.kubernetes)
    yield "kubernetes.images", {"images": rest.get("images")}, ""


def _fields(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
