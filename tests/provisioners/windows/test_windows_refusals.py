"""What Windows cannot do is refused with its path."""

import pytest

from slipway.contract.errors import BundleInvalid, UnsupportedFeature, UnsupportedTarget
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.provisioners.windows import samples

FILE = 'files { path: "%s" owner: "%s" group: "%s" mode: 420 content {} }'


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        (FILE % ("/etc/a", "root", "root"), "os.files[0].path", "no drive"),
        (FILE % ("C:\\\\a", "0", "root"), "os.files[0].owner", "a number"),
        (FILE % ("C:\\\\a", "root", "adm"), "os.files[0].group", "no group owns a file"),
        (FILE % ("C:\\\\a\\\\b", "root", "root") + FILE % ("c:/A/B", "root", "root"), "os.files[1].path", "one path"),
        (
            'directories { path: "C:/a" owner: "root" group: "root" mode: 1 }' + FILE % ("C:\\\\A", "root", "root"),
            "os.files[0].path",
            "a folder of that path",
        ),
        (FILE % ("C:\\\\a", "root", "root") % () + "files { append: true }", "os.files[1].append", "not twice"),
        ('users { name: "a*b" }', "os.users[0].name", "a pattern"),
        ('users { name: "abcdefghijklmnopqrstu" }', "os.users[0].name", "too long"),
        ('users { name: "a" } users { name: "A" }', "os.users[1].name", "one name"),
        ('users { name: "a" ssh_authorized_keys: "hunter2" }', "os.users[0].ssh_authorized_keys", "no administrator"),
        ('users { name: "a" lock_password: false }', "os.users[0].lock_password", "nobody knows it"),
        ('users { name: "a" sudo: "ALL" }', "os.users[0].sudo[0]", "there is no sudo"),
        ('users { name: "a" password_hash {} }', "os.users[0].password_hash", "Windows has other hashes"),
        ('hostname { name { value: "a-name-of-16-char" } }', "os.hostname.name", "Windows cuts it off"),
        ('hostname { name { value: "a.example.com" } }', "os.hostname.name", "no domain"),
        ('hostname { name { value: "123" } }', "os.hostname.name", "digits alone"),
        ('time_zone { name: "Mars/Olympus" }', "os.time_zone.name", "no such zone"),
        ('ntp { enabled: false servers: "a" }', "os.ntp.servers", "a contradiction"),
        ('sysctls { name: "a.b" value: "1" }', "os.sysctls[0]", "a kernel of another family"),
        ("packages {}", "os.packages", "no package manager"),
        ("systemd_units {}", "os.systemd_units[0]", "no systemd"),
        ("containerd {}", "os.containerd", "the image has it"),
    ],
)
@pytest.mark.parametrize("form", samples.FORMATS)
def test_refusals(form, text, path, reason):
    """Each refusal names the field, and never a value of the bundle."""
    with pytest.raises(UnsupportedFeature) as caught:
        samples.render(samples.bundle(f"os {{ {text} }}"), form)
    assert path in {violation.path for violation in caught.value.violations}, reason
    assert "hunter2" not in f"{caught.value} {caught.value.violations}"


def test_an_administrator_may_have_keys():
    """In whatever case the group is written."""
    script = samples.script(
        samples.bundle('os { users { name: "a" groups: "administrators" ssh_authorized_keys: "ssh-rsa A" } }')
    )
    assert "Add-AdministratorKey 'ssh-rsa A'" in script.splitlines()


@pytest.mark.parametrize("role", [clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE])
def test_a_control_plane_is_refused(role):
    """Kubernetes' control plane does not run on Windows."""
    bundle = samples.bundle()
    bundle.machine.role = role
    with pytest.raises(UnsupportedTarget) as caught:
        samples.render(bundle)
    assert caught.value.violations[0].path == "machine.role"


def test_an_entry_point_without_a_program_is_refused():
    """There would be nothing to start."""
    bundle = samples.bundle()
    del bundle.plan.entrypoint.argv[:]
    with pytest.raises(UnsupportedFeature) as caught:
        samples.render(bundle)
    assert caught.value.violations[0].path == "plan.entrypoint.argv"


def test_a_certificate_that_is_none_is_refused():
    """The script would fail at its line."""
    with pytest.raises(BundleInvalid) as caught:
        samples.render(samples.bundle('os { trusted_certificates { name: "a" certificate {} } }'))
    assert caught.value.violations[0].path == "os.trusted_certificates[0].certificate"
