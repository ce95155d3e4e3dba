"""What a preset file asks for: Ignition enables units only by writing one for systemd's first boot."""

from __future__ import annotations

from collections.abc import Iterator


def units(text: str) -> list[str]:
    """The units that a preset file names, instances written out, without those that hold a wildcard."""
    return [name for name in _named(text) if not set(name) & set("*?[")]


def _named(text: str) -> Iterator[str]:
    for line in text.splitlines():
        verb, *words = line.split() or [""]
        if verb not in {"enable", "disable"} or not words:
            continue
        template, *instances = words
        if not instances:
            yield template
            continue
        prefix, suffix = template.split("@", 1)
        for instance in instances:
            yield f"{prefix}@{instance}{suffix}"


if __name__ == "__main__":
    # On a machine in qemu: the units of Ignition's preset, for systemctl.
    from pathlib import Path

    preset = Path("/etc/systemd/system-preset/20-ignition.preset")
    print("\n".join(units(preset.read_text(encoding="utf-8"))) if preset.exists() else "")
