function Set-Group {
  param([string]$Name)
  if (-not (Get-LocalGroup -Name $Name -ErrorAction SilentlyContinue)) {
    $null = New-LocalGroup -Name $Name
  }
}
# The password is one that nobody knows: Windows has no account without one that is safe.
function Set-User {
  param([string]$Name, [string]$FullName, [string]$Disabled)
  $bytes = New-Object byte[] 32
  $random = [System.Security.Cryptography.RandomNumberGenerator]::Create()
  $random.GetBytes($bytes)
  $text = 'aA1!' + [System.Convert]::ToBase64String($bytes)
  $password = ConvertTo-SecureString -String $text -AsPlainText -Force
  if (Get-LocalUser -Name $Name -ErrorAction SilentlyContinue) {
    Set-LocalUser -Name $Name -Password $password
  } else {
    $null = New-LocalUser -Name $Name -Password $password -PasswordNeverExpires
  }
  if ($FullName) {
    Set-LocalUser -Name $Name -FullName $FullName
  }
  if ($Disabled) {
    Disable-LocalUser -Name $Name
  }
}
function Add-Member {
  param([string]$Group, [string]$Name)
  try {
    Add-LocalGroupMember -Group $Group -Member $Name
  } catch [Microsoft.PowerShell.Commands.MemberExistsException] {
    $null = $true
  }
}
# OpenSSH takes the keys of all administrators from this one file, and only if nobody else can write it.
function Add-Key {
  param([string]$Key)
  $folder = "$env:ProgramData\ssh"
  $path = "$folder\administrators_authorized_keys"
  $null = New-Item -ItemType Directory -Force -Path $folder
  $keys = @()
  if (Test-Path -LiteralPath $path) {
    $keys = @([System.IO.File]::ReadAllLines($path))
  }
  if ($keys -cnotcontains $Key) {
    $keys += $Key
    [System.IO.File]::WriteAllLines($path, [string[]]$keys)
  }
  $null = & icacls.exe $path /inheritance:r /grant:r '*S-1-5-32-544:F' '*S-1-5-18:F'
  if ($LASTEXITCODE -ne 0) {
    throw 'the access control list could not be set'
  }
}
