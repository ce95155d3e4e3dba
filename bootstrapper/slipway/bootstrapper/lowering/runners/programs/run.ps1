# The runner of Windows. It is static: what it runs stands in the manifest "plan.json", never in its own text.
#
# plan.json  {"id": bundle id, "steps": [{"id", "phase", "program", "arguments", "timeout", "retries", "flags"},
#            {"sentinel": true}, ...]}; the flags are those of the Linux runner.
# state\     by bundle: ID.done, ID.failed = failure record (a JSON line, then the tail of the output), ID.stop = the
#            failure is final, or final for the boot that it names.
# events.jsonl  one event a line, BootstrapEvent of the contract; each goes to the serial console, too.
#
# One statement a line, so that a parser without PowerShell can check it. Windows PowerShell 5.1 and later.
$ErrorActionPreference = 'Stop'
$root = 'C:\ProgramData\slipway'
$logs = "$root\log"
$sentinel = 'C:\run\cluster-api\bootstrap-success.complete'
$mutex = New-Object Threading.Mutex($false, 'Global\slipway')
try {
  $null = $mutex.WaitOne()
} catch [Threading.AbandonedMutexException] {
  $null = $true
}
# Only Administrators and SYSTEM may look into what holds secrets.
$null = & icacls.exe $root /inheritance:r /grant:r '*S-1-5-32-544:(OI)(CI)F' '*S-1-5-18:(OI)(CI)F'
if ($LASTEXITCODE -ne 0) {
  exit 1
}
$plan = [IO.File]::ReadAllText("$root\plan.json") | ConvertFrom-Json
$state = "$root\state\" + $plan.id
$null = New-Item -ItemType Directory -Force -Path $state
$null = New-Item -ItemType Directory -Force -Path $logs
$boot = (Get-CimInstance -ClassName Win32_OperatingSystem).LastBootUpTime.ToUniversalTime().Ticks.ToString()
# Between the order to reboot and the end of the system nothing more may start.
if (Test-Path "$root\reboot") {
  if ([IO.File]::ReadAllText("$root\reboot") -eq $boot) {
    exit 0
  }
}
# Nor while somebody else has it go down; and what fails then had its services taken away. So the run waits to be ended
# with the system: one that ends by itself is not started again on the next boot. The last word of the system's log
# counts, whatever its clock says: 1074 is a shutdown that was ordered, 1075 one that was called off, 6005 a log that was
# started, and with it the system. A system that is still there after ten minutes stays.
function Wait-Shutdown {
  $search = @{}
  $search.LogName = 'System'
  $search.Id = @(1074, 1075, 6005)
  $sources = @('User32', 'EventLog')
  foreach ($minute in 1..10) {
    try {
      $last = Get-WinEvent -FilterHashtable $search | Where-Object -Property ProviderName -In -Value $sources | Select-Object -First 1
    } catch {
      $last = $null
    }
    if ($null -eq $last -or $last.Id -ne 1074) {
      return
    }
    Start-Sleep -Seconds 60
  }
}
function Get-Tail {
  $tail = ''
  foreach ($name in @('out', 'err')) {
    if (Test-Path "$logs\$name") {
      $lines = @(Get-Content "$logs\$name" -Tail 50)
      $tail += $lines -join "`n"
      $tail += "`n"
    }
  }
  if ($tail.Length -gt 4096) {
    $tail = $tail.Substring($tail.Length - 4096)
  }
  return $tail
}
# Write-Event: sets $line to the line of the event. One that cannot be written changes nothing, and a serial console that
# takes none in time gets no further one.
function Write-Event {
  param($State, $Step, $Code, $Reason)
  $script:line = ''
  try {
    $record = [ordered]@{
      bundleId = $plan.id
      sequence = 1 + @(Get-Content $events -ErrorAction SilentlyContinue).Count
      time = [DateTime]::UtcNow.ToString('s') + 'Z'
      hostname = [Net.Dns]::GetHostName()
      executor = 'EXECUTOR_POWERSHELL'
    }
    if ($Step) {
      $record.phase = 'PHASE_' + $Step.phase.ToUpperInvariant()
      $record.step = $Step.id
    }
    $record.state = "EVENT_STATE_$State"
    if ($Code) {
      $record.exitCode = $Code
    }
    if ($Reason) {
      $record.reason = $Reason
    }
    $script:line = $record | ConvertTo-Json -Compress
    [IO.File]::AppendAllText($events, "$line`n")
  } catch {
    $null = $true
  }
  try {
    if ($serial) {
      $port = New-Object IO.Ports.SerialPort('COM1', 115200)
      $port.WriteTimeout = 5000
      $port.Open()
      $port.WriteLine($line)
      $port.Close()
    }
  } catch {
    $script:serial = $false
  }
}
# Write-Status: an event for the kubelet, by its healthz, and one for the container runtime, by its named pipe, where the
# machine has them.
function Write-Status {
  param($Step)
  $health = ''
  $folders = @('C:\var\lib\kubelet', 'C:\ProgramData\containerd')
  try {
    $request = [Net.WebRequest]::Create('http://127.0.0.1:10248/healthz')
    $request.Timeout = 2000
    $request.Proxy = $null
    $request.GetResponse().Close()
    $health = 'Healthy'
  } catch {
    if (Test-Path $folders[0]) {
      $health = 'NotHealthy'
    }
  }
  if ($health) {
    Write-Event 'OBSERVED' $Step 0 "Kubelet$health"
  }
  try {
    $pipes = [IO.Directory]::GetFiles('\\.\pipe\')
    $running = @($pipes -match 'containerd-containerd$|cri-dockerd$')
    if ($running.Count -gt 0) {
      Write-Event 'OBSERVED' $Step 0 'ContainerRuntimeRunning'
    } elseif ($health -ne 'Healthy' -and (Test-Path $folders) -contains $true) {
      Write-Event 'OBSERVED' $Step 0 'ContainerRuntimeNotRunning'
    }
  } catch {
    $null = $true
  }
}
function Invoke-Step {
  param($Step)
  $start = @{}
  $start.FilePath = $Step.program
  $start.NoNewWindow = $true
  $start.PassThru = $true
  $start.RedirectStandardOutput = "$logs\out"
  $start.RedirectStandardError = "$logs\err"
  if ($Step.arguments) {
    $start.ArgumentList = $Step.arguments
  }
  try {
    $process = Start-Process @start
  } catch {
    [IO.File]::WriteAllText("$logs\err", 'the program could not be started')
    return 127
  }
  # Without its handle a process forgets its exit code.
  $null = $process.Handle
  $limit = -1
  if ($Step.timeout) {
    $limit = 1000 * $Step.timeout
  }
  if ($process.WaitForExit($limit)) {
    return $process.ExitCode
  }
  $null = & taskkill.exe /T /F /PID $process.Id
  return 124
}
$events = "$root\events.jsonl"
$serial = $true
$complete = $false
$bootstrapFailed = $false
$booted = $null
foreach ($step in $plan.steps) {
  if ($booted -and $step.phase -ne 'bootstrap') {
    Write-Status $booted
    $booted = $null
  }
  if ($step.sentinel) {
    if ($bootstrapFailed) {
      continue
    }
    $null = New-Item -ItemType Directory -Force -Path (Split-Path -Parent $sentinel)
    [IO.File]::WriteAllText($sentinel, "success`n")
    $complete = $true
    Write-Event 'COMPLETE'
    continue
  }
  $mark = "$state\" + $step.id
  if (Test-Path "$mark.done") {
    continue
  }
  $final = $false
  if (Test-Path "$mark.stop") {
    $final = $true
    if ($step.flags.Contains('b')) {
      $final = [IO.File]::ReadAllText("$mark.stop") -eq $boot
    }
  }
  if (-not $final) {
    $left = $step.retries
    Wait-Shutdown
    Write-Event 'STARTED' $step
    $code = Invoke-Step $step
    while ($code -ne 0 -and $left -gt 0) {
      $left -= 1
      Start-Sleep -Seconds 10
      Wait-Shutdown
      Write-Event 'RETRYING' $step $code
      $code = Invoke-Step $step
    }
    $tail = ''
    if (-not $step.flags.Contains('x')) {
      $tail = Get-Tail
    }
    Remove-Item -Recurse -Force -ErrorAction SilentlyContinue -Path "$logs\*"
    if ($code -eq 0) {
      [IO.File]::WriteAllText("$mark.done", '')
      Remove-Item -Force -ErrorAction SilentlyContinue "$mark.failed"
      if ($step.flags.Contains('r')) {
        Write-Event 'REBOOTING' $step
        [IO.File]::WriteAllText("$root\reboot", $boot)
        & shutdown.exe /r /f /t 0
        exit $LASTEXITCODE
      }
      Write-Event 'SUCCEEDED' $step
      if ($step.phase -eq 'bootstrap') {
        $booted = $step
      }
      continue
    }
    Wait-Shutdown
    $end = 'FAILED'
    if ($step.flags.Contains('c')) {
      $end = 'TOLERATED'
    }
    $reason = 'CommandFailed'
    if ($step.timeout -and $code -eq 124) {
      $reason = 'CommandTimedOut'
    }
    Write-Status $step
    $booted = $null
    Write-Event $end $step $code $reason
    [IO.File]::WriteAllText("$mark.failed", "$line`n$tail")
    [IO.File]::WriteAllText("$mark.stop", $boot)
  }
  if ($step.flags.Contains('c')) {
    continue
  }
  if ($step.flags.Contains('s')) {
    $bootstrapFailed = $true
    continue
  }
  exit 1
}
if ($complete) {
  exit 0
}
exit 1
