# What every script begins with. Only Administrators and SYSTEM may look into Slipway's folder.
$ErrorActionPreference = 'Stop'
$root = 'C:\ProgramData\slipway'
function Invoke-Checked {
  param([string]$Program, [string[]]$Arguments)
  $null = & $Program @Arguments
  if ($LASTEXITCODE -ne 0) {
    throw "$Program failed"
  }
}
function Protect-Path {
  param([string]$Path, [string]$Inherited)
  Invoke-Checked 'icacls.exe' @($Path, '/inheritance:r', '/grant:r', "*S-1-5-32-544:${Inherited}F", "*S-1-5-18:${Inherited}F")
}
$null = [System.IO.Directory]::CreateDirectory($root)
Protect-Path $root '(OI)(CI)'
