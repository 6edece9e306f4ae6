#!/bin/sh
# Gathers what a release has in bin/release: `make release` has built the parts. Nothing is signed here and nothing is
# published: .github/workflows/release.yaml does that, and a person can, with the same commands.
set -eu
cd "$(dirname "$0")/.."
: "${VERSION:?}" "${TIME:?}" "${ARCHES:?}"
out=bin/release
rm -rf "$out"
mkdir -p "$out"
for arch in $ARCHES; do
	name=sandkeeper_${VERSION}_linux_$arch
	work=$(mktemp -d)
	mkdir -p "$work/$name"
	cp "bin/linux-$arch/sandkeeper" LICENSE README.md CHANGELOG.md "$work/$name/"
	cp -R bin/man bin/completions deploy/systemd deploy/examples deploy/grants_ledger.sql deploy/grants_tasks.sql "$work/$name/"
	tar -C "$work" --sort=name --mtime="@$TIME" --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' -cf - "$name" |
		gzip -n9 >"$out/$name.tar.gz"
	rm -rf "$work"
	cp "bin/sandkeeper_${VERSION}_$arch.deb" "$out/"
	go -C tools run ./sbom "../bin/linux-$arch/sandkeeper" >"$out/$name.cdx.json"
done
cp bin/image.tar "$out/sandkeeper_${VERSION}_image.tar"
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
