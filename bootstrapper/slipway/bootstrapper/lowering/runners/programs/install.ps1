# Installs one wave of staged items: install.ps1 WAVE. It is static: what it installs stands in the wave's list.
#
# stage\WAVE\list.json  {"items": [{"kind": "directory"|"file"|"append"|"symbolic"|"hard"|"protect", "path", "owner",
#                       "protected", "target", "parts": [{"part": N} or {"fact": NAME, "encoding": E}],
#                       "remote": [{"algorithm", "hash", "url"}]}, ...]}
#
# It may be stopped at any point and started again: what an append finds is saved before it is changed.
# One statement a line, so that a parser without PowerShell can check it.
param([string]$Wave)
$ErrorActionPreference = 'Stop'
$root = 'C:\ProgramData\slipway'
$stage = "$root\stage\$Wave"
$plan = [System.IO.File]::ReadAllText("$root\plan.json") | ConvertFrom-Json
$done = "$root\state\" + $plan.id + "\$Wave.installed"
if (Test-Path -LiteralPath $done) {
  exit 0
}
$list = [System.IO.File]::ReadAllText("$stage\list.json") | ConvertFrom-Json
function Protect-Path {
  param([string]$Path)
  $null = & icacls.exe $Path /inheritance:r /grant:r '*S-1-5-32-544:F' '*S-1-5-18:F'
  if ($LASTEXITCODE -ne 0) {
    throw 'the access control list could not be set'
  }
}
function Set-Owner {
  param([string]$Path, [string]$Owner)
  $null = & icacls.exe $Path /setowner $Owner
  if ($LASTEXITCODE -ne 0) {
    throw 'the owner could not be set'
  }
}
function Get-FactBytes {
  param($Part)
  $value = [System.IO.File]::ReadAllText("$root\facts\" + $Part.fact)
  $bytes = [System.Text.Encoding]::ASCII.GetBytes($value)
  if ($Part.encoding -eq 'json') {
    $bytes = [System.Text.Encoding]::ASCII.GetBytes('"' + $value + '"')
  }
  if ($Part.encoding -eq 'base64') {
    $bytes = [System.Text.Encoding]::ASCII.GetBytes([System.Convert]::ToBase64String($bytes))
  }
  return , $bytes
}
function Get-Remote {
  param($Urls)
  [System.Net.ServicePointManager]::SecurityProtocol = [System.Net.SecurityProtocolType]::Tls12
  foreach ($source in $Urls) {
    try {
      Invoke-WebRequest -UseBasicParsing -Uri $source.url -OutFile "$stage\download"
    } catch {
      continue
    }
    if (-not $source.hash) {
      return
    }
    if ((Get-FileHash -LiteralPath "$stage\download" -Algorithm $source.algorithm).Hash -eq $source.hash) {
      return
    }
  }
  throw "${path}: no URL gave the content with the right hash"
}
function Write-Content {
  param($Item, [string]$Before, [string]$Path)
  $stream = [System.IO.File]::Create($Path)
  try {
    if ($Before) {
      $bytes = [System.IO.File]::ReadAllBytes($Before)
      $stream.Write($bytes, 0, $bytes.Length)
    }
    foreach ($part in $Item.parts) {
      if ($part.part) {
        $bytes = [System.IO.File]::ReadAllBytes("$stage\" + $part.part)
      } else {
        $bytes = Get-FactBytes $part
      }
      $stream.Write($bytes, 0, $bytes.Length)
    }
    if ($Item.remote) {
      $bytes = [System.IO.File]::ReadAllBytes("$stage\download")
      $stream.Write($bytes, 0, $bytes.Length)
    }
  } finally {
    $stream.Close()
  }
}
$number = 0
foreach ($item in $list.items) {
  $number += 1
  $path = $item.path
  $parent = Split-Path -Parent $path
  if ($parent) {
    $null = New-Item -ItemType Directory -Force -Path $parent
  }
  if ($item.kind -eq 'directory') {
    $null = New-Item -ItemType Directory -Force -Path $path
  }
  if ($item.kind -eq 'symbolic') {
    $null = New-Item -ItemType SymbolicLink -Force -Path $path -Target $item.target
    continue
  }
  if ($item.kind -eq 'hard') {
    $null = New-Item -ItemType HardLink -Force -Path $path -Target $item.target
    continue
  }
  $fresh = $true
  if ($item.remote) {
    Get-Remote $item.remote
  }
  if ($item.kind -eq 'append') {
    $old = "$stage\old.$number"
    $none = "$stage\none.$number"
    if (-not ((Test-Path -LiteralPath $old) -or (Test-Path -LiteralPath $none))) {
      if (Test-Path -LiteralPath $path) {
        Copy-Item -LiteralPath $path -Destination "$stage\old"
        Move-Item -Force -LiteralPath "$stage\old" -Destination $old
      } else {
        [System.IO.File]::WriteAllText($none, '')
      }
    }
    if (Test-Path -LiteralPath $old) {
      Write-Content $item $old $path
      $fresh = $false
    } else {
      Write-Content $item '' $path
    }
  }
  if ($item.kind -eq 'file') {
    # An access list has to be there before the content is.
    if ($item.protected) {
      [System.IO.File]::Create($path).Close()
      Protect-Path $path
    }
    Write-Content $item '' $path
  }
  if ($fresh -and $item.protected) {
    Protect-Path $path
  }
  if ($fresh -and $item.owner) {
    Set-Owner $path $item.owner
  }
}
[System.IO.File]::WriteAllText($done, '')
Remove-Item -Recurse -Force -LiteralPath $stage
exit 0
