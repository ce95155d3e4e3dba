#!/bin/sh
# A provisioner in shell and awk: its user data is a JSON document with files and a program to run.
# slipway provisioner serve --exec ./provisioner.sh serves it; what it reads has one value a line, a space for each level.
set -eu

case $1 in
GetProvisionerInfo)
	cat <<'END'
{
  "name": "shell.example.com", "implementation_version": "1.0.0",
  "formats": [{
    "format": "file-list", "media_type": "application/json", "file_extension": "json",
    "kubernetes_input": "KUBERNETES_INPUT_PLAN", "os_families": ["OS_FAMILY_LINUX"],
    "features": [{"id": "os.files"}, {"id": "plan.entrypoint"}],
    "default_target": {"os_family": "OS_FAMILY_LINUX", "distribution": "debian", "architecture": "amd64"}
  }]
}
END
	;;
Render)
	# Strings are copied as they stand, so nothing has to be unquoted or quoted; contents are base64 and stay so.
	document=$(awk '
		BEGIN { printf "{\"files\": [" }
		{
			match($0, /^ */)
			level = RLENGTH
			value = substr($0, level + 1)
			path[level] = ""
			if (match(value, /^"[a-z0-9_]+": /)) {
				path[level] = substr(value, 2, RLENGTH - 4)
				value = substr(value, RLENGTH + 1)
			}
			sub(/,$/, "", value)
			place = ""
			for (i = 1; i <= level; i++) place = place "/" path[i]
		}
		place == "/bundle/os/files/" && value == "{" { file = content = "" }
		place ~ "^/bundle/os/files//(path|mode|owner|group)$" { file = file "\"" path[5] "\": " value ", " }
		place == "/bundle/os/files//content/segments//data" { content = value }
		place == "/bundle/os/files/" && value == "}" {
			printf "%s{%s\"content\": %s}", comma, file, content == "" ? "\"\"" : content
			comma = ", "
		}
		place == "/bundle/plan/entrypoint/argv/" { run = run (run == "" ? "" : ", ") value }
		END { printf "], \"run\": [%s]}", run }
	')
	printf '{"user_data": "%s"}\n' "$(printf '%s' "$document" | base64 | tr -d '\n')"
	;;
*)
	echo "it has the calls GetProvisionerInfo and Render" >&2
	exit 2
	;;
esac
