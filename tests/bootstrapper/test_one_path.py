"""One path, one item: units are files, too, and what first-boot systems would refuse is refused by field before."""

import copy
import json
from typing import Any

import pytest

from slipway.bootstrapper.provisioning_service import provision
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.bootstrapper.asking import asked, bootstrapper, question, refused
from tests.bootstrapper.importers.carrying import IGNITION, carried
from tests.bootstrapper.provision_requests import SPEC, changed, refusal, request, service

UNIT = "[Service]\nExecStart=/bin/true\n"
FOLDER = "/etc/systemd/system"


def _file(path: str) -> dict[str, Any]:
    return {"path": path, "content": {"text": "[Service]\n"}}


UNITS = {"systemdUnits": [{"name": "my.service", "contents": UNIT, "dropIns": [{"name": "a.conf", "contents": UNIT}]}]}
MASKED = {"systemdUnits": [{"name": "my.service", "masked": True}]}
DISK = {"device": "/dev/sdb", "overwrite": True, "partitions": [{"label": "a", "sizeMib": 9}, {"label": "a"}]}
DIVIDED = {"device": "/dev/sdb", "overwrite": True, "partitions": [{"sizeMib": 9}, {}]}
BEYOND = {"partition": {"disk": "/dev/sdb", "number": 7}, "format": "ext4"}
SECOND = {"partition": {"disk": "/dev/sdb", "number": 2}, "format": "ext4"}

REFUSED = {
    "file, unit": ({"files": [_file(f"{FOLDER}/my.service")], **UNITS}, "spec.os.systemdUnits[0]"),
    "file written another way, unit": (
        {"files": [_file("/proc/1/root/etc/systemd/system/my.service")], **UNITS},
        "spec.os.systemdUnits[0]",
    ),
    "file, masked unit": ({"files": [_file(f"{FOLDER}/my.service")], **MASKED}, "spec.os.systemdUnits[0]"),
    "file, drop-in": (
        {"files": [_file(f"{FOLDER}/my.service.d/a.conf")], **UNITS},
        "spec.os.systemdUnits[0].dropIns[0]",
    ),
    "file, folder of drop-ins": (
        {"files": [_file(f"{FOLDER}/my.service.d")], **UNITS},
        "spec.os.systemdUnits[0].dropIns[0]",
    ),
    "link, unit": (
        {"links": [{"path": f"{FOLDER}/my.service", "target": "/dev/null"}], **UNITS},
        "spec.os.systemdUnits[0]",
    ),
    "file, our unit": ({"files": [_file(f"{FOLDER}/slipway-bootstrap.service")]}, "spec.os.files[0].path"),
    "file, our unit after a reboot": ({"files": [_file(f"{FOLDER}/slipway-resume.service")]}, "spec.os.files[0].path"),
    "link, our unit": (
        {"links": [{"path": f"{FOLDER}/slipway-bootstrap.service", "target": "/x"}]},
        "spec.os.links[0].path",
    ),
    "filesystems": ({"filesystems": [{"device": "/dev/sdb1", "format": "ext4"}] * 2}, "spec.os.filesystems[1]"),
    "mounts": ({"mounts": [{"source": "/dev/sdb1", "path": p} for p in ("/a", "/a/")]}, "spec.os.mounts[1]"),
    "kernel arguments": (
        {"kernelArguments": [{"argument": "quiet"}, {"argument": "quiet", "absent": True}]},
        "spec.os.kernelArguments[1]",
    ),
    "labels": ({"disks": [DISK]}, "spec.os.disks[0].partitions[1].label"),
    "the whole of a divided disk": (
        {"disks": [DIVIDED], "filesystems": [{"device": "/dev/sdb", "format": "ext4"}]},
        "spec.os.filesystems[0].device",
    ),
    "a mount of the whole of a divided disk": (
        {"disks": [DIVIDED], "mounts": [{"source": "/dev/sdb", "path": "/x"}]},
        "spec.os.mounts[0].source",
    ),
    "a partition that is not made": ({"disks": [DIVIDED], "filesystems": [BEYOND]}, "spec.os.filesystems[0].partition"),
    "a mount of one": (
        {"disks": [DIVIDED], "mounts": [{"source": "/dev/sdb7", "path": "/x"}]},
        "spec.os.mounts[0].source",
    ),
    "one partition by two names": (
        {"disks": [DIVIDED], "filesystems": [SECOND, {"device": "/dev/sdb2", "format": "ext4"}]},
        "spec.os.filesystems[1]",
    ),
    "hard link to a folder": (
        {"directories": [{"path": "/a"}], "links": [{"path": "/b", "target": "/a", "hard": True}]},
        "spec.os.links[0].target",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_of_a_foreign_plan(name: str, provisioner: str) -> None:
    """Every provider gets the same refusal for every first-boot system, with the caller's field and a remedy."""
    system, path = REFUSED[name]
    error = await refusal(request(changed(os=system, provisioner={"name": provisioner})))
    assert error.reason == "SPEC_INVALID"
    assert path in [violation.path for violation in error.violations], error.violations
    assert all(violation.remedy for violation in error.violations)


@pytest.mark.parametrize("name", REFUSED)
async def test_of_a_spec(name: str) -> None:
    """The same holds for Slipway's own specs."""
    system, path = REFUSED[name]
    error = await refused(asked(question(json.dumps({"os": system})), "ignition"))
    assert error is not None
    assert [violation for violation in error.violations if path in violation.path], error.violations


async def test_the_callers_own_service_is_a_file_where_the_target_runs_it() -> None:
    """A file with the path of the service is refused for Ignition, which makes a unit of the entry point."""
    spec = changed(
        os={"files": [_file(f"{FOLDER}/join.service")]},
        plan={"entrypoint": {"argv": ["/opt/join"], "unitName": "join.service"}},
        provisioner={"name": "ignition"},
    )
    error = await refusal(request(spec))
    assert (error.reason, [violation.path for violation in error.violations]) == (
        "UNSUPPORTED_FEATURE",
        ["spec.os.files[0]"],
    )
    spec["provisioner"] = {"name": "cloud-init"}
    assert (await provision(service(), request(spec))).user_data


async def test_drop_ins_of_the_service_have_one_name_each() -> None:
    """A drop-in that the plan and a unit both give the entry point's service is refused at the unit."""
    drop_in = {"name": "10.conf", "contents": UNIT}
    spec = changed(
        os={"systemdUnits": [{"name": "join.service", "dropIns": [drop_in]}]},
        plan={"entrypoint": {"argv": ["/opt/join"], "unitName": "join.service", "dropIns": [drop_in]}},
        provisioner={"name": "ignition"},
    )
    error = await refusal(request(spec))
    assert [violation.path for violation in error.violations] == ["spec.os.systemdUnits[0]"]


async def test_an_engines_unit_and_a_users_are_one_path() -> None:
    """A unit of the spec's with the name of the one that an engine writes as a file is refused at the unit."""
    spec = {
        "kubernetes": {"engine": "k0s"},
        "os": {"systemdUnits": [{"name": "k0sworker.service", "contents": UNIT}]},
    }
    asking = asked(question(json.dumps(spec)), "ignition")
    asking.subject.spec.target.CopyFrom(copy.deepcopy(request(SPEC).spec.target))
    error = await refused(asking)
    assert error is not None
    assert ["systemdUnits[0]" in violation.path for violation in error.violations] == [True], error.violations


SNIPPET = (
    IGNITION
    + """
ignition:
  containerLinuxConfig:
    additionalConfig: |
      systemd:
        units:
        - name: my.service
          contents: |
            [Service]
            ExecStart=/bin/true
files:
- {path: /etc/systemd/system/my.service, content: x}
- {path: /etc/systemd/system/kubeadm.service, content: x}
- {path: /etc/systemd/system/other.service, content: x}
"""
)


def _imported(spec: str, format_id: str) -> bootstrappb.GetUserDataRequest:
    asking = asked(question("{}"), "ignition" if "/" in format_id else "cloud-init")
    asking.subject.spec.CopyFrom(carried(spec).spec)
    asking.subject.spec.provisioner.format = format_id
    return asking


@pytest.mark.parametrize("spec", ["2.3.0", "3.3.0", "3.4.0"])
async def test_an_imported_machine_keeps_the_outcome_of_today(spec: str) -> None:
    """Today Ignition writes the unit over the file: the unit is what the machine gets, and a remark says so."""
    answer = await bootstrapper().user_data(_imported(SNIPPET, f"ignition/{spec}"))
    config = json.loads(answer.user_data)
    paths = {file["path"] for file in config["storage"]["files"]}
    assert f"{FOLDER}/other.service" in paths
    assert not {f"{FOLDER}/my.service", f"{FOLDER}/kubeadm.service"} & paths
    assert {"my.service", "kubeadm.service"} <= {unit["name"] for unit in config["systemd"]["units"]}
    replaced = [entry.origin.path for entry in answer.diagnostics if entry.code == "USER_FILE_REPLACED"]
    assert replaced == ["spec.files[0]", "spec.files[1]"]


async def test_an_imported_file_of_another_format_stays() -> None:
    """Where nothing writes a unit over it, the file is there as it is today."""
    files = "files: [{path: /etc/systemd/system/kubeadm.service, content: x}]"
    answer = await bootstrapper().user_data(_imported(files, "cloud-config"))
    assert f"{FOLDER}/kubeadm.service".encode() in answer.user_data
