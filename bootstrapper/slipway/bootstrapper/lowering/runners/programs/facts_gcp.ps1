# gcp KEY: a value below "computeMetadata/v1".
function gcp {
  param([string]$Key)
  return Get-Metadata "http://169.254.169.254/computeMetadata/v1/$Key" @{ 'Metadata-Flavor' = 'Google' }
}
# gcp_last KEY: the last part of a resource path.
function gcp_last {
  param([string]$Key)
  return (gcp $Key).Split('/')[-1]
}
function gcp_region {
  $zone = gcp_last 'instance/zone'
  return $zone.Substring(0, $zone.LastIndexOf('-'))
}
function gcp_provider_id {
  $project = gcp 'project/project-id'
  $zone = gcp_last 'instance/zone'
  $name = gcp 'instance/name'
  return "gce://$project/$zone/$name"
}
