function Join-Directory {
  param([string]$Domain, [string]$Blob)
  $system = Get-CimInstance -ClassName Win32_ComputerSystem
  if ($system.PartOfDomain -and $system.Domain -eq $Domain) {
    return
  }
  & djoin.exe /requestODJ /loadFile $Blob /windowsPath $env:SystemRoot /localOS
  if ($LASTEXITCODE -ne 0) {
    throw "directory: djoin.exe ended with $LASTEXITCODE"
  }
}
function Confirm-Directory {
  param([string]$Domain, [string]$Computer, [string]$Blob)
  $system = Get-CimInstance -ClassName Win32_ComputerSystem
  if (-not $system.PartOfDomain -or $system.Domain -ne $Domain -or $env:COMPUTERNAME -ne $Computer) {
    throw "directory: the machine is not a member of the domain after its reboot"
  }
  if (Test-Path -LiteralPath $Blob) {
    Remove-Item -LiteralPath $Blob -Force
  }
}
