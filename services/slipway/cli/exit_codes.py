"""The exit codes of all commands; 0 is success."""

FAILED = 1
"""Something was refused, is invalid, or failed."""

USED_WRONGLY = 2
"""The command line itself is wrong; click ends with it too."""

UNVERIFIED = 3
"""Nothing is wrong as far as could be seen, and not everything could."""

INTERRUPTED = 130
"""Ctrl-C, as shells have it: 128 and the number of SIGINT."""
