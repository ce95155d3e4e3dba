"""Who renders: provisioners announce themselves here, the bootstrapper learns of them here.

The registry trusts no announcement: it dials every announced endpoint back. What it knows can be rebuilt, so that
losing it costs seconds and no person.
"""
