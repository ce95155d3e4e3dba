"""Version of the step data: what runners and machineadm execute.

It changes when an older machineadm would execute new step data wrongly. `plan.Format` of machineadm is the same number.
"""

from typing import Final

STEP_DATA: Final = 1
