#!/bin/sh
# Makes the Debian package of one architecture from bin/linux-ARCH, bin/man and bin/completions:
#
#   VERSION=1.2.3 tools/package.sh ARCH
set -eu
cd "$(dirname "$0")/.."
arch=${1:?package.sh ARCH}
seconds=$(git log -1 --format=%ct 2>/dev/null || echo 0)
time=$(date -u -d "@$seconds" +%Y-%m-%dT%H:%M:%SZ)
export SOURCE_DATE_EPOCH="$seconds"
# nfpm puts variables into few of the fields that need them here.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -e "s|\${ARCH}|$arch|; s|\${VERSION}|${VERSION:?}|; s|\${TIME}|$time|g; s|\${BUILT}|bin/linux-$arch|" \
	deploy/package/nfpm.yaml >"$work/nfpm.yaml"
out=bin/sandkeeper_${VERSION}_$arch.deb
go tool -modfile=tools/package/go.mod nfpm package --config "$work/nfpm.yaml" --packager deb --target "$out" >/dev/null
echo "$out"
