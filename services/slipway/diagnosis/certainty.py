"""How much a line is worth as evidence: programs warn of much that harms nothing, and other programs fail beside."""

from enum import IntEnum

import re2

from slipway.diagnosis.log_text import identifier

_WARNING = "[WARNING "
# What programs write as information or warning, and what they say to try again.
_MILD = re2.compile(
    r"(?:^|[\s:\"])[IWD]\d{4} \d\d:\d\d:\d\d|\blevel=(?:info|debug|warn|warning|trace)\b|"
    r'"level": ?"(?:info|debug|warn|warning)"|(?i:will (?:be )?(?:try again|retr)|\bretrying\b|\bignoring\b)|^W: '
)
# The last words of commands that scripts call. As the end of a log they show that a script ended there.
_LAST_WORDS = re2.compile(
    r"\bcurl: \(\d+\) |\bwget: |^E: |\bline \d+: \S|\bAn error occurred \(|^(?:\S+: )?\w+: (?:cannot|can't) |"
    r"^(?:\S+: )?tar: |^\S*(?:sh|runcmd|part-\d+): (?:line )?\d+: |Permission denied$|^fatal: "
)
# Programs that work beside the bootstrap: no failure of theirs keeps a machine from being a node.
_BYSTANDERS = frozenset((
    "amazon-cloudwatch-agent", "amazon-ssm-agent", "anacron", "apt.systemd.daily", "aptd", "avahi-daemon", "CRON",
    "cron", "crond", "fwupd", "fwupdmgr", "gdm", "motd-news", "multipathd", "NetworkManager-dispatcher", "packagekitd",
    "PackageKit", "polkitd", "postfix", "rngd", "rsyslogd", "smartd", "snapd", "ssm-agent-worker", "sshd",
    "sshd-session", "su", "sudo", "systemd-logind", "systemd-oomd", "systemd-resolved", "unattended-upgr",
    "unattended-upgrade", "update-motd", "update-notifier", "vmtoolsd", "walinuxagent", "whoopsie",
))  # fmt: skip


class Certainty(IntEnum):
    """What stands behind a match; the lowest is the strongest.

    Attributes:
        SURE: the pattern is of one cause, and the line of a failure.
        MILD: the pattern is of one cause, but the program calls it information, or tries again.
        BROAD: the words are those of many programs and of many causes.
    """

    SURE = 0
    MILD = 1
    BROAD = 2


def certainty(line: str, *, broad: bool) -> Certainty:
    """Give what a match is worth in this line."""
    if broad:
        return Certainty.BROAD
    return Certainty.MILD if _MILD.search(line) else Certainty.SURE


def counts_for(line: str, pattern: str) -> bool:
    """Whether a line can be evidence at all: kubeadm goes on after its warnings, and bystanders prove nothing."""
    if _WARNING in line and "WARNING" not in pattern:
        return False
    return identifier(line) not in _BYSTANDERS


def is_last_word(line: str) -> bool:
    """Whether a command in a script ends with such a line."""
    return bool(_LAST_WORDS.search(line))
