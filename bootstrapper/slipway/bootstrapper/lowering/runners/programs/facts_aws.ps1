# aws KEY: instance metadata, version 2 only.
function aws {
  param([string]$Key)
  $base = 'http://169.254.169.254/latest'
  $token = Get-Metadata "$base/api/token" @{ 'X-aws-ec2-metadata-token-ttl-seconds' = '300' } 'PUT'
  return Get-Metadata "$base/meta-data/$Key" @{ 'X-aws-ec2-metadata-token' = $token }
}
function aws_provider_id {
  $zone = aws 'placement/availability-zone'
  $id = aws 'instance-id'
  return "aws:///$zone/$id"
}
