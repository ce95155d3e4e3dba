# azure KEY: a value below "instance" of the metadata service.
azure() {
  get "http://169.254.169.254/metadata/instance/$1?api-version=2021-02-01&format=text" 'Metadata: true'
}
# The resource group in lower case, as the cloud provider writes it.
azure_provider_id() {
  i=$(azure compute/resourceId) || return
  g=${i#/subscriptions/*/resourceGroups/}
  r=${g#*/}
  g=${g%%/*}
  echo "azure://${i%"/$g/$r"}/$(echo "$g" | tr '[:upper:]' '[:lower:]')/$r"
}
