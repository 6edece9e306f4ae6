#!/bin/sh
# Installs the vendors' own clients, which the test of test/vendors lets drive our
# simulators, into .cache/vendors: exactly those of the lock file, and only when it changed.
#
#   tools/vendors.sh
set -eu

die() { printf 'vendors: %s\n' "$*" >&2; exit 1; }

here=$(cd "$(dirname "$0")/../test/vendors" && pwd)
there=$(cd "$(dirname "$0")/.." && pwd)/.cache/vendors

for tool in node npm; do
	command -v "$tool" >/dev/null 2>&1 ||
		die "$tool is not on the PATH: install Node.js 20 or later, from https://nodejs.org or a package manager"
done
version=$(node --version)
major=${version#v}
[ "${major%%.*}" -ge 20 ] || die "node is $version: the vendors' clients need Node.js 20 or later"

# What npm wrote last is there only when it came to its end.
if [ -f "$there/node_modules/.package-lock.json" ] && cmp -s "$here/package-lock.json" "$there/package-lock.json"; then
	exit 0
fi
mkdir -p "$there"
rm -rf "$there/node_modules"
cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$there/"
cd "$there"
npm ci --ignore-scripts --loglevel=error || die "npm could not install the vendors' clients: see its words above"
