"""Whether files that containerd reads are TOML: with one that is not it does not start, and neither does the node."""

import posixpath
import re
import tomllib
from collections.abc import Iterator

from slipway.bootstrapper.kubernetes_documents.document_places import literal_text
from slipway.v1alpha1 import os_pb2 as ospb

_MAIN = "/etc/containerd/config.toml"
_DROP_INS = "/etc/containerd/conf.d"
_MOST_CHARACTERS = 64 * 1024
_MOST_DOTS = 100
"""In one line. Python's reader takes the square of the parts of a key; a longer line is not checked."""

_LINE = re.compile(r"at line (\d+)")


def containerd_mistakes(system: ospb.OperatingSystem) -> Iterator[tuple[str, str]]:
    """Give the field path of each file that cannot be read, with the line."""
    for index, file in enumerate(system.files):
        folder, name = posixpath.split(file.path)
        is_read = file.path == _MAIN or (folder == _DROP_INS and name.endswith(".toml"))
        text = literal_text(file.content) if is_read and file.HasField("content") and not file.append else None
        if text is not None:
            message = _mistake(text)
            if message:
                yield f"os.files[{index}].content", message


def _mistake(text: str) -> str:
    if len(text) > _MOST_CHARACTERS or any(line.count(".") > _MOST_DOTS for line in text.split("\n")):
        return ""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = _LINE.search(str(error))
        return f"line {line[1]}: is not TOML, which containerd reads" if line else "ends within a value of TOML"
    except RecursionError:
        return "has lists or tables that are too deep"
    except ValueError:
        return "has an invalid date or number"
    return ""
