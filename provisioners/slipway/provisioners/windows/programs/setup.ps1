# The script of an answer file. Windows Setup starts it early, with "install": then it only sees to it that it is started
# once more when Setup has ended, and, should that be interrupted, at every boot until it has succeeded.
param([string]$Mode)
$ErrorActionPreference = 'Stop'
$self = 'C:\ProgramData\slipway\setup.ps1'
$again = "powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File $self"
if ($Mode -eq 'install') {
  $null = [System.IO.Directory]::CreateDirectory('C:\ProgramData\slipway')
  $null = & icacls.exe 'C:\ProgramData\slipway' /inheritance:r /grant:r '*S-1-5-32-544:(OI)(CI)F' '*S-1-5-18:(OI)(CI)F'
  if ($LASTEXITCODE -ne 0) {
    exit 1
  }
  Copy-Item -LiteralPath $PSCommandPath -Destination $self -Force
  $null = [System.IO.Directory]::CreateDirectory("$env:SystemRoot\Setup\Scripts")
  [System.IO.File]::AppendAllText("$env:SystemRoot\Setup\Scripts\SetupComplete.cmd", "`r`n$again`r`n")
  exit 0
}
$null = & schtasks.exe /Create /F /RU SYSTEM /RL HIGHEST /SC ONSTART /TN slipway-setup /TR $again
if ($LASTEXITCODE -ne 0) {
  exit 1
}
