# The one program that goes on from here. Its exit code is not ours: 1001 to 1003 would mean reboots to cloudbase-init.
function Start-Entry {
  param([string]$Program, [string]$Arguments)
  $start = @{}
  $start.FilePath = $Program
  $start.NoNewWindow = $true
  $start.PassThru = $true
  if ($Arguments) {
    $start.ArgumentList = $Arguments
  }
  $process = Start-Process @start
  # Without its handle a process forgets its exit code.
  $null = $process.Handle
  $process.WaitForExit()
  return $process.ExitCode
}
