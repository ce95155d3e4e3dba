"""`slipway-directory`: computer accounts for Machines whose spec uses `os.directory`, made as the Machines appear.

`slipway.directory` makes an account. This package decides which accounts are needed, hands each one to the controller
as a Secret, and reports what is in the way. It cannot read Secrets.
"""
