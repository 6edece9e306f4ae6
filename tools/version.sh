#!/bin/sh
# Prints the version of this checkout: that of the newest tag v1.2.3 and how far it is from there, or 0.0.0 with the
# time and the commit, which sorts before every release.
set -eu
cd "$(dirname "$0")/.."
if tag=$(git describe --tags --match 'v[0-9]*' 2>/dev/null); then
	# 1.2.3-4-gabc is 1.2.3.post4.abc: later than 1.2.3, and a tag that registries allow.
	echo "${tag#v}" | sed 's/-\([0-9]*\)-g\([0-9a-f]*\)$/.post\1.\2/'
else
	git log -1 --date=format-local:%Y%m%d%H%M%S --format=0.0.0.%cd.%h 2>/dev/null || echo 0.0.0
fi
