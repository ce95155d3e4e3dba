"""Computer accounts of Active Directory that are made before their machines: the side of the management cluster.

An account that may create computer objects in one organisational unit, and no more, makes each object with a password
of its own, for one use, or with a blob for an offline join. So no machine ever holds a password that joins another.
`accounts` decides, `directory` is what it needs of a domain, `ldap_directory` that over LDAPS, `offline_join` the blob.
"""
