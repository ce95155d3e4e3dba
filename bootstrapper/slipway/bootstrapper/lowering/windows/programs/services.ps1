# The named variables of the service's environment have these values; other ones stay.
function Set-Environment {
  param([string]$Service, [string]$HttpProxy, [string]$HttpsProxy, [string]$NoProxy)
  $key = "HKLM:\SYSTEM\CurrentControlSet\Services\$Service"
  if (-not (Test-Path -LiteralPath $key)) {
    throw 'the service is not there'
  }
  $values = @((Get-Item -LiteralPath $key).GetValue('Environment', @()))
  $values = @($values -notmatch '^(HTTP_PROXY|HTTPS_PROXY|NO_PROXY)=')
  $values += "HTTP_PROXY=$HttpProxy"
  $values += "HTTPS_PROXY=$HttpsProxy"
  $values += "NO_PROXY=$NoProxy"
  $null = New-ItemProperty -LiteralPath $key -Name Environment -PropertyType MultiString -Value $values -Force
}
function Restart-Present {
  param([string]$Service)
  $found = Get-Service -Name $Service
  if ($found.Status -eq 'Running') {
    Restart-Service -Name $Service -Force
  }
}
function Restart-Runtime {
  param([string]$Service)
  Set-Service -Name $Service -StartupType Automatic
  Restart-Service -Name $Service -Force
}
