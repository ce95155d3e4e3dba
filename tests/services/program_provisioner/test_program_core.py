"""A program that only answers becomes a provisioner: what it is given, and what is made of each way to answer."""

import asyncio
import base64
import hashlib
import subprocess
import uuid
from pathlib import Path

import pytest

from slipway.contract.errors import BundleInvalid, Internal, SlipwayError, UnsupportedFeature, UserDataTooLarge
from slipway.program_provisioner.core import ProgramCore
from slipway.program_provisioner.processes import Limits
from slipway.rpc.server import ServerStartError
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.services.program_provisioner.programs import SECRET, living, once, request, using

pytestmark = pytest.mark.long


async def rendered(
    command: list[str], asked: provisionerpb.RenderRequest | None = None
) -> provisionerpb.RenderResponse:
    """Render by a program that is started for each call."""
    return await using(command, lambda core: core.render(asked or request()))


async def refused(command: list[str], *, limits: Limits | None = None) -> SlipwayError:
    """Give the error in which a render ends."""
    with pytest.raises(SlipwayError) as caught:
        await using(
            command, lambda core: core.render(request()), limits=limits or Limits(seconds=5, answer_bytes=65536)
        )
    return caught.value


def running() -> str:
    """Give the command lines of all processes."""
    return subprocess.run(["ps", "-A", "-ww", "-o", "args="], check=True, capture_output=True, text=True).stdout


async def test_it_gets_contents_with_their_secrets_in_place(tmp_path: Path) -> None:
    """One literal segment, encoded as asked for; the rest of the answer is made around it."""
    segments = "bundle['os']['files'][0]['content']['segments']"
    made = await rendered(
        once(tmp_path, f"assert len({segments}) == 1\nanswer(base64.b64decode({segments}[0]['data']))")
    )
    assert made.user_data == b"<" + base64.b64encode(SECRET) + b">"
    assert made.sha256 == hashlib.sha256(made.user_data).digest()
    assert (made.request_tag, made.format, made.implementation_version) == ("tag", "f/1", "1.0.0")


async def test_it_sees_nothing_that_the_answer_must_not_depend_on(tmp_path: Path) -> None:
    """A tag, a limit and the wish for a mere check stay outside, and so do the server's own settings."""
    body = "answer(repr((sorted(request), [n for n in os.environ if n.startswith('SLIPWAY_')])).encode())"
    asked = request()
    asked.max_user_data_bytes, asked.accept_attachments = 1000, True
    made = await rendered(once(tmp_path, body), asked)
    assert made.user_data == b"(['bundle', 'format', 'target'], [])"


async def test_a_refusal_becomes_the_status_of_the_contract(tmp_path: Path) -> None:
    """Reason, path and feature are the program's; the list of features is made of its violations."""
    body = (
        "refuse(reason='UNSUPPORTED_FEATURE', message='no', violations=[{'field': 'os.files[0]', 'feature': 'os.files',"
        " 'description': 'the owner does not exist', 'remedy': 'name another owner'}])"
    )
    error = await refused(once(tmp_path, body))
    assert isinstance(error, UnsupportedFeature)
    (violation,) = error.violations
    assert (violation.path, violation.feature, violation.remedy) == ("os.files[0]", "os.files", "name another owner")
    assert error.metadata["features"] == "os.files"


async def test_a_refusal_repeats_no_value(tmp_path: Path) -> None:
    """Values of the request are removed from its texts, secrets and paths alike."""
    body = (
        f"refuse(reason='BUNDLE_INVALID', message='bad {SECRET.decode()}',"
        " violations=[{'field': 'os.files[0].path', 'description': 'is /etc/kept'}])"
    )
    error = await refused(once(tmp_path, body))
    assert (error.message, error.violations[0].description) == ("bad ***", "is ***")


@pytest.mark.parametrize(
    ("body", "says", "reason"),
    [
        ("sys.exit(1)", "exit code 1", "a failure of its own"),
        ("print('no json')", "not JSON", "no answer"),
        ('print(\'{"user_date": ""}\')', "not a RenderResponse", "a misspelt field is not ignored"),
        ("print('{}')", "no user_data", "nothing rendered"),
        ("refuse(reason='NO_SUCH_REASON')", "reason", "a reason that the contract does not have"),
        ("answer(b'x' * 70000)", "more than 65536 bytes", "too much"),
        ('print(\'{"attachments": [{"name": "a"}], "user_data": "eA=="}\')', "emits_attachments", "undeclared"),
    ],
)
async def test_a_defect_is_internal(body: str, says: str, reason: str, tmp_path: Path) -> None:
    """What is wrong with the program is an INTERNAL error that says so, without a word of its output."""
    error = await refused(once(tmp_path, body))
    assert isinstance(error, Internal), reason
    assert says in error.message, reason


async def test_a_program_that_hangs_is_ended(tmp_path: Path) -> None:
    """With all that it has started; the call ends in time."""
    marker = f"slipway-{uuid.uuid4().hex}"
    body = f"import subprocess\nsubprocess.run(['sh', '-c', 'sleep 600; : {marker}'])"
    error = await refused(once(tmp_path, body), limits=Limits(seconds=3))
    assert "within 3 seconds" in error.message
    assert marker not in await asyncio.to_thread(running)


async def test_a_broken_bundle_is_to_blame_itself(tmp_path: Path) -> None:
    """A program may rely on the rules of the schema: when it fails over a bundle that breaks them, that is said."""
    asked = request()
    asked.bundle.os.files[0].path = "relative"
    with pytest.raises(BundleInvalid, match="rules of its schema"):
        await rendered(once(tmp_path, "sys.exit(1)"), asked)


async def test_the_limit_of_user_data_is_kept_for_it(tmp_path: Path) -> None:
    """The program knows no limit; what it gives is measured."""
    asked = request()
    asked.max_user_data_bytes = 3
    with pytest.raises(UserDataTooLarge):
        await rendered(once(tmp_path, "answer(b'xxxx')"), asked)


@pytest.mark.parametrize("text", ["sys.exit(0)", "print('{}')", "print('[]')"])
async def test_it_must_say_who_it_is(text: str, tmp_path: Path) -> None:
    """A program that does not answer GetProvisionerInfo is not served."""
    path = tmp_path / "p.sh"
    path.write_text(f"import sys\n{text}", encoding="utf-8")
    with pytest.raises(ServerStartError, match="GetProvisionerInfo"):
        await rendered(["python3", str(path)])


async def test_a_process_that_lives_on_answers_call_after_call(tmp_path: Path) -> None:
    """The same process, with the next request."""
    command = living(tmp_path, "put(response={'user_data': text})")

    async def twice(core: ProgramCore) -> list[list[bytes]]:
        return [(await core.render(request(id_))).user_data.split() for id_ in ("b-1", "b-2")]

    first, second = await using(command, twice, long_lived=True)
    assert (first[1], second[1]) == (b"b-1", b"b-2")
    assert first[0] == second[0]


async def test_a_process_that_fails_a_call_is_replaced(tmp_path: Path) -> None:
    """It dies, answers nonsense, hangs: the call fails, and the next one finds another process."""
    body = (
        "if bundle['id'] == 'dies': sys.exit(1)\n"
        "if bundle['id'] == 'nonsense': print('{', flush=True)\n"
        "elif bundle['id'] == 'hangs': time.sleep(600)\n"
        "else: put(response={'user_data': text})"
    )

    async def use(core: ProgramCore) -> list[bytes]:
        sound = [(await core.render(request("a"))).user_data]
        for id_ in ("dies", "nonsense", "hangs"):
            with pytest.raises(Internal):
                await core.render(request(id_))
            sound.append((await core.render(request("a"))).user_data)
        return sound

    limits = Limits(seconds=3, processes=1)
    assert len(set(await using(living(tmp_path, body), use, long_lived=True, limits=limits))) == 4


async def test_a_process_that_lives_on_refuses(tmp_path: Path) -> None:
    """A refusal is a line of its own kind, and the process lives on."""
    command = living(tmp_path, "put(refusal={'reason': 'UNSUPPORTED_TARGET', 'message': 'no'})")
    with pytest.raises(SlipwayError) as caught:
        await using(command, lambda core: core.render(request()), long_lived=True)
    assert caught.value.reason == "UNSUPPORTED_TARGET"
