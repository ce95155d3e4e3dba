"""slipway conformance: whether a provisioner, in any language, keeps the contract."""

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from slipway.cli.exit_codes import FAILED, UNVERIFIED
from slipway.cli.failures import reported
from slipway.cli.options import address, output_option
from slipway.cli.output import emit, note, say


def _words(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(value))
    except ValueError:
        raise click.BadParameter("its quotes do not match") from None


@click.group("conformance", short_help="Check that a provisioner keeps the contract.")
def conformance() -> None:
    """See whether a provisioner keeps the contract: docs/reference/contract.md, clause by clause."""


@conformance.command("schema", short_help="Print the JSON schema of reports.")
@output_option("How to print it; table is JSON, too.")
@reported
def schema(output: str) -> None:
    """Print the JSON schema of the reports that `run --report` writes.

    \b
    Examples:
      slipway conformance schema > report.schema.json

    \b
    Exit codes:
      0  it was printed
    """  # noqa: D301  # click's mark for lines that stay
    from slipway.conformance import publishing  # noqa: PLC0415  # of the suite

    emit(publishing.schema(), "yaml" if output == "yaml" else "json")


@conformance.command("run", short_help="Check every clause on a provisioner.")
@click.option(
    "--endpoint",
    default="",
    metavar="HOST:PORT",
    callback=address,
    help="Where it answers. Default with --start-cmd: a free port.",
)
@click.option(
    "--tls-cert-dir", type=click.Path(path_type=Path, file_okay=False), default=None,
    help="Directory with tls.crt, tls.key and ca.crt to call it with.",
)  # fmt: skip
@click.option("--insecure", is_flag=True, help="Call it without TLS, on this machine.")
@click.option(
    "--start-cmd", default="", callback=_words, metavar="COMMAND",
    help="Start it by this command; SLIPWAY_* variables say where to listen. Without --tls-cert-dir and --insecure the "
    "suite makes the certificates.",
)  # fmt: skip
@click.option(
    "--decode-cmd", default="", callback=_words, metavar="COMMAND",
    help="Turns user data on standard input into a MachineState in JSON, for a format that the suite cannot read.",
)  # fmt: skip
@click.option(
    "--boot-cmd", default="", callback=_words, metavar="COMMAND",
    help="Boots a machine with the user data that it finds in its working directory, and writes its state as a "
    "MachineState in JSON.",
)  # fmt: skip
@click.option(
    "--boot-seconds", type=click.FloatRange(1), default=600.0, show_default=True, metavar="SECONDS",
    help="Time for one such boot.",
)  # fmt: skip
@click.option(
    "--extension", "extensions", multiple=True, type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="A document of an extension that it takes, in YAML as an entry of a spec's `extensions`; may be given more "
    "than once.",
)  # fmt: skip
@click.option(
    "--profile", "profiles", multiple=True, type=click.Choice(["render", "process", "registration"]),
    help="Only this chapter of the contract; may be given more than once. Default: all three.",
)  # fmt: skip
@click.option("--core-only", is_flag=True, help="Only the core features of each form, and not every declared one.")
@click.option(
    "--only", multiple=True, metavar="ID", help="Only this group, clause or check (TRN, RND-003, RND-003.at-once)."
)
@click.option(
    "--known-failures", type=click.Path(path_type=Path, dir_okay=False, exists=True), default=None,
    help="Checks that are known to fail, an id a line. One that passes is a failure then.",
)  # fmt: skip
@click.option(
    "--time", "seconds", type=click.FloatRange(1), default=None, metavar="SECONDS",
    help="Time for all checks; those that it does not suffice for are not run, and there is no verdict.",
)  # fmt: skip
@click.option(
    "--keep", type=click.Path(path_type=Path, file_okay=False), default=None,
    help="Write here what was asked and answered in each check that fails.",
)  # fmt: skip
@click.option("--trust-domain", default="slipway", show_default=True, help="Trust domain of its certificate.")
@click.option(
    "--report",
    "report_file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write the report here, as YAML.",
)
@click.option(
    "--junit",
    "junit_file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write it here as JUnit XML.",
)
@click.option(
    "--badge",
    "badge_file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write the text of a badge here, as JSON for an endpoint of shields.io.",
)
@click.option("--quiet", is_flag=True, help="No progress, only the verdict.")
@output_option("How to print the verdict; json and yaml give the whole report.")
@reported
def run(**values: Any) -> None:
    """Check every clause of the contract on a provisioner, and report which hold.

    Progress, and how quick it was, go to standard error, the verdict to standard output.

    \b
    Examples:
      slipway conformance run --start-cmd './my-provisioner' --report report.yaml
      slipway conformance run --endpoint 127.0.0.1:9443 --insecure --profile render
      slipway conformance run --endpoint bottlerocket.example.com:9443 --tls-cert-dir certificates --junit out.xml

    \b
    Exit codes:
      0  it keeps the contract (with --profile: those chapters; with --only: those checks), or breaks only what
         --known-failures lists, and all of that
      1  it breaks another clause that binds it, keeps one that is listed, or cannot be reached
      2  usage error
      3  it breaks nothing, but what every user data must hold could not all be read, this machine was too slow to judge
         a clause that binds (run it again on a quiet machine), it no longer answered, or the time was over
    """  # noqa: D301  # click's mark for lines that stay
    # The suite brings grpc and cryptography, which no other command needs to wait for.
    from slipway.conformance import (  # noqa: PLC0415  # of the suite
        figures,
        junit,
        publishing,
        report,
        run,
        session,
        verdict,
    )
    from slipway.conformance.options import Options  # noqa: PLC0415  # of the suite

    if values["insecure"] and values["tls_cert_dir"]:
        raise click.UsageError("--insecure and --tls-cert-dir exclude each other")
    if not values["start_cmd"] and not values["endpoint"]:
        raise click.UsageError("give --endpoint HOST:PORT, or --start-cmd to have it started")
    if not values["start_cmd"] and not values["insecure"] and not values["tls_cert_dir"]:
        raise click.UsageError("give --tls-cert-dir DIR, or --insecure for one on this machine")
    documents = _extensions(values["extensions"])
    known = _known(values["known_failures"], run.ids())
    unknown = [entry for entry in values["only"] if not run.names(entry)]
    if unknown:
        raise click.UsageError(f"there is no group, clause or check {', '.join(unknown)}")
    names = (
        *("endpoint", "tls_cert_dir", "insecure", "start_cmd", "decode_cmd", "profiles", "core_only", "trust_domain"),
        *("keep", "boot_cmd", "boot_seconds"),
    )
    wanted = run.Wanted(only=values["only"], known=known)
    progress = None if values["quiet"] else lambda entry, number, of: note(verdict.progress(entry, number, of))
    measured = figures.Figures()
    chosen = {name: values[name] for name in names}
    options = Options(**chosen, seconds=values["seconds"] or 0.0, extensions=documents)
    try:
        made = asyncio.run(run.conformance(options, wanted=wanted, progress=progress, figures=measured))
    except session.CannotStartError as error:
        note(str(error))
        sys.exit(FAILED)
    if values["report_file"]:
        values["report_file"].write_text(report.as_yaml(made), encoding="utf-8")
    if values["junit_file"]:
        values["junit_file"].write_bytes(junit.as_junit(made, measured))
    if values["badge_file"]:
        values["badge_file"].write_text(publishing.as_badge(made), encoding="utf-8")
    for load in [] if values["quiet"] else measured:
        note(f"load: {load}")
    texts = {"json": report.as_json, "yaml": report.as_yaml}
    text = texts[values["output"]](made) if values["output"] in texts else verdict.as_text(made)
    say(text.rstrip("\n"))
    sys.exit(_exit_code(made, some=bool(values["only"])))


def _exit_code(made: Any, *, some: bool) -> int:
    from slipway.conformance import report  # noqa: PLC0415  # of the suite
    from slipway.conformance.v1alpha1 import report_pb2 as reportpb  # noqa: PLC0415  # of the suite

    if not report.as_expected(made):
        return FAILED
    unseen = made.verdict == reportpb.VERDICT_CONFORMANT_AS_FAR_AS_CHECKED
    cut_short = made.verdict == reportpb.VERDICT_UNSPECIFIED and not some
    unjudged = some and any(finding.unjudged for finding in made.findings)
    return UNVERIFIED if unseen or cut_short or unjudged else 0


def _extensions(paths: Any) -> tuple[Any, ...]:
    from slipway.conformance import user_files  # noqa: PLC0415  # of the suite

    try:
        return tuple(user_files.read_extension(path) for path in paths)
    except user_files.ExtensionFileError as error:
        raise click.UsageError(str(error)) from None


def _known(path: Path | None, ids: Any) -> frozenset[str]:
    from slipway.conformance import user_files  # noqa: PLC0415  # of the suite

    if path is None:
        return frozenset()
    try:
        return user_files.read_known_failures(path, ids)
    except user_files.KnownFailuresError as error:
        raise click.UsageError(str(error)) from None
