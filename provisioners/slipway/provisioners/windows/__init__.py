"""The Windows provisioner: a plan becomes user data for cloudbase-init, or an answer file with one script.

Windows has no permission bits, no /etc and no shell that others share; so what both formats do is one PowerShell
script of static functions and one call an item, in which every value is quoted or base64. cloudbase-init's own
cloud-config keys are not used: they ignore owners and access, fail in silence and run in a fixed order.
"""
