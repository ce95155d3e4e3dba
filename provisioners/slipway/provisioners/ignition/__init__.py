"""Ignition: a bundle becomes one Ignition config, spec 3.3.0 (default), 3.4.0 or 2.3.0.

Ignition runs once, in the initramfs, before anything of the real system: files are there when services start, but
nothing can be run. So what needs a command is lowered, and the entry point is a unit.
"""
