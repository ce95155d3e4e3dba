"""A provisioner that misbehaves as a script says, for those who test the side that calls provisioners.

What is not scripted is sound: it is a provisioner of the SDK, with TLS, registration and lease. So a test
names the one thing that goes wrong, and everything else is as in production.
"""
