"""Passes for Windows Server, one feature a module.

They are apart from Linux's because Windows has other notions of users, services and trust. What it has no notion of has
no pass, and is refused with a remedy.
"""
