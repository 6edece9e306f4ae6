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

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# fuzz runs one target. What is new need not be small: making it so would take most of a short
# time. On a busy machine Go may take the end of the time for a failure; that one has no input.
fuzz() {
	go test -run '^$' -fuzz "^$2\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 20x "$1" </dev/null >"$log" 2>&1 && status=0 || status=1
	cat "$log"
	if [ "$status" = 1 ] && grep -q '^    context deadline exceeded$' "$log" && ! grep -q 'Failing input' "$log"; then
		printf 'not a failure: the time was over\n'
		status=0
	fi
	return "$status"
}

targets | grep -E -e " ${1:-.*}\$" | while read -r folder target; do
	printf '== %s in %s for %s\n' "$target" "$folder" "$FUZZTIME"
	fuzz "$folder" "$target"
done
