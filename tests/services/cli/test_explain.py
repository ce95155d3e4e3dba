"""`slipway explain`, `bundle` and `provisioners`: looking without making."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.cli.bundle_command import readable
from tests.services.cli.conftest import EXAMPLES, Slipway

pytestmark = pytest.mark.long

NATIVE, AWS = EXAMPLES / "native.yaml", EXAMPLES / "cluster-aws.yaml"
SECRET_WORDS = ("PRIVATE KEY", "BEGIN CERTIFICATE", "apiVersion: audit.k8s.io", "kernel.panic_on_oops")
NAMED_ENGINE = "  kubernetes:\n    engine: k0s\n    node:\n      labels:"


def test_the_matrix_says_native_lowered_and_refused(slipway: Slipway) -> None:
    """A row for each field, a verdict for each format: to what it is lowered, why it is refused, what to do."""
    result = slipway("explain", "-f", NATIVE, "--machine", "harbour-worker", "-o", "json")
    assert result.exit_code == 0
    (tree,) = json.loads(result.stdout)
    (row,) = [row for row in tree["rows"] if row["field"] == "SlipwayConfig/worker: spec.os.sysctls[0]"]
    cells = {cell["format"]: cell for cell in row["cells"]}
    assert cells["talos/v1.13"]["verdict"] == "native"
    assert (cells["ignition/3.3.0"]["verdict"], "os.files" in cells["ignition/3.3.0"]["into"]) == ("lowered", True)
    assert (cells["unattend"]["verdict"], bool(cells["unattend"]["reason"])) == ("refused", True)
    assert {one["format"] for one in tree["columns"] if not one["renderable"]} >= {"unattend", "cloudbase-init"}


def test_the_matrix_agrees_with_render(slipway: Slipway) -> None:
    """Whom explain calls able to render a machine renders it, and nobody else does."""
    explained = json.loads(slipway("explain", "-f", AWS, "-o", "json").stdout)
    rendered = json.loads(slipway("render", "-f", AWS, "--format", "all", "--summary", "json").stdout)
    told = {(tree["machine"], one["format"]): one["renderable"] for tree in explained for one in tree["columns"]}
    done = {(one["machine"], one["format"]): one["status"] == "rendered" for one in rendered}
    # A Linux format says of a Windows machine only that it is for Linux, before a format is chosen.
    assert {key: told[key] for key in done} == done
    assert len(done) == len(told)


@pytest.mark.parametrize("command", ["explain", "render"])
def test_an_engine_that_is_not_installed_is_named_as_in_the_spec(
    slipway: Slipway, tmp_path: Path, command: str
) -> None:
    """By its field and line in the document, by each command, never by a field of the bundle."""
    text = NATIVE.read_text(encoding="utf-8")
    other = tmp_path / "other.yaml"
    other.write_text(text.replace("  kubernetes:\n", "  kubernetes:\n    engine: zebra\n"), encoding="utf-8")
    result = slipway(command, "-f", other, "--machine", "harbour-worker", "--format", "cloud-config")
    assert result.exit_code == 1
    assert "spec.kubernetes.engine: is no bootstrap engine that is installed" in result.stderr
    assert "intent." not in result.stderr


def test_engines_are_compared(slipway: Slipway) -> None:
    """A column for each engine and format, as render renders it; what takes no plan has one column and no engine."""
    arguments = ("explain", "-f", NATIVE, "--machine", "harbour-cp-0", "--engine", "all")
    (tree,) = json.loads(slipway(*arguments, "-o", "json").stdout)
    renderable = {(column["engine"], column["format"]): column["renderable"] for column in tree["columns"]}
    assert {engine for engine, _ in renderable} == {"kubeadm", "k0s", ""}
    assert renderable["", "talos/v1.13"]
    assert renderable["kubeadm", "cloud-config"]
    # Its control plane has files of the API server's own, and k0s takes them, too.
    assert renderable["k0s", "ignition/3.3.0"]
    assert [name for name in renderable if name[1] == "talos/v1.13"] == [("", "talos/v1.13")]
    assert all(len(row["cells"]) == len(renderable) for row in tree["rows"])
    table = slipway(*arguments).stdout
    assert [line.split()[:3] for line in table.splitlines()[3:5]] == [
        ["kubeadm", "rendered", "rendered"], ["k0s", "rendered", "rendered"],
    ]  # fmt: skip
    for title in ("harbour-cp-0, engine kubeadm", "harbour-cp-0, engine k0s", "harbour-cp-0, no engine"):
        assert title in table


def test_all_provisioners_are_shown_by_engine(slipway: Slipway) -> None:
    """`--provisioner all` begins with the table of engines and provisioners; a name chooses the formats of one."""
    arguments = ("explain", "-f", NATIVE, "--machine", "harbour-worker")
    table = slipway(*arguments, "--provisioner", "all").stdout.splitlines()
    assert table[1].split() == ["engine", "cloud-init", "ignition", "talos", "windows"]
    assert [line.split()[0] for line in table[3:6]] == ["kubeadm", "k0s", "no"]
    (tree,) = json.loads(slipway(*arguments, "--provisioner", "ignition", "-o", "json").stdout)
    assert {column["provisioner"] for column in tree["columns"]} == {"ignition"}
    assert {column["engine"] for column in tree["columns"]} == {""}
    (tree,) = json.loads(slipway(*arguments, "--provisioner", "all", "--engine", "k0s", "-o", "json").stdout)
    assert {column["engine"] for column in tree["columns"]} == {"k0s", ""}
    assert "no format or provisioner ignitoin" in slipway(*arguments, "--provisioner", "ignitoin").stderr


def test_the_language_of_a_text_has_no_row_of_its_own(slipway: Slipway, write: Callable[..., Path]) -> None:
    """For people it is a part of the item that holds the text, which has the same verdicts; programs get its row."""
    part = "{path: /etc/a, content: {segments: [{extension: {id: cloud-init.slipway.dev/jinja, text: '{{ x }}'}}]}}"
    spec = f"  name: worker\nspec:\n  os:\n    files: [{part}]\n"
    text = NATIVE.read_text().split("  name: worker\nspec:\n", maxsplit=1)[0] + spec
    arguments = ("explain", "-f", write(text), "--machine", "harbour-worker")
    (tree,) = json.loads(slipway(*arguments, "-o", "json").stdout)
    (row,) = [row for row in tree["rows"] if row["feature"] == "ext.cloud-init.slipway.dev/jinja"]
    verdicts = {cell["format"]: cell["verdict"] for cell in row["cells"]}
    assert (verdicts["cloud-config"], verdicts["ignition/3.3.0"]) == ("native", "refused")
    assert "ext.cloud-init" not in slipway(*arguments).stdout


def test_an_engine_refuses_what_only_another_one_has(slipway: Slipway, write: Callable[..., Path]) -> None:
    """The row of the field is refused for the engine that does not take it, with the engine's name in the remedy."""
    text = NATIVE.read_text().replace(
        "  name: worker\nspec:\n", "  name: worker\nspec:\n  engineOptions: {kubeadm: {skippedPhases: [preflight]}}\n"
    )
    arguments = ("explain", "-f", write(text), "--machine", "harbour-worker", "--format", "cloud-config")
    (tree,) = json.loads(slipway(*arguments, "--engine", "kubeadm", "--engine", "k0s", "-o", "json").stdout)
    assert {column["engine"]: column["renderable"] for column in tree["columns"]} == {"kubeadm": True, "k0s": False}
    rows = [row for row in tree["rows"] if row["field"].startswith("SlipwayConfig/worker: spec.engineOptions.kubeadm")]
    assert rows
    for row in rows:
        assert [(cell["engine"], cell["verdict"]) for cell in row["cells"]] == [
            ("kubeadm", "lowered"), ("k0s", "refused"),
        ]  # fmt: skip


def test_a_system_that_an_engine_does_not_serve_is_reported_beside_the_fields(slipway: Slipway) -> None:
    """Who takes out the fields that Windows refuses shall not learn only then that k0s makes no nodes there."""
    arguments = ("explain", "-f", NATIVE, "--machine", "harbour-worker", "--engine", "k0s", "--format", "windows")
    lines = [line for line in slipway(*arguments).stdout.splitlines() if "refused by windows: " in line]
    assert any("os.sysctls is not supported" in line for line in lines)
    (whole,) = [line for line in lines if "machine.target.osFamily" in line]
    assert "makes nodes. Choose linux, or another engine" in whole


def test_the_engine_is_refused_where_it_makes_no_nodes(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Its own row says so: on Windows the engine of the spec is the cause, and on Linux it is executed as ever."""
    file = write(NATIVE.read_text().replace("  kubernetes:\n    node:\n      labels:", NAMED_ENGINE))
    verdicts = {}
    for name in ("windows", "cloud-config"):
        arguments = ("explain", "-f", file, "--machine", "harbour-worker", "--format", name, "-o", "json")
        (tree,) = json.loads(slipway(*arguments).stdout)
        (cell,) = [row["cells"][0] for row in tree["rows"] if row["feature"] == "kubernetes.engine"]
        verdicts[name] = (cell["verdict"], "another engine" in cell.get("remedy", ""))
    assert verdicts == {"windows": ("refused", True), "cloud-config": ("lowered", False)}


def test_an_engine_that_is_not_installed(slipway: Slipway) -> None:
    """The names of those that are there help to choose."""
    for name, remedy in (("kubeadn", "Did you mean kubeadm?"), ("microk8s", "Choose kubeadm or k0s")):
        result = slipway("explain", "-f", NATIVE, "--machine", "harbour-worker", "--engine", name)
        assert result.exit_code == 1
        assert f"engines[0]: is no bootstrap engine that is installed. {remedy}" in result.stderr


def test_a_version_that_a_format_does_not_run_is_refused_at_its_field(
    slipway: Slipway, write: Callable[..., Path]
) -> None:
    """The cell is refused, with the versions that can be chosen; it is not native in a machine that is refused."""
    file = write(NATIVE.read_text().replace("kubernetesVersion: v1.34.2", "kubernetesVersion: v1.24.0"))
    arguments = ("explain", "-f", file, "--machine", "harbour-worker", "--format", "talos/v1.13")
    (tree,) = json.loads(slipway(*arguments, "-o", "json").stdout)
    (cell,) = [row["cells"][0] for row in tree["rows"] if row["feature"] == "kubernetes.version"]
    assert (cell["verdict"], "choose v1.31 to" in cell["remedy"]) == ("refused", True)
    assert "Choose v1.31 to" in tree["columns"][0]["refusal"]
    told = "refused by talos/v1.13: SlipwayCluster/harbour: spec.cluster.kubernetesVersion: is not one"
    assert told in slipway(*arguments).stdout
    assert "cluster.kubernetesVersion" not in slipway(*arguments[:-1], "cloud-init").stdout


def test_a_spec_that_nobody_serves_says_so(slipway: Slipway, write: Callable[..., Path]) -> None:
    """The matrix may say rendered everywhere: why the exit code is 1 stands below it, and beside it, as a refusal."""
    before, name, after = NATIVE.read_text().partition("  name: worker\nspec:\n")
    file = write(f"{before}{name}  provisioner: {{name: cloudinit}}\n{after}")
    result = slipway("explain", "-f", file, "--machine", "harbour-worker")
    assert result.exit_code == 1
    said = "SlipwayConfig/worker: spec.provisioner.name: is the name of no provisioner that is registered"
    assert f"refused, although another provisioner may support it: {said}" in result.stdout
    assert f": {said}" in next(line for line in result.stderr.splitlines() if line.startswith("refused: "))


@pytest.mark.parametrize("target", ["hetzner", "metal", "aws"])
def test_the_machine_is_rendered_where_render_renders_it(slipway: Slipway, target: str) -> None:
    """The last row and render agree, on infrastructures that take little too; a wide limit asks for no remark."""
    machine = ("-f", NATIVE, "--machine", "harbour-cp-0", "--target", target)
    (told,) = json.loads(slipway("explain", *machine, "-o", "json").stdout)
    summary = json.loads(slipway("render", *machine, "--format", "all", "--summary", "json").stdout)
    entries = {one["format"]: one for one in summary}
    columns = {one["format"]: one for one in told["columns"]}
    assert {name: one["renderable"] for name, one in columns.items()} == {
        name: one["status"] == "rendered" for name, one in entries.items()
    }
    assert ("slipway size" in str(told["diagnostics"])) is False


def test_secrets_of_the_users_are_told_not_to_be_counted(slipway: Slipway, write: Callable[..., Path]) -> None:
    """A few bytes stand for what may be kilobytes: where several may be too much, explain says what it left out."""
    entries = [f"{{path: /etc/{name}, content: {{secretRef: {{name: {name}, key: k}}}}}}" for name in "abcd"]
    for number, target, doubted in ((4, "hetzner", True), (1, "hetzner", False), (4, "metal", False)):
        files = f"os:\n    files: [{', '.join(entries[:number])}]\n"
        file = write(NATIVE.read_text().replace("os:\n", files))
        arguments = ("explain", "-f", file, "--machine", "harbour-worker", "--target", target)
        (tree,) = json.loads(slipway(*arguments, "-o", "json").stdout)
        (column,) = [one for one in tree["columns"] if one["format"] == "cloud-config"]
        told = [one["message"] for one in tree["diagnostics"] if one["code"] == "SIZE_DOUBTED"]
        assert column["renderable"]
        assert len(told) == doubted, (number, target)
        if doubted:
            assert "cloud-config" in told[0]
            assert "with 8192 bytes in each place that refers to a Secret, which are not counted here" in told[0]
            assert "which are not counted here" in slipway(*arguments).stdout
            assert "unattend" not in told[0], "what is refused anyway is not warned of"


def test_people_get_few_columns_and_rows(slipway: Slipway) -> None:
    """Formats that agree share a column, parts of a feature that say the same are left out; nothing is too wide."""
    result = slipway("explain", "-f", AWS, "--machine", "lighthouse-linux")
    assert "all 3" in result.stdout
    assert "os.ntp.servers" not in result.stdout
    table = result.stdout.split("lowered to")[0]
    assert max(map(len, table.splitlines())) < 140
    refusal = "refused by talos: KubeadmConfigTemplate/lighthouse-linux: spec.template.spec.files[0], files[1]: "
    assert refusal in result.stdout


def test_one_format_can_be_asked_for(slipway: Slipway) -> None:
    """By its name, or by its provisioner's; nobody else then stands in the matrix."""
    arguments = ("explain", "-f", NATIVE, "--machine", "harbour-worker", "-o", "json", "--format")
    (one,) = json.loads(slipway(*arguments, "ignition/3.4.0").stdout)
    assert [column["format"] for column in one["columns"]] == ["ignition/3.4.0"]
    (all_of,) = json.loads(slipway(*arguments, "talos").stdout)
    assert {column["provisioner"] for column in all_of["columns"]} == {"talos"}
    assert slipway(*arguments, "ignition/3.5").exit_code == 2


def test_a_machine_that_nobody_renders_is_a_failure(slipway: Slipway) -> None:
    """Exit code 1, as render would have it."""
    result = slipway("explain", "-f", NATIVE, "--format", "windows", "--machine", "harbour-cp-0")
    assert result.exit_code == 1


def test_looking_needs_no_secret_and_makes_none(slipway: Slipway, tmp_path: Path) -> None:
    """explain, size, bundle and diff leave a credentials directory as it was, and need no Secret of the user's."""
    azure = EXAMPLES / "cluster-azure.yaml"
    kept = tmp_path / "kept"
    for command in ("explain", "size", "bundle"):
        assert slipway(command, "-f", azure, "--credentials", kept).exit_code == 0
    assert not kept.exists()


@pytest.mark.parametrize("arguments", [(), ("--lowered-for", "cloud-init"), ("-o", "json"), ("-o", "table")])
def test_a_bundle_shows_no_secret(slipway: Slipway, arguments: tuple[str, ...]) -> None:
    """Neither keys nor contents of files; a size stands in their place, in words."""
    result = slipway("bundle", "-f", AWS, "--machine", "lighthouse-control-plane-init", *arguments)
    assert result.exit_code == 0, result.stderr
    assert not [word for word in SECRET_WORDS if word in result.stdout]
    if "table" not in arguments:
        assert " bytes>" in result.stdout


def test_a_bundle_is_lowered_for_somebody_who_is_known(slipway: Slipway) -> None:
    """A wrong name is a wrong command line, told once with who was meant, and no refusal of every machine."""
    for name, meant in (("cloudbase-init", "windows"), ("cloudinit", "cloud-init")):
        result = slipway("bundle", "-f", NATIVE, "--lowered-for", name)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"did you mean {meant}?" in result.stderr


def test_a_refused_machine_does_not_hide_the_others(slipway: Slipway) -> None:
    """Commands go on with the next machine, and end with 1."""
    for arguments in (("bundle", "--lowered-for"), ("size", "--provisioner")):
        result = slipway(arguments[0], "-f", AWS, *arguments[1:], "windows", "-o", "json")
        assert result.exit_code == 1
        assert "refused: " in result.stderr
        assert len(json.loads(result.stdout)) == 1


def test_provisioners_are_listed(slipway: Slipway) -> None:
    """Four of them, with formats and features."""
    trees = json.loads(slipway("provisioners", "-o", "json").stdout)
    assert [one["name"] for one in trees] == ["cloud-init", "ignition", "talos", "windows"]
    assert all(info["features"] for one in trees for info in one["formats"])


def test_only_sizes_are_made_readable() -> None:
    """Base64 that is no size stays as it is."""
    assert readable({"a": ["PDU0MiBieXRlcz4=", "PDU0MiBieXRl", "PDxhYmM+"]}) == {
        "a": ["<542 bytes>", "PDU0MiBieXRl", "PDxhYmM+"]
    }


def test_versions_that_the_operator_does_not_allow_are_listed_and_explained(
    slipway: Slipway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list and the matrix name version and reason; the format has no column, and a pin of its name is refused."""
    listed = slipway("provisioners", "--provisioner-versions", "talos>=99.0.0", "-o", "json")
    refusals = {tree["name"]: tree["refusal"] for tree in json.loads(listed.stdout)}
    assert refusals["talos"] == "the operator requires version 99.0.0 or newer"
    assert (listed.exit_code, refusals["ignition"]) == (0, "")
    monkeypatch.setenv("SLIPWAY_PROVISIONER_VERSIONS", "talos>=99.0.0")
    (tree,) = json.loads(slipway("explain", "-f", NATIVE, "--machine", "harbour-worker", "-o", "json").stdout)
    assert "talos" not in {column["provisioner"] for column in tree["columns"]}
    (refused,) = [note for note in tree["diagnostics"] if note["code"] == "PROVISIONER_VERSION_NOT_ALLOWED"]
    assert "is not used: the operator requires version 99.0.0" in refused["message"]
    rendered = slipway("render", "-f", NATIVE, "--machine", "harbour-worker", "--provisioner", "talos")
    assert (rendered.exit_code, "PROVISIONER_NOT_ALLOWED" in rendered.stdout) == (1, True)
    monkeypatch.setenv("SLIPWAY_PROVISIONER_VERSIONS", "talos>99")
    assert "must be NAME>=VERSION" in slipway("explain", "-f", NATIVE).stderr
