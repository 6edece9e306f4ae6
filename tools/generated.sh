#!/bin/sh
# Fails when a committed generated file, or go.mod, is not what its generator makes. It
# compares the tree before and after, so that it also works with changes not committed
# yet; what was stale is up to date afterwards.
set -eu

sums() {
	find . -type f -not -path './.*' -not -path './bin/*' -exec cksum {} + | sort
}

before=$(mktemp)
after=$(mktemp)
trap 'rm -f "$before" "$after"' EXIT

sums >"$before"
go generate ./...
sums >"$after"
if ! diff "$before" "$after" >&2; then
	echo 'the files above were not up to date: run make generate and commit them' >&2
	exit 1
fi
if ! go mod tidy -diff; then
	echo 'go.mod or go.sum is not up to date: run go mod tidy and commit them' >&2
	exit 1
fi
