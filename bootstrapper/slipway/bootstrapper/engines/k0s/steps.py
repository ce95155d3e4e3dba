"""What runs on the machine: a token is packed, k0s is started and waited for, and tokens are created."""

from collections.abc import Iterator

from slipway.bootstrapper.engines.k0s.join import CONTROL_PLANE_FILE, join_path
from slipway.bootstrapper.engines.k0s.request import NAME, K0sRequest
from slipway.bootstrapper.engines.k0s.secrets import JOIN_TOKENS
from slipway.bootstrapper.engines.k0s.unit import TOKEN, unit_name
from slipway.v1alpha1 import plan_pb2 as planpb

WORKER_TOKEN = "/etc/slipway/k0s-worker-token"  # noqa: S105  # the path of a token's file
CONTROL_PLANE_TOKEN = "/etc/slipway/k0s-control-plane-token"  # noqa: S105  # the path of a token's file

_SECONDS = 300
_TOKEN_SECONDS = 24 * 60 * 60

_PACK = """\
set -eu
umask 077
mkdir -p "$(dirname "$2")"
gzip -c "$1" | base64 | tr -d '\\n' >"$2"
"""

# A control plane that joins does not say why it cannot: its kubeconfig shows whether the cluster is trusted.
_START = """\
set -eu
unit=$1 seconds=$2 program=$3 runs=$4 join=$5
# Seconds since the machine started: no time client can turn them back, and a slow answer counts with its time.
uptime() {
  read -r now _ </proc/uptime
  now=${now%%.*}
}
ready() {
  case $runs in
    worker) ;;
    *) "$program" kubectl get --raw=/readyz --request-timeout=5s || return 1 ;;
  esac
  case $runs in
    control-plane) ;;
    *) test -s /var/lib/k0s/kubelet.conf ;;
  esac
}
distrusted() {
  what='certificate signed by unknown authority'
  journalctl --unit="$unit" --boot --no-pager --output=cat | grep -q "$what" && return
  test -n "$join" || return
  "$program" kubectl --kubeconfig="$join" get --raw=/ --request-timeout=5s 2>&1 | grep -q "$what"
}
systemctl daemon-reload
systemctl enable "$unit"
systemctl restart --no-block "$unit"
uptime
end=$((now + seconds))
while [ "$now" -lt "$end" ]; do
  if ready >/dev/null 2>&1; then exit 0; fi
  sleep 1
  uptime
done
systemctl disable --now "$unit" || true
journalctl --unit="$unit" --boot --lines=20 --no-pager --output=cat
if distrusted; then
  echo "k0s: the cluster's certificate is not signed by the authority in this machine's user data"
  exit 3
fi
echo "k0s: the machine did not join within $seconds s"
exit 4
"""

_CREATE = """\
set -eu
umask 077
program=$1 file=$2 seconds=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
token=$(cat "$file")
printf %s "${token%%.*}" >"$folder/token-id"
printf %s "${token#*.}" >"$folder/token-secret"
printf %s "$(date -u -d "@$(($(date +%s) + seconds))" +%Y-%m-%dT%H:%M:%SZ)" >"$folder/expiration"
for pair in "$@"; do printf %s "${pair#*=}" >"$folder/${pair%%=*}"; done
"$program" kubectl --namespace=kube-system create secret generic "bootstrap-token-${token%%.*}" \\
  --type=bootstrap.kubernetes.io/token --from-file="$folder"
rm -f "$file"
"""


def steps(request: K0sRequest) -> Iterator[planpb.Step]:
    """Give the steps in order."""
    if request.joins_control_plane:
        yield _step("10-k0s-token", _PACK, CONTROL_PLANE_FILE, TOKEN)
    timeouts = request.kubernetes.timeouts
    limit = timeouts.tls_bootstrap if not request.is_control_plane else timeouts.control_plane_component
    # Whole seconds of at least one: a part of a second counts as one.
    seconds = str(limit.seconds + bool(limit.nanos) or _SECONDS)
    runs = "both" if request.is_control_plane and request.is_node else _roles(request)
    join = "" if request.creates_cluster else join_path(request)
    yield _step("20-k0s", _START, unit_name(request), seconds, request.program, runs, join)
    if not request.creates_cluster:
        return
    for name, file, values in (
        ("30-k0s-worker-token", WORKER_TOKEN, JOIN_TOKENS.worker),
        ("31-k0s-control-plane-token", CONTROL_PLANE_TOKEN, JOIN_TOKENS.control_plane),
    ):
        pairs = [f"{key}={value}" for key, value in values.items()]
        yield _step(name, _CREATE, request.program, file, str(_TOKEN_SECONDS), *pairs)


def _roles(request: K0sRequest) -> str:
    return "control-plane" if request.is_control_plane else "worker"


def _step(name: str, script: str, *arguments: str) -> planpb.Step:
    command = planpb.Command(argv=["sh", "-c", script, "k0s", *arguments])
    command.origin.made_by.append(NAME)
    return planpb.Step(id=name, phase=planpb.PHASE_BOOTSTRAP, command=command)
