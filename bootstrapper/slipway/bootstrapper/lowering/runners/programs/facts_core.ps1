# Finds machine facts and keeps them in C:\ProgramData\slipway\facts, one file each, without a final newline.
#
# Find-Facts DATA: {"facts": [{"name", "attempts", "pause", "grammar", "call": [function, argument...]}, ...]}. A value
# that does not match the grammar counts as missing; when all attempts are used up the step fails.
$ErrorActionPreference = 'Stop'
$facts = 'C:\ProgramData\slipway\facts'
$null = New-Item -ItemType Directory -Force -Path $facts
# Get-Metadata: the body of a metadata service's answer, never through a proxy.
function Get-Metadata {
  param([string]$Uri, [hashtable]$Headers, [string]$Method = 'GET')
  $request = [System.Net.WebRequest]::Create($Uri)
  $request.Proxy = $null
  $request.Timeout = 5000
  $request.Method = $Method
  foreach ($name in $Headers.Keys) {
    $request.Headers.Add($name, $Headers[$name])
  }
  if ($Method -eq 'PUT') {
    $request.ContentLength = 0
  }
  $response = $request.GetResponse()
  $reader = New-Object System.IO.StreamReader($response.GetResponseStream())
  $text = $reader.ReadToEnd()
  $response.Close()
  return $text
}
# short COMMAND ARGUMENT...: what the command gives, up to the first dot.
function short {
  $command = $args[0]
  $arguments = @($args | Select-Object -Skip 1)
  $value = [string](& $command @arguments)
  return $value.Split('.')[0]
}
function Find-Fact {
  param($Fact)
  $command = $Fact.call[0]
  $arguments = @($Fact.call | Select-Object -Skip 1)
  $left = $Fact.attempts
  while ($left -gt 0) {
    try {
      $value = [string](& $command @arguments)
      $value = $value.TrimEnd("`r", "`n")
      if ($value -cmatch ('\A(' + $Fact.grammar + ')\z')) {
        [System.IO.File]::WriteAllText("$facts\" + $Fact.name, $value)
        return
      }
    } catch {
      Write-Verbose 'not yet'
    }
    $left -= 1
    Start-Sleep -Seconds $Fact.pause
  }
  [System.Console]::Error.WriteLine('machine fact ' + $Fact.name + ': no value, or not of the expected form')
  exit 1
}
function Find-Facts {
  param([string]$Data)
  $wanted = $Data | ConvertFrom-Json
  foreach ($fact in $wanted.facts) {
    Find-Fact $fact
  }
}
