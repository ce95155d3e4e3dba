"""Filesystems that their programs would not make as the spec says, or on another device as well.

Source of the limits and of the options: slipway.contract.filesystems.
"""

from collections.abc import Iterator

from slipway.contract.errors import Violation
from slipway.contract.filesystems import LONGEST_LABELS, device_options, is_long_label
from slipway.v1alpha1 import os_pb2 as ospb


def label_violations(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Give every label that is longer than its kind of filesystem holds, by the field path of `os`."""
    for index, filesystem in enumerate(os.filesystems):
        if is_long_label(filesystem.format, filesystem.label):
            longest = LONGEST_LABELS[filesystem.format]
            why = f"is longer than the {longest} bytes that a label of {filesystem.format} holds"
            where = f"{path}.filesystems[{index}].label"
            yield Violation(where, why, remedy=f"choose a label of at most {longest} bytes")


def option_violations(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Give every option by which a program would write to a device of which nobody has checked that it is empty.

    Where `overwrite` is set, nothing is checked. An imported config means what it says.
    """
    for index, filesystem in enumerate(os.filesystems):
        for position in () if filesystem.overwrite else device_options(filesystem.format, filesystem.options):
            yield Violation(
                f"{path}.filesystems[{index}].options[{position}]",
                "is no option of the program and no value of one, or names a device that is not checked before",
                remedy="leave it out, or set overwrite: then nothing on any of the devices is kept",
            )
