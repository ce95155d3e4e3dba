"""The steps of the tables for Linux as steps of Windows: a script of cmd.exe for each script of sh, by its meaning."""

import re
from collections.abc import Sequence

from slipway.bootstrapper.lowering.runners.lower_steps import lower_steps
from slipway.contract.content import SecretIndex, content_bytes, literal
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.lowering.runners.plans import script, windows
from tests.machineadm.wine_machine import contents

_THIRD_TRY = r"""if exist C:\two exit 0
if exist C:\one goto second
>C:\one echo x
exit 4
:second
>C:\two echo x
exit 4
"""
_TEXTS = {
    "echo >>/tried; [ $(wc -l </tried) = 3 ] || exit 4": _THIRD_TRY,
    "exec sleep 60 & wait": "C:\\fake\\linger.exe\n",
    "rm -r /var/lib/slipway/state": "rd /s /q C:\\ProgramData\\slipway\\state\n",
}
_COMMANDS = {
    r"echo (\w+) >>/ran": r">>C:\\ran echo \1",
    r"exit (\d+)": r"exit \1",
    r"\[ -e /fixed \]": r"if not exist C:\\fixed exit 1",
    r"\[ (\w+) != (\w+) \]": r"if \1==\2 exit 1",
}


def lowered(steps: Sequence[planpb.Step], policy: planpb.ExecutionPolicy | None = None) -> dict[str, bytes]:
    """Lower the steps of a table to the files of a Windows machine, by their paths."""
    translated = [_translate(step) for step in steps]
    return contents(lower_steps(translated, bundle_id="bundle-1", target=windows(), policy=policy).files)


def cmd(step_id: str, text: str, phase: planpb.Phase.ValueType = planpb.PHASE_BOOTSTRAP, **more: object) -> planpb.Step:
    """Give a step that is a script of cmd.exe."""
    return script(step_id, text, phase, interpreter=planpb.INTERPRETER_CMD, **more)


def _translate(step: planpb.Step) -> planpb.Step:
    command = step.command
    if command.argv or command.interpreter == planpb.INTERPRETER_CMD:
        return step
    translated = planpb.Step()
    translated.CopyFrom(step)
    text = content_bytes(command.script, SecretIndex([])).decode().strip()
    translated.command.script.CopyFrom(literal(_text(text).replace("\n", "\r\n").encode()))
    translated.command.interpreter = planpb.INTERPRETER_CMD
    return translated


def _text(text: str) -> str:
    return _TEXTS.get(text) or "".join(f"{_command(command)}\n" for command in text.split("; "))


def _command(command: str) -> str:
    for pattern, replacement in _COMMANDS.items():
        match = re.fullmatch(pattern, command)
        if match:
            return match.expand(replacement)
    raise AssertionError(f"a row of a table runs what has no words of Windows yet: {command}")
