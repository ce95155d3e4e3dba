# The new name counts after a reboot: exit code 1003 has cloudbase-init reboot and run the script again.
function Set-HostName {
  param([string]$Name)
  if ($env:COMPUTERNAME -eq $Name) {
    return
  }
  if (Test-Path -LiteralPath "$root\renamed") {
    throw 'the computer does not keep its new name'
  }
  Rename-Computer -NewName $Name -Force
  [System.IO.File]::WriteAllText("$root\renamed", '')
  exit 1003
}
