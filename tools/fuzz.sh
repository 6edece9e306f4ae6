#!/bin/sh
# Runs every fuzz target of the tree for a short time, one after the other. What the targets
# know by heart is under testdata/fuzz, and runs with the tests. An input that fails is put
# there: mend what it found, give it a name, and keep it.
#
#   FUZZTIME=10s tools/fuzz.sh [TARGET]
set -eu

: "${FUZZTIME:=10s}"

targets() {
	find . -name '*_test.go' -not -path './.*' -exec grep -H '^func Fuzz' {} + | sort |
		sed -n 's|^\(.*\)/[^/]*:func \(Fuzz[A-Za-z0-9_]*\)(.*|\1 \2|p'
}

# What is new need not be small: making it so would take most of a short time.
targets | grep -E -e " ${1:-.*}\$" | while read -r folder target; do
	printf '== %s in %s for %s\n' "$target" "$folder" "$FUZZTIME"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 20x "$folder" </dev/null
done
