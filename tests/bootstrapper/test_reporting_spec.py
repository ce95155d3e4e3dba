"""The spec field `reporting`: an ordinary command, the first of all steps, with its addresses by reference only."""

import gzip
import json
from dataclasses import replace

import pytest
import yaml

from slipway.bootstrapper.assembly.report_addresses import Addresses
from slipway.bootstrapper.policy import Policy
from slipway.contract.errors import FeatureDenied, SlipwayError, SpecInvalid
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.bootstrapper.artifacts.test_agent_spec import texts_of
from tests.bootstrapper.asking import asked, bootstrapper, check, question

LINUX = "target: {osFamily: Linux, distribution: debian, osVersion: '12', infrastructure: metal}"
WINDOWS = "target: {osFamily: Windows, distribution: windows, osVersion: '2022', infrastructure: metal}"
PUT = "put: {url: {name: report, key: url}, logsUrl: {name: report, key: logs}}"
URL = "https://reports.example.com/r/1?signature=s3cret"
BASE64 = "aHR0cHM6Ly9yZXBvcnRzLmV4YW1wbGUuY29tL3IvMT9zaWduYXR1cmU9czNjcmV0"


def request(reporting: str, provisioner: str = "cloud-init", target: str = LINUX) -> bootstrappb.GetUserDataRequest:
    """Ask for a worker that reports; the addresses come with the request."""
    parts = ", ".join(part for part in (target, f"reporting: {reporting}" if reporting else "") if part)
    made = asked(question(f"{{{parts}}}"), provisioner)
    for key in ("url", "logs"):
        made.credentials.secrets.add(name="report", key=key, value=URL.encode())
    return made


async def rendered(reporting: str, provisioner: str = "cloud-init") -> bytes:
    """Give the user data."""
    answer = await bootstrapper().user_data(request(reporting, provisioner))
    data = answer.user_data
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_it_is_the_first_step(provisioner: str) -> None:
    """It is in front of all others, in the phase prepare, and has the addresses in base64."""
    text = texts_of(await rendered(f"{{sinks: [{{{PUT}}}], logs: Always}}", provisioner))
    assert f"report always {BASE64} {BASE64} >/dev/null 2>&1 || true\n" in text
    assert "signature=s3cret" not in text.replace(BASE64, "")


async def test_the_manifest_has_it_first() -> None:
    """What the runner reads begins with it."""
    files = yaml.safe_load(await rendered(f"{{sinks: [{{{PUT}}}]}}"))["write_files"]
    (plan,) = [file["content"] for file in files if file["path"] == "/var/lib/slipway/plan"]
    _, first, *_ = plan.splitlines()
    step, phase = first.split()[:2]
    assert phase == "prepare"
    (content,) = [file["content"] for file in files if file["path"] == f"/var/lib/slipway/steps/{step}"]
    assert "report failure " in content


@pytest.mark.parametrize("reporting", ["", "{}", "{sinks: []}", "{sinks: [{console: {}}]}"])
async def test_the_console_alone_costs_nothing(reporting: str) -> None:
    """Without an address the user data holds nothing of it."""
    assert b"slipway-report" not in await rendered(reporting)


UNSOUND = [
    (b'https://a.example/1"', "a quote ends it in curl's configuration"),
    (b'https://a.example/1"\noutput = "/etc/cron.d/a', "so does this, and an option follows"),
    (b"https://a.example/1\\n", "curl has escapes"),
    (b"https://a.example/1\nhttps://b.example/1", "wget would take two"),
    (b"https://a.example/1\r\n", "a line break of Windows"),
    (b"https://a.example/1\n\n", "one line break may follow"),
    (b" https://a.example/1", "a blank"),
    (b"https://a.example/\x00", "a NUL"),
    ("https://a.example/ä".encode(), "not in ASCII"),
    (b"ftp://a.example/1", "another scheme"),
    (b"file:///etc/shadow", "a file"),
    (b"https://", "no host"),
    (b"-o/etc/passwd", "an option"),
    (b"", "nothing"),
]


@pytest.mark.parametrize(("value", "reason"), UNSOUND)
@pytest.mark.parametrize(("key", "field"), [("url", "url"), ("logs", "logsUrl")])
async def test_an_address_that_is_none_is_refused(key: str, field: str, value: bytes, reason: str) -> None:
    """By its field, before a machine is made; the value is in no text of the refusal."""
    made = request(f"{{sinks: [{{console: {{}}}}, {{{PUT}}}]}}")
    for secret in made.credentials.secrets:
        secret.value = value if (secret.name, secret.key) == ("report", key) else secret.value
    with pytest.raises(SpecInvalid) as caught:
        await bootstrapper().user_data(made)
    check(caught.value)
    (violation,) = caught.value.violations
    assert violation.path == f"spec.reporting.sinks[1].put.{field}", reason
    assert violation.description == f"key {key} of secret report is not an absolute URL of http or https", reason
    assert not value or value.decode(errors="replace").strip() not in str(caught.value) + repr(violation), reason


async def test_an_address_may_end_with_a_line() -> None:
    """As what was read from a file does."""
    made = request(f"{{sinks: [{{{PUT}}}]}}")
    for secret in made.credentials.secrets:
        secret.value += b"\n"
    assert (await bootstrapper().user_data(made)).user_data


async def test_the_machine_is_the_same_bundle_whatever_its_address_is() -> None:
    """The id of the bundle does not depend on the address, which may therefore hold the id."""
    ids = []
    for value in (b"https://a.example/1", b"https://b.example/2"):
        made = request(f"{{sinks: [{{{PUT}}}]}}")
        for secret in made.credentials.secrets:
            secret.value = value if secret.name == "report" else secret.value
        answer = yaml.safe_load((await bootstrapper().user_data(made)).user_data)
        (plan,) = [file["content"] for file in answer["write_files"] if file["path"] == "/var/lib/slipway/plan"]
        ids.append(plan.splitlines()[0])
    assert ids[0] == ids[1]


@pytest.mark.parametrize(
    ("provisioner", "target", "path"),
    [("windows", WINDOWS, "spec.reporting.sinks[1].workloadCluster"), ("talos", "", "reporting")],
)
async def test_where_nothing_sends_it_is_refused(provisioner: str, target: str, path: str) -> None:
    """Windows, for the cluster, and Talos are refused by the field; for the console they are not."""
    with pytest.raises(SlipwayError) as caught:
        await bootstrapper().user_data(request("{sinks: [{console: {}}, {workloadCluster: {}}]}", provisioner, target))
    check(caught.value)
    assert any(path in violation.path for violation in caught.value.violations)
    await bootstrapper().user_data(request("{sinks: [{console: {}}]}", provisioner, target))


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition", "talos"])
async def test_the_operator_gives_addresses_to_machines_that_can_report(provisioner: str) -> None:
    """A spec that says nothing has the operator's, made for its bundle; who cannot report is rendered as before."""
    bundles = []

    def addresses(bundle_id: str) -> Addresses:
        bundles.append(bundle_id)
        return Addresses(URL, URL)

    target = "" if provisioner == "talos" else LINUX
    asking = replace(bootstrapper(), addresses=addresses)
    answer = await asking.user_data(request("", provisioner, target))
    if provisioner == "talos":
        assert not bundles
        assert answer == await bootstrapper().user_data(request("", provisioner, target))
        return
    assert set(bundles) == {answer.bundle_id}
    text = gzip.decompress(answer.user_data) if answer.user_data.startswith(b"\x1f\x8b") else answer.user_data
    assert f"report failure {BASE64} {BASE64} >/dev/null 2>&1 || true\n" in texts_of(text)


@pytest.mark.parametrize("reporting", ["{}", "{sinks: [{console: {}}]}"])
async def test_the_spec_wins_over_the_operators_addresses(reporting: str) -> None:
    """Who writes `reporting` has what stands there, and be it nothing."""
    asking = replace(bootstrapper(), addresses=lambda _: Addresses(URL, URL))
    answer = await asking.user_data(request(reporting))
    assert answer == await bootstrapper().user_data(request(reporting))


@pytest.mark.parametrize(
    "policy",
    [
        Policy(denied_features=frozenset({"os.commands"})),
        Policy(denied_features=frozenset({"reporting"})),
        Policy(allowed_features=frozenset({"os.files"})),
    ],
    ids=["commands", "reporting", "an allow-list"],
)
async def test_the_operator_may_deny_it(policy: Policy) -> None:
    """It is a feature of its own, and a command like any other."""
    with pytest.raises(FeatureDenied):
        await replace(bootstrapper(), policy=policy).user_data(request(f"{{sinks: [{{{PUT}}}]}}"))


LITERAL = (
    "execution: {onPreFailure: Continue, onBootstrapFailure: Continue, onPostFailure: Continue, "
    "sentinel: AfterBootstrap, literalCommands: true}"
)


@pytest.mark.parametrize(
    ("reporting", "has_events", "sends"),
    [
        ("", False, False),
        ("{}", False, False),
        ("{sinks: [{console: {}}]}", True, False),
        (f"{{sinks: [{{{PUT}}}]}}", True, True),
        ("{sinks: [{workloadCluster: {}}]}", True, True),
    ],
)
async def test_literal_commands_have_events_where_the_spec_asks(
    reporting: str, *, has_events: bool, sends: bool
) -> None:
    """Any sink asks for events around the line of the bootstrap; without one the user data are those of before."""
    answer = await bootstrapper().user_data(request(reporting, target=f"{LINUX}, {LITERAL}"))
    document = yaml.safe_load(answer.user_data)
    (line,) = [line for line in document["runcmd"] if "kubeadm join" in line]
    assert ("/bin/sh /var/lib/slipway/event 20-kubeadm" in line) is has_events
    assert ("/var/lib/slipway/event" in {file["path"] for file in document["write_files"]}) is has_events
    assert any("steps/" in line for line in document["runcmd"]) is sends


@pytest.mark.parametrize(
    ("reporting", "has_events", "sends"),
    [
        ("", False, False),
        ("{sinks: [{console: {}}]}", True, False),
        (f"{{sinks: [{{{PUT}}}]}}", True, True),
        ("{sinks: [{workloadCluster: {}}]}", True, True),
    ],
)
async def test_the_one_script_has_events_where_the_spec_asks(reporting: str, *, has_events: bool, sends: bool) -> None:
    """Ignition with literal commands: the unit has a drop-in, and the script is that of before."""
    stopping = f"{LINUX}, {LITERAL}".replace("Continue", "Stop")
    answers = [await bootstrapper().user_data(request(text, "ignition", stopping)) for text in ("", reporting)]
    scripts, units = zip(*map(script_and_drop_ins, answers), strict=True)
    assert scripts[0] == scripts[1]
    assert ("slipway/event 20-kubeadm done" in units[1]) is has_events
    assert ("slipway/steps/" in units[1]) is sends


def script_and_drop_ins(answer: bootstrappb.GetUserDataResponse) -> tuple[list[object], str]:
    """Give the script of an Ignition config with its unit, and the texts of the unit's drop-ins."""
    document = json.loads(answer.user_data)
    scripts = [file for file in document["storage"]["files"] if file["path"].endswith(".sh")]
    units = [{**unit, "dropins": []} for unit in document["systemd"]["units"]]
    texts = [part["contents"] for unit in document["systemd"]["units"] for part in unit.get("dropins", ())]
    return [*scripts, *units], "".join(texts)


async def test_the_operator_may_deny_events_of_literal_commands() -> None:
    """They are a request of `os.commands`, too: where that is denied, the console asks for nothing."""
    denying = replace(bootstrapper(), policy=Policy(denied_features=frozenset({"os.commands"})))
    answer = await denying.user_data(request("{sinks: [{console: {}}]}", target=f"{LINUX}, {LITERAL}"))
    assert b"slipway/event" not in answer.user_data
