"""`slipway render`: files, account, exit codes, and the same bytes again."""

import gzip
import json
import re
import stat
from pathlib import Path

import pytest

from tests.services.cli.conftest import EXAMPLES, Slipway, with_worker_os

NATIVE, AWS, FLATCAR = EXAMPLES / "native.yaml", EXAMPLES / "cluster-aws.yaml", EXAMPLES / "cluster-flatcar.yaml"
KEYS = {
    "machine", "role", "provisioner", "provisioner_version", "format", "status", "file", "bytes", "gzip_bytes",
    "sha256", "milliseconds", "lowered", "diagnostics", "refusals", "payload_file", "payload_url", "bundle_id",
}  # fmt: skip


def content(path: Path) -> str:
    """Give the text of a written user data."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def test_a_folder_gets_a_file_for_each_machine_and_provisioner(slipway: Slipway, tmp_path: Path) -> None:
    """DIR/MACHINE/PROVISIONER.EXT with attachments beside it, for the owner's eyes only, and an account of it all."""
    out = tmp_path / "out"
    result = slipway("render", "-f", NATIVE, "--provisioner", "all", "-o", out)
    assert result.exit_code == 0
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert files == {
        *(f"harbour-{name}/cloud-init.yaml" for name in ("cp-0", "cp-1", "worker")),
        *(f"harbour-{name}/ignition.ign" for name in ("cp-0", "cp-1", "worker")),
        *(f"harbour-{name}/talos.yaml" for name in ("cp-0", "cp-1", "worker")),
        "harbour-cp-0/talos.talosconfig",
        "summary.json",
    } | {name for name in files if name.endswith("talos.talosconfig")}
    assert "harbour-cp-0/talos.talosconfig" in files
    private = [path for path in out.rglob("*") if path.is_file() and path.name != "summary.json"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}
    entries = json.loads((out / "summary.json").read_text())
    assert all(set(entry) == KEYS for entry in entries)
    assert len(entries) == 3 * 4
    for entry in entries:
        assert entry["status"] in {"rendered", "refused"}
        assert entry["provisioner_version"]
        assert entry["format"]
        if entry["status"] == "rendered":
            assert entry["bytes"] == (out / entry["file"]).stat().st_size
        else:
            assert entry["file"] == ""
            assert all(set(refusal) == {"field", "feature", "reason", "remedy"} for refusal in entry["refusals"])
            assert all(refusal["field"] and refusal["feature"] and refusal["reason"] for refusal in entry["refusals"])


def test_the_summary_has_the_id_that_events_of_the_machine_have(slipway: Slipway, tmp_path: Path) -> None:
    """Table and JSON name the bundle of each machine, by which a console log or a report is matched to a render."""
    call = ("render", "-f", NATIVE, "--machine", "harbour-worker", "--provisioner", "cloud-init")
    (entry,) = json.loads(
        slipway(*call, "--credentials", tmp_path / "kept", "-o", tmp_path / "out", "--summary", "json").stdout
    )
    assert entry["bundle_id"] in content(tmp_path / "out" / entry["file"]), "as on the machine"
    assert (
        f"\nharbour-worker  worker  bundle {entry['bundle_id']}\n"
        in slipway(*call, "--credentials", tmp_path / "kept").stdout
    )


def test_a_machine_that_is_refused_has_no_bundle(slipway: Slipway) -> None:
    """Its line in the table has name and role alone."""
    result = slipway("render", "-f", NATIVE, "--machine", "harbour-worker", "--provisioner", "windows")
    assert "\nharbour-worker  worker\n" in result.stdout


def test_the_field_of_a_refusal_is_what_the_user_wrote(slipway: Slipway) -> None:
    """A refusal names document and path; the remark on standard error has file, line and column too."""
    result = slipway("render", "-f", NATIVE, "--provisioner", "windows", "--summary", "json")
    assert result.exit_code == 1
    fields = {refusal["field"] for entry in json.loads(result.stdout) for refusal in entry["refusals"]}
    assert "SlipwayConfig/worker: spec.os.sysctls[0]" in fields
    line = NATIVE.read_text().splitlines().index("metadata:", 40)
    assert re.search(rf"refused: {NATIVE}:\d+:\d+: SlipwayConfig/worker: spec\.os\.sysctls\[0\]: ", result.stderr)
    place = re.search(rf"{NATIVE}:(\d+):(\d+): SlipwayConfig/worker", result.stderr)
    assert place is not None
    assert int(place[1]) > line
    assert "net.ipv4.ip_forward" in NATIVE.read_text().splitlines()[int(place[1]) - 1]


def test_the_same_files_and_credentials_give_the_same_bytes(slipway: Slipway, tmp_path: Path) -> None:
    """With kept credentials nothing in the output depends on the time, on chance or on the call."""
    for name in ("first", "second"):
        done = slipway(
            "render", "-f", AWS, "--provisioner", "all", "--credentials", tmp_path / "kept", "-o", tmp_path / name
        )
        assert done.exit_code == 0
    written = {path.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("*") if path.is_file()}
    assert len(written) > 5
    for path in written - {Path("summary.json")}:
        assert (tmp_path / "first" / path).read_bytes() == (tmp_path / "second" / path).read_bytes(), path


def test_machines_of_separate_calls_belong_to_one_cluster(slipway: Slipway, tmp_path: Path) -> None:
    """Two control-plane roles and a worker, each rendered by a call of its own, trust the same authority."""
    authorities = set()
    for machine in ("lighthouse-control-plane-init", "lighthouse-control-plane-join", "lighthouse-linux"):
        out = tmp_path / machine
        slipway("render", "-f", AWS, "--machine", machine, "--credentials", tmp_path / "kept", "-o", out)
        (path,) = list((out / machine).iterdir())
        text = content(path)
        hashes = set(re.findall(r"sha256:[0-9a-f]{64}", text))
        certificates = re.findall(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----", text)
        if machine == "lighthouse-control-plane-init":
            first_certificates = {re.sub(r"\s", "", certificate) for certificate in certificates}
            assert first_certificates
        elif machine == "lighthouse-control-plane-join":
            assert {re.sub(r"\s", "", certificate) for certificate in certificates} == first_certificates
            authorities |= hashes
        else:
            authorities |= hashes
            assert not certificates, "a worker never gets an authority's key or certificate"
    assert len(authorities) == 1


def test_without_kept_credentials_it_warns(slipway: Slipway) -> None:
    """Who renders without --credentials is told that other machines will not be able to join."""
    result = slipway("render", "-f", NATIVE, "--provisioner", "talos")
    assert "warning: The cluster's secrets exist only in the memory" in result.stderr


def test_every_format_of_a_provisioner_has_its_file(slipway: Slipway, tmp_path: Path) -> None:
    """The default format is PROVISIONER.EXT, others say which they are; a repeated call gives the same names."""
    for _ in range(2):
        slipway("render", "-f", NATIVE, "--machine", "harbour-worker", "--provisioner", "ignition", "--format", "all",
                "-o", tmp_path)  # fmt: skip
        assert {path.name for path in (tmp_path / "harbour-worker").iterdir()} == {
            "ignition.ign", "ignition-ignition-3.4.0.ign", "ignition-ignition-2.3.0.ign",
        }  # fmt: skip


def test_what_an_earlier_call_left_does_not_stay_beside_a_refusal(slipway: Slipway, tmp_path: Path) -> None:
    """User data of an earlier call is gone when the machine is refused now: nobody boots it by mistake."""
    before, after = NATIVE, tmp_path / "after.yaml"
    after.write_text(with_worker_os("    users: [{name: ops}]\n"))
    arguments = ("--machine", "harbour-worker", "--provisioner", "talos", "-o", tmp_path / "out")
    assert slipway("render", "-f", before, *arguments).exit_code == 0
    assert (tmp_path / "out/harbour-worker/talos.yaml").exists()
    assert slipway("render", "-f", after, *arguments).exit_code == 1
    assert not (tmp_path / "out/harbour-worker/talos.yaml").exists()


def test_one_user_data_goes_to_standard_output(slipway: Slipway) -> None:
    """`-o -` prints the bytes and nothing else; what cannot go there is named on standard error."""
    result = slipway("render", "-f", NATIVE, "--machine", "harbour-cp-0", "--provisioner", "talos", "-o", "-")
    assert result.exit_code == 0
    assert result.stdout_bytes.startswith(b"---\nversion: v1alpha1\n")
    assert "talosconfig is left out" in result.stderr
    several = slipway("render", "-f", NATIVE, "--provisioner", "talos", "-o", "-")
    assert (several.exit_code, several.stdout) == (2, "")


def test_a_format_with_companion_files_does_not_go_to_standard_output(slipway: Slipway) -> None:
    """An answer file without its script would be useless, so it is refused where the script cannot be placed."""
    arguments = ("--machine", "lighthouse-windows", "--target", "azure", "--format", "unattend")
    result = slipway("render", "-f", AWS, *arguments, "-o", "-")
    assert (result.exit_code, result.stdout) == (1, "")


SELECTION = [
    (("--provisioner", "talso"), 2, "did you mean talos?", "a misspelt provisioner"),
    (("--format", "tals/v1.12"), 2, "did you mean talos/v1.12?", "a misspelt format"),
    (("--provisioner", "cloudbase-init"), 2, "did you mean windows?", "the name of a format in place of who makes it"),
    (("--provisioner", "talos/v1.12"), 2, "did you mean talos?", "a format in place of a provisioner"),
    (("--format", "cloud-init"), 2, "its formats are cloud-config", "a provisioner in place of a format"),
    (
        ("--provisioner", "talos", "--format", "cloud-config"),
        2,
        "unknown to provisioner talos",
        "somebody else's format",
    ),
    (("--machine", "harbour-workr"), 2, "did you mean harbour-worker?", "a misspelt machine"),
    (("--machine", "x"), 2, "there are harbour-cp-0", "an unknown machine"),
    ((), 1, "--provisioner NAME|all", "several could serve, and nobody guesses"),
    (("--target", "nowhere"), 2, "is not one of", "an unknown infrastructure"),
    (("--set", "A"), 2, "VAR=VALUE", "a --set without a value"),
    (("--server", "127.0.0.1:1"), 2, "--insecure", "a server without TLS"),
    (("--server", "192.0.2.1:1", "--insecure"), 2, "not an address of this machine", "a far server without TLS"),
    (("-o", "json"), 2, "--summary json", "the output of other commands, which would be a folder here"),
    (("--insecure",), 2, "for --server", "an option that means nothing here"),
    (("--server", "127.0.0.1:1", "--insecure", "--credentials", "x"), 2, "server's business", "the server has its own"),
    (("--server", "127.0.0.1:1", "--insecure"), 1, "server at 127.0.0.1:1 does not answer", "nobody is there"),
    (("--provisioner", "all", "--server", "127.0.0.1:1", "--insecure"), 2, "--registry", "who is there, is not known"),
]


@pytest.mark.parametrize(("arguments", "code", "said", "reason"), SELECTION, ids=[row[-1] for row in SELECTION])
def test_a_wrong_choice_is_told(
    slipway: Slipway, arguments: tuple[str, ...], code: int, said: str, reason: str
) -> None:
    """Exit code 2 for a wrong command line, 1 for what is refused or does not answer; always what to do."""
    result = slipway("render", "-f", NATIVE, *arguments)
    assert (result.exit_code, said in result.stderr) == (code, True), (reason, result.stderr)


def test_nothing_is_assumed(slipway: Slipway) -> None:
    """No operating system is; the class of this cluster is patched, so of it nothing is left to say either."""
    result = slipway("render", "-f", EXAMPLES / "cluster-metal.yaml")
    assert result.exit_code == 0
    assert "assumed" not in result.stderr
    assert "without the patches" not in result.stderr


def test_missing_parts_are_filled_in_for_a_first_look(slipway: Slipway, tmp_path: Path) -> None:
    """--set-missing fills a variable, an endpoint, a version and a Secret, and notes each of them."""
    azure = (EXAMPLES / "cluster-azure.yaml").read_text()
    bare = re.sub(r"  controlPlaneEndpoint: .*\n", "", azure).replace(":=gannet", "").replace(":=v1.32.6", "")
    file = tmp_path / "bare.yaml"
    file.write_text(bare)
    refused = slipway("render", "-f", file)
    assert refused.exit_code == 1
    assert {"CLUSTER_NAME", "KUBERNETES_VERSION"} <= set(re.findall(r"the variable (\w+) is not set", refused.stderr))
    result = slipway("render", "-f", file, "--set-missing")
    assert result.exit_code == 0, result.stderr
    for what in ("variable CLUSTER_NAME", "endpoint of the cluster", "a Secret that it refers to"):
        assert what in result.stderr


def test_a_native_spec_gets_its_missing_parts_too(slipway: Slipway, tmp_path: Path) -> None:
    """Endpoint, version and Secret of our own documents are filled in as well, and only when asked."""
    file = tmp_path / "f.yaml"
    file.write_text(
        """
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: c}
spec: {machines: [{name: m, role: Worker, config: k}]}
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: k}
spec:
  provisioner: {name: cloud-init}
  os: {files: [{path: /etc/a, content: {secretRef: {name: s, key: k}}}]}
"""
    )
    refused = slipway("render", "-f", file)
    assert refused.exit_code == 1
    assert "--set-missing" in refused.stderr
    result = slipway("render", "-f", file, "--set-missing", "-o", "-")
    assert result.exit_code == 0, result.stderr
    assert "placeholder" in result.stdout
    for what in ("endpoint", "Kubernetes version", "Secret"):
        assert re.search(rf"note: {file}:\d+:\d+: .*{what}.*a placeholder is used", result.stderr)


def test_a_config_that_is_bound_to_its_format_stays_with_it(slipway: Slipway, tmp_path: Path) -> None:
    """A command that edits a file of the layout binds the config; other formats are refused at that command."""
    text = FLATCAR.read_text().replace(
        "      - envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp\n", "      - sed -i s/a/b/ /etc/kubeadm.yml\n", 1
    )
    file = tmp_path / "f.yaml"
    file.write_text(text)
    arguments = ("render", "-f", file, "--machine", "tern-control-plane-init", "--summary", "json")
    own = json.loads(slipway(*arguments).stdout)
    assert [(one["status"], one["format"]) for one in own] == [("rendered", "ignition/3.3.0")]
    other = slipway(*arguments, "--provisioner", "cloud-init")
    fields = [refusal["field"] for entry in json.loads(other.stdout) for refusal in entry["refusals"]]
    assert other.exit_code == 1
    assert any("spec.kubeadmConfigSpec.preKubeadmCommands" in field for field in fields)


def test_a_missing_secret_is_told_at_the_field_that_refers_to_it(slipway: Slipway) -> None:
    """By the path in the user's own document, with its place, and with what to do."""
    file = EXAMPLES / "cluster-azure.yaml"
    result = slipway("render", "-f", file, "--machine", "gannet-linux", "--summary", "json")
    assert result.exit_code == 1
    (refusal,) = json.loads(result.stdout)[0]["refusals"]
    assert refusal["field"] == "KubeadmConfigTemplate/gannet-linux: spec.template.spec.files[0]"
    remedy = r"which is not there\. Add the Secret.*--set-missing"
    assert re.search(rf"refused: {file}:\d+:\d+: Kubeadm.*{remedy}", result.stderr)
