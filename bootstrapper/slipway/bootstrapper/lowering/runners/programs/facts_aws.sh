# aws KEY: instance metadata, version 2 only.
aws() {
  u=http://169.254.169.254/latest
  if command -v curl >/dev/null; then
    k=$(curl -fsS --noproxy '*' -m 5 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' $u/api/token)
  else
    k=$(wget -q --no-proxy -T 5 -O - --method PUT --header 'X-aws-ec2-metadata-token-ttl-seconds: 300' $u/api/token)
  fi || return
  get "$u/meta-data/$1" "X-aws-ec2-metadata-token: $k"
}
aws_provider_id() {
  z=$(aws placement/availability-zone) || return
  i=$(aws instance-id) || return
  echo "aws:///$z/$i"
}
