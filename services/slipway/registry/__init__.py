"""Who renders: provisioners announce themselves here, the bootstrapper learns of them here.

The registry believes nobody: it dials every announced endpoint back. What it knows is soft and can be rebuilt, so that
losing it costs seconds and no person.
"""
