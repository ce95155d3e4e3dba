"""What Slipway knows of operating systems: one row of data for each distribution and version.

Passes and engines ask a profile for paths, programs and services in place of guessing them, and a machine without a row
is refused. It is apart from the lowering because operators add rows of their own without touching code; provisioners
never see it.
"""

from slipway.bootstrapper.os_profiles.profile import OsProfile as OsProfile  # the package's API
from slipway.bootstrapper.os_profiles.profile_table import ProfileTable as ProfileTable  # the package's API
