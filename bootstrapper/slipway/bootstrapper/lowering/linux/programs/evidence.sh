# evidence HEAD TABLE PATTERN...: checks this machine by a table of demands, and writes the evidence, whose first members
# are those of HEAD. It looks at the files of the patterns, at what programs run with, and at the settings of the kubelet.
# SLIPWAY_ROOT is in front of all paths, for tests. The program is kept, and can be run again at any time.
evidence() {
  exec 2>/dev/null
  R=${SLIPWAY_ROOT-}
  d=$R/var/lib/slipway
  umask 077
  t=$(mktemp -d) || return
  printf '%s\n' "$2" >$t/table
  b=
  [ ! -f $d/plan ] || read -r b <$d/plan
  head=$1
  shift 2
  running
  facts "$@" >$t/facts
  {
    printf '{"version":1,"bundleId":"%s","hostname":"%s","time":"%s",%s,"controls":[\n' \
      "$(echo "$b" | tr -cd A-Za-z0-9-)" "$(uname -n | tr -cd A-Za-z0-9.-)" "$(date -u +%FT%TZ)" "$head"
    verdicts $t/facts $t/table
    echo ']}'
  } >$t/evidence
  mkdir -p $d
  [ ! -f "$0" ] || [ "$0" = $d/evidence ] || cp "$0" $d/evidence
  mv $t/evidence $d/evidence.json
  rm -rf $t
}
# running: keeps the arguments of each program, or of its static pod where it does not run yet, one a line.
running() {
  for f in $R/proc/[0-9]*; do
    n=
    read -r n <$f/comm
    case $n in
      kube-apiserver | kube-scheduler | kube-proxy | kubelet | etcd) ;;
      kube-controller*) n=kube-controller-manager ;;
      *) continue ;;
    esac
    [ -s $t/$n.args ] || tr '\n\0' ' \n' <$f/cmdline >$t/$n.args
  done
  for f in $R/etc/kubernetes/manifests/*.yaml; do
    n=${f##*/}
    n=${n%.yaml}
    [ ! -e $f ] || [ -s $t/$n.args ] || sed -n 's/^ *- \(--.*\)/\1/p' $f >$t/$n.args
  done
}
# facts PATTERN...: prints what is found, each kind behind a line that names it.
facts() {
  for f in $t/*.args; do
    n=${f##*/}
    echo "@args ${n%.args}"
    cat $f
  done
  echo @settings
  v=$(sed -n 's/^--config=//p' $t/kubelet.args | sed '$!d')
  cat "$R${v:-/var/lib/kubelet/config.yaml}"
  echo @listening
  awk '$4 == "0A" { print $2 }' $R/proc/net/tcp $R/proc/net/tcp6
  v=$(sed -n 's/^--encryption-provider-config=//p' $t/kube-apiserver.args | sed '$!d')
  echo @provider
  sed -n '/providers:/{n;s/[^A-Za-z]*\([A-Za-z]*\).*/\1/p;q}' "$R$v"
  for f in "$@"; do
    case $f in
      /proc/sys/*)
        v=
        read -r v <$R$f
        echo "@value $f"
        echo "$v"
        continue
        ;;
    esac
    for g in $R$f; do
      [ ! -e "$g" ] || set -- "$@" "${g#"$R"}"
    done
  done
  echo @files
  for f in "$@"; do
    case $f in
      *[*]* | /proc/sys/*) ;;
      *) [ ! -e "$R$f" ] || printf '%s %s\n' "$(stat -Lc '%a %U:%G' "$R$f")" "$f" ;;
    esac
  done
}
# verdicts FACTS TABLE: prints a record of JSON for each line of the table.
verdicts() {
  awk -F '\t' '
    function judge(op, want, v, p, n, w, i, all) {
      if (!p) return op == "absent" || op ~ /-or-unset$/
      sub(/-or-unset$/, "", op)
      if (op == "present") return v != ""
      if (op == "absent") return 0
      if (op == "equals") return v "" == want ""
      if (op == "at-least") return v ~ /^[0-9]+$/ && v + 0 >= want + 0
      if (op == "includes") return index("," v ",", "," want ",") > 0
      all = op == "among"
      n = split(all ? v : want, w, ",")
      for (i = 1; i <= n; i++) if ((index("," (all ? want : v) ",", "," w[i] ",") > 0) != all) return 0
      return v != "" || !all
    }
    function more(mode, most, i, a, b, k) {
      mode = substr("000" mode, length(mode)); most = substr("000" most, length(most))
      for (i = 1; i <= 4; i++) {
        a = substr(mode, i, 1); b = substr(most, i, 1)
        for (k = 1; k < 8; k *= 2) if (int(a / k) % 2 > int(b / k) % 2) return 1
      }
      return 0
    }
    function record(id, result, seen) {
      gsub(/[^A-Za-z0-9_.,:\/=@+ -]/, "", seen)
      printf "%s{\"control\":\"%s\",\"result\":\"%s\",\"observed\":\"%s\"}", c, id, result, substr(seen, 1, 240)
      c = ",\n"
    }
    function shown(name, v, p) { return p ? name " is " v : name " is not set" }
    function verdict(good) { return good ? "pass" : "fail" }
    function files(id, patterns, mode, owner, n, w, i, j, result, seen, good) {
      n = split(patterns, w, " ")
      result = "not-applicable"; seen = "no such file"
      for (i = 1; i <= n; i++) {
        gsub(/\./, "[.]", w[i]); gsub(/\*/, "[^/]*", w[i])
        for (j = 1; j <= count; j++) if (name[j] ~ "^" w[i] "$") {
          good = owner == "" ? !more(bits[j], mode) : owners[j] == owner
          if (result == "fail") continue
          result = verdict(good); seen = (owner == "" ? bits[j] : owners[j]) " " name[j]
        }
      }
      record(id, result, seen)
    }
    function setting(line, depth, i) {
      match(line, /^ */); depth = RLENGTH; line = substr(line, depth + 1)
      gsub(/"/, "", line)
      if (line ~ /^- /) { set[key] = set[key] (key in had ? "," : "") substr(line, 3); had[key] = 1; return }
      i = index(line, ":")
      if (!i) return
      part[depth] = substr(line, 1, i - 1); key = ""
      for (i = 0; i <= depth; i += 2) key = key (i ? "." : "") part[i]
      sub(/^[^:]*: */, "", line)
      if (line != "" && line != "null") { set[key] = line; had[key] = 1 }
    }
    function decimal(digits, i, n) {
      n = 0
      for (i = 1; i <= length(digits); i++) n = n * 16 + index("123456789ABCDEF", substr(digits, i, 1))
      return n
    }
    function address(hex, i, text) {
      i = index(hex, ":")
      if (i != 9) text = "." (hex ~ /^0*1000000:/ ? "::1" : hex ~ /^0*:/ ? "::" : substr(hex, 1, i - 1))
      else for (i = 7; i > 0; i -= 2) text = text "." decimal(substr(hex, i, 2))
      return substr(text, 2) ":" decimal(substr(hex, index(hex, ":") + 1))
    }
    FNR == 1 { number++ }
    number == 1 && /^@/ { split($0, head, " "); kind = head[1]; whose = head[2]; next }
    number == 1 && kind == "@args" && /^--/ {
      i = index($0, "=")
      args[whose, i ? substr($0, 3, i - 3) : substr($0, 3)] = i ? substr($0, i + 1) : "true"
    }
    number == 1 && kind == "@settings" { setting($0) }
    number == 1 && kind == "@listening" { listening[$0] = 1 }
    number == 1 && kind == "@provider" { provider = $0 }
    number == 1 && kind == "@value" { values[whose] = $0 }
    number == 1 && kind == "@files" {
      split($0, word, " "); count++; bits[count] = word[1]; owners[count] = word[2]
      name[count] = substr($0, length(word[1] word[2]) + 3)
    }
    number == 1 { next }
    $2 == "argument" {
      p = ($3 SUBSEP $4) in args; v = p ? args[$3, $4] : ""
      record($1, verdict(judge($5, $6, v, p)), shown($4, v, p))
    }
    $2 == "setting" {
      p = ("kubelet" SUBSEP $4) in args; v = p ? args["kubelet", $4] : ($3 in had ? set[$3] : ""); p = p || $3 in had
      record($1, verdict(judge($5, $6, v, p)), shown($3 == "" ? $4 : $3, v, p))
    }
    $2 == "differs" { v = args[$3, $4]; record($1, verdict(v != "" && v != args[$5, $6]), shown($4, v, v != "")) }
    $2 == "provider" { record($1, verdict(judge("among", $3, provider, provider != "")), shown("provider", provider, provider != "")) }
    $2 == "modes" { files($1, $4, $3, "") }
    $2 == "owners" { files($1, $4, "", $3) }
    $2 == "value" { v = values[$3]; record($1, verdict(judge($4, $5, v, v != "")), shown($3, v, v != "")) }
    $2 == "loopback" {
      r = "not-applicable"; v = "nothing listens"
      for (i in listening) if (i ~ ":" $3 "$") {
        r = verdict(i ~ /^(0100007F|00000000000000000000000001000000):/); v = "listens at " address(i)
        if (r == "fail") break
      }
      record($1, r, v)
    }
    END { print "" }
  ' "$1" "$2"
}
