# Nobody knows the password of an account that is made here; login is by key.
function New-Password {
  $bytes = New-Object byte[] 30
  $generator = [System.Security.Cryptography.RandomNumberGenerator]::Create()
  $generator.GetBytes($bytes)
  $generator.Dispose()
  return ConvertTo-SecureString ('aA1!' + [System.Convert]::ToBase64String($bytes)) -AsPlainText -Force
}
function Add-Group {
  param([string]$Name)
  if (-not (Get-LocalGroup -Name $Name -ErrorAction SilentlyContinue)) {
    $null = New-LocalGroup -Name $Name
  }
}
function Add-User {
  param([string]$Name, [string]$FullName, [bool]$Enabled)
  if (-not (Get-LocalUser -Name $Name -ErrorAction SilentlyContinue)) {
    $null = New-LocalUser -Name $Name -Password (New-Password) -PasswordNeverExpires
  }
  if ($FullName) {
    Set-LocalUser -Name $Name -FullName $FullName
  }
  if (-not $Enabled) {
    Disable-LocalUser -Name $Name
  }
}
function Add-Member {
  param([string]$Group, [string]$User)
  # The Administrators have another name in every language.
  if ($Group -eq 'Administrators') {
    $Group = (Get-LocalGroup -SID 'S-1-5-32-544').Name
  }
  # Asking first would fail on a group that has a member nobody knows any more.
  try {
    Add-LocalGroupMember -Group $Group -Member $User
  } catch {
    if ($_.FullyQualifiedErrorId -notlike 'MemberExists*') {
      throw
    }
  }
}
function Add-AdministratorKey {
  param([string]$Key)
  # The one file in which Windows' OpenSSH server looks for the keys of administrators.
  $path = "$env:ProgramData\ssh\administrators_authorized_keys"
  $null = [System.IO.Directory]::CreateDirectory("$env:ProgramData\ssh")
  $keys = @()
  if (Test-Path -LiteralPath $path) {
    $keys = @([System.IO.File]::ReadAllLines($path))
  }
  if ($keys -cnotcontains $Key) {
    [System.IO.File]::WriteAllLines($path, [string[]]($keys + $Key))
  }
  Protect-Path $path ''
}
