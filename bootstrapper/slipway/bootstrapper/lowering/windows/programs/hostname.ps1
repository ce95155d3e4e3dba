function Set-Name {
  param([string]$Name)
  if ($env:COMPUTERNAME -ne $Name) {
    Rename-Computer -NewName $Name -Force
  }
}
