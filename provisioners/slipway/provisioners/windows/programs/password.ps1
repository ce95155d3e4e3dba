# The password that the answer file had to name is worth nothing any more.
Get-LocalUser | Where-Object { $_.SID.Value -like 'S-1-5-21-*-500' } | Set-LocalUser -Password (New-Password)
