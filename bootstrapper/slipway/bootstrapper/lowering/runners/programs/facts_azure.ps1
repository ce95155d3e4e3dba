# azure KEY: a value below "instance" of the metadata service.
function azure {
  param([string]$Key)
  $query = 'api-version=2021-02-01&format=text'
  return Get-Metadata "http://169.254.169.254/metadata/instance/${Key}?$query" @{ 'Metadata' = 'true' }
}
# The resource group in lower case, as the cloud provider writes it.
function azure_provider_id {
  $parts = (azure 'compute/resourceId').Split('/')
  $parts[4] = $parts[4].ToLowerInvariant()
  return 'azure://' + ($parts -join '/')
}
