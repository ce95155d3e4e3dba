# Start-Report MODE WHEN URL [LOGS-URL]: has a task of its own send the events of this machine, and its log bundle: WHEN is
# failure, always or never. Addresses are in base64; no argument of a program shows one. The task runs this script again,
# with the mode "send". Nothing that goes wrong here is a failure of the bootstrap.
function Start-Report {
  param([string]$Mode, [string]$When, [string]$Url, [string]$LogsUrl)
  try {
    if ($Mode -eq 'send') {
      Send-Reports $When (Read-Address $Url) (Read-Address $LogsUrl)
      return
    }
    $started = "powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File \""$PSCommandPath\"" send"
    Invoke-Bounded 'schtasks.exe' "/Create /F /RU SYSTEM /SC ONSTART /TN slipway-report /TR ""$started""" 20
    Invoke-Bounded 'schtasks.exe' '/Run /TN slipway-report' 20
  } catch {
    $null = $true
  }
}
# Read-Address: an address as text, or nothing. A line break may follow it, as in a file.
function Read-Address {
  param([string]$Encoded)
  $text = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($Encoded)).TrimEnd("`r`n".ToCharArray())
  if ($text -match '^https?://[!#-\[\]-~]+\z') {
    return $text
  }
  if ($text) {
    [IO.File]::WriteAllText('C:\ProgramData\slipway\report.txt', 'slipway-report: an address cannot be used, nothing is sent there')
  }
  return ''
}
# Send-Reports: sends the events whenever there are more, for two hours and 300 requests at most, and ends once the last one
# is sent.
function Send-Reports {
  param([string]$When, [string]$Url, [string]$LogsUrl)
  if (-not $Url) {
    Stop-Report
    return
  }
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
  $events = 'C:\ProgramData\slipway\events.jsonl'
  $watch = [Diagnostics.Stopwatch]::StartNew()
  $requests = 0
  $pause = 2
  $sent = 0
  while ($requests -lt 300 -and $watch.Elapsed.TotalSeconds -lt 7200) {
    $size = 0
    if (Test-Path $events) {
      $size = (Get-Item $events).Length
    }
    if ($size -ne $sent) {
      $requests += 1
      if (Send-File $Url $events 65536) {
        $sent = $size
        $pause = 2
      } else {
        $pause = [Math]::Min(60, 2 * $pause)
      }
    } elseif ($sent -ne 0) {
      $end = Get-End $events
      if ($end) {
        if ($When -eq 'always' -or $When -eq $end) {
          Send-Bundle $LogsUrl
        }
        if ($end -eq 'success') {
          Stop-Report
        }
        return
      }
    }
    Start-Sleep -Seconds $pause
  }
}
# Get-End: how the bootstrap ended; nothing as long as it goes on. The runner writes to the file at the same time, which the
# way of opening it must not keep it from.
function Get-End {
  param([string]$Path)
  try {
    $stream = [IO.File]::Open($Path, 'Open', 'Read', 'ReadWrite')
    $reader = New-Object IO.StreamReader($stream)
    $text = $reader.ReadToEnd().TrimEnd()
    $reader.Close()
  } catch {
    return ''
  }
  $last = $text.Substring(1 + $text.LastIndexOf("`n"))
  if ($last -match 'STATE_(STARTED|RETRYING|REBOOTING)') {
    return ''
  }
  if ($text.Contains('STATE_FAILED')) {
    return 'failure'
  }
  if ($text.Contains('STATE_COMPLETE')) {
    return 'success'
  }
  return ''
}
# Send-Bundle: sends the log bundle, of five tries at most, where the machine has what makes one.
function Send-Bundle {
  param([string]$Url)
  $program = 'C:\Program Files\slipway\machineadm.exe'
  $path = 'C:\ProgramData\slipway\report.tar.gz'
  if (-not $Url -or -not (Test-Path $program)) {
    return
  }
  Remove-Item -Force -ErrorAction SilentlyContinue $path
  Invoke-Bounded $program "collect --output $path" 300
  foreach ($round in 1..5) {
    if (-not (Test-Path $path)) {
      return
    }
    if (Send-File $Url $path 6291456) {
      break
    }
    Start-Sleep -Seconds 30
  }
  Remove-Item -Force -ErrorAction SilentlyContinue $path
}
# Send-File: one try with the end of a file; whether it was taken.
function Send-File {
  param([string]$Url, [string]$Path, [int]$Most)
  try {
    $stream = [IO.File]::Open($Path, 'Open', 'Read', 'ReadWrite')
    $size = [Math]::Min($Most, $stream.Length)
    $null = $stream.Seek(-$size, 'End')
    $bytes = New-Object byte[] $size
    $count = $stream.Read($bytes, 0, $size)
    $stream.Close()
    $request = [Net.WebRequest]::Create($Url)
    $request.Method = 'PUT'
    $request.Proxy = $null
    $request.AllowAutoRedirect = $false
    $request.KeepAlive = $false
    $request.Timeout = 120000
    $request.ReadWriteTimeout = 60000
    $request.ContentLength = $count
    $body = $request.GetRequestStream()
    $body.Write($bytes, 0, $count)
    $body.Close()
    $answer = $request.GetResponse()
    $status = [int]$answer.StatusCode
    $answer.Close()
    return $status -lt 300
  } catch {
    return $false
  }
}
function Stop-Report {
  Invoke-Bounded 'schtasks.exe' '/Delete /F /TN slipway-report' 20
}
# Invoke-Bounded: runs a program, for so many seconds at most.
function Invoke-Bounded {
  param([string]$Program, [string]$Line, [int]$Seconds)
  $process = Start-Process -FilePath $Program -ArgumentList $Line -WindowStyle Hidden -PassThru
  if (-not $process.WaitForExit(1000 * $Seconds)) {
    $null = & taskkill.exe /T /F /PID $process.Id
  }
}
