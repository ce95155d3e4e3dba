"""RND: what a machine becomes that boots with the user data. Its first-boot system is the judge, not a parser."""

from collections.abc import Iterable, Iterator

from slipway.conformance import requests
from slipway.conformance.check import Checks, Need
from slipway.conformance.compare import compare
from slipway.conformance.contents import Contents
from slipway.conformance.decoders import external
from slipway.conformance.decoders.sight import NotServedError, UnreadableError
from slipway.conformance.outcome import Broken, NotRun, Unverified, all_hold
from slipway.conformance.session import Session
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()

_SCRIPT = b"""#!/bin/sh
# Keeps its arguments and a file that must be there before it: what is missing ends it.
set -eu
cd "${0%/*}"
{
	printf '%s\\n' "$@"
	cat plain
} >ran.new
mv ran.new ran
"""
_PLAIN = b"a line with {{ braces }}, ${A_VARIABLE}, $HOME, %h and `ticks`\n"
_SECRET = b'two "quoted" words\\ and a line\n'


@CHECKS.check_format("RND-018", Need.BOOT, form=requests.PLAN)
async def booted(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A machine has the files of the bundle, and has run the program of the entry point after they were there."""
    if requests.is_windows(info):
        raise NotRun("the program that the machine would run is for a POSIX shell")
    request = _request(await session.base(info), info)
    response = await session.subject.rendered(request)
    result = f"{request.bundle.os.files[0].path.rpartition('/')[0]}/ran"
    paths = [file.path for file in request.bundle.os.files] + [result]
    options = session.options
    try:
        state = await external.boot(options.boot_cmd, request, response, paths=paths, seconds=options.boot_seconds)
    except NotServedError as error:
        raise NotRun(str(error)) from None
    except UnreadableError as error:
        raise Broken(f"no machine was booted: {error}") from None
    compared = compare(request.bundle, state, windows=False)
    all_hold([*compared.problems, *_result(request.bundle, state.os.files, result)])
    if "os.files" not in compared.verified:
        raise Unverified("--boot-cmd does not report os.files")


def _request(base: provisionerpb.RenderRequest, info: provisionerpb.FormatInfo) -> provisionerpb.RenderRequest:
    """Give the base with files of several kinds; its program is one that writes a file."""
    request = provisionerpb.RenderRequest()
    request.CopyFrom(base)
    request.bundle.os.files[0].content.CopyFrom(contentpb.Content(segments=[contentpb.Segment(data=_SCRIPT)]))
    secret = requests.secret("conformance", "value", _SECRET)
    return requests.merged(request, requests.files(*_files(), secrets=[secret]), info)


def _files() -> Iterator[ospb.File]:
    yield requests.file("plain", _PLAIN)
    yield requests.file("empty", b"")
    yield requests.file("bytes", bytes(range(256)), mode=0o600)
    yield requests.file("folder/below/long", b"line of text\r\n" * 4000, mode=0o640)
    for encoding in contentpb.SpliceEncoding.values():
        file = requests.file(f"secret-{encoding}", b"before ", mode=0o600)
        segment = file.content.segments.add(encoding=encoding)
        segment.secret_ref.name, segment.secret_ref.key = "conformance", "value"
        yield file


def _result(bundle: bundlepb.BootstrapBundle, files: Iterable[ospb.File], path: str) -> list[str]:
    """See what the program has written; without it the program did not run to its end."""
    written = {file.path: file for file in files}.get(path)
    if written is None:
        return ["plan.entrypoint: the program did not run, or not after all files were there"]
    wanted = "".join(f"{argument}\n" for argument in bundle.plan.entrypoint.argv[2:]).encode() + _PLAIN
    same = Contents(bundle).bytes_of(written.content) == wanted
    return [] if same else ["plan.entrypoint: the program was started with other arguments"]
