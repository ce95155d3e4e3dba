# A file without bits for group and others is for Administrators and SYSTEM only, before its content is there. Any other
# one inherits the access list of its folder. Administrators own what they and SYSTEM make.
function Set-Access {
  param([string]$Path, [string]$Owner, [bool]$Protected, [string]$Inherited)
  if ($Protected) {
    Protect-Path $Path $Inherited
  }
  if ($Owner) {
    Invoke-Checked 'icacls.exe' @($Path, '/setowner', $Owner)
  }
}
function Add-Folder {
  param([string]$Path, [string]$Owner, [bool]$Protected)
  $null = [System.IO.Directory]::CreateDirectory($Path)
  Set-Access $Path $Owner $Protected '(OI)(CI)'
}
function Write-File {
  param([string]$Path, [string]$Data, [string]$Owner, [bool]$Protected)
  $null = [System.IO.Directory]::CreateDirectory([System.IO.Path]::GetDirectoryName($Path))
  $new = "$Path.slipway-new"
  [System.IO.File]::WriteAllBytes($new, [byte[]]@())
  Set-Access $new $Owner $Protected ''
  [System.IO.File]::WriteAllBytes($new, [System.Convert]::FromBase64String($Data))
  Move-Item -LiteralPath $new -Destination $Path -Force
}
