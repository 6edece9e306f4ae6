#!/bin/sh
# Runs every fuzz target of the tree for a short time, one after the other.
#
#   FUZZTIME=10s tools/fuzz.sh
set -eu

: "${FUZZTIME:=10s}"

targets() {
	find . -name '*_test.go' -not -path './.*' -exec grep -H '^func Fuzz' {} + | sort |
		sed -n 's|^\(.*\)/[^/]*:func \(Fuzz[A-Za-z0-9_]*\)(.*|\1 \2|p'
}

targets | while read -r folder target; do
	printf '== %s in %s for %s\n' "$target" "$folder" "$FUZZTIME"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" "$folder" </dev/null
done
