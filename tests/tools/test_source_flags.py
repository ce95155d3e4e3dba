"""Flags that are read in the source of a kubelet."""

from pathlib import Path

import pytest

from tools.kubernetes_types.source_flags import read_flags

OPTIONS = """
	fs.StringVar(&f.NodeIP, "node-ip", f.NodeIP, "IP address, see --address-of-nobody")
	fs.MarkDeprecated("node-ip", "use something else")
	fs.Var(cliflag.NewMapStringBool(&f.Gates), "feature-gates", "gates")
	fs.DurationVar(&c.SyncFrequency.Duration, "sync_frequency", c.SyncFrequency.Duration, "often")
	other.StringVar(&f.NodeIP, "not-of-the-kubelet", f.NodeIP, "")
"""
GLOBAL = """
	register(global, local, "housekeeping_interval")
	registerDeprecated(global, local, "boot_id_file", deprecated)
"""
PROVIDERS = """
	pflagRegister(global, local, "azure-container-registry-config")
"""
LOGS = """
	fs.VarP(VerbosityLevelPflag(&c.Verbosity), "v", "v", "number for the log level verbosity")
"""


def test_flags_are_read_where_they_are_registered(tmp_path: Path) -> None:
    """Of options, cAdvisor and the library of logs; mentions of a flag, and flags of Windows, are left out."""
    texts = {
        "kubernetes/cmd/kubelet/app/options/options.go": OPTIONS,
        "kubernetes/cmd/kubelet/app/options/globalflags_linux.go": GLOBAL,
        "kubernetes/cmd/kubelet/app/options/globalflags_providers.go": PROVIDERS,
        "kubernetes/cmd/kubelet/app/options/globalflags_providerless.go": "",
        "kubernetes/cmd/kubelet/app/options/osflags_windows.go": OPTIONS.replace("node-ip", "windows-service"),
        "component-base/logs/api/v1/options.go": LOGS,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    own = ["boot-id-file", "feature-gates", "housekeeping-interval", "node-ip", "sync-frequency", "v"]
    expected = sorted([*own, "azure-container-registry-config", "help", "log-flush-frequency", "version"])
    assert read_flags(tmp_path / "kubernetes", tmp_path / "component-base") == expected


def test_a_new_file_of_flags_is_no_guess(tmp_path: Path) -> None:
    """A file that is neither read nor left out is an error: its flags would be taken for unknown ones."""
    options = tmp_path / "cmd/kubelet/app/options"
    options.mkdir(parents=True)
    (options / "globalflags_new.go").write_text(GLOBAL)
    with pytest.raises(ValueError, match=r"globalflags_new\.go"):
        read_flags(tmp_path, tmp_path)
