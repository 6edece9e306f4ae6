#!/bin/sh
# Builds the program twice, as differently as two people on two machines would, and compares
# the bytes: another folder, other times of files, an empty cache, other modules' folder, time
# zone, language and umask. Only the version of Go and the sources are the same. It leaves the
# first program in bin/sandkeeper.
#
#   tools/reproducible.sh
set -eu

cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# copy takes the sources that git knows or would add, with git's own folder, from which the
# program learns its commit. Without git it takes all.
copy() {
	mkdir -p "$1"
	if git rev-parse HEAD >/dev/null 2>&1 && [ -d .git ]; then
		cp -R .git "$1/.git"
		git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c \
			'for f; do if [ -e "$f" ]; then printf "%s\0" "$f"; fi; done' sh | tar -c --null -T - | tar -x -C "$1"
	else
		tar -c --exclude ./bin --exclude ./.cache . | tar -x -C "$1"
	fi
}

one=$work/one
two="$work/a second place, with another name"
copy "$one"
copy "$two"
find "$two" -name .git -prune -o -type f -exec touch -t 200102030405 {} +
ln -s "$(go env GOMODCACHE)" "$work/modules"

make -s -C "$one" build
(
	umask 077
	unset GOROOT
	export GOCACHE="$work/cache" GOMODCACHE="$work/modules" GOTMPDIR="$work" TZ=Pacific/Chatham LC_ALL=C \
		GOFLAGS='-modcacherw -v' CGO_CFLAGS=-O1
	make -s -C "$two" build 2>"$work/said" || { cat "$work/said" >&2; exit 1; }
)

if ! cmp -s "$one/bin/sandkeeper" "$two/bin/sandkeeper"; then
	printf 'reproducible: the two programs differ; what they say of themselves:\n' >&2
	go version -m "$one/bin/sandkeeper" | tail -n +2 >"$work/first"
	go version -m "$two/bin/sandkeeper" | tail -n +2 | diff "$work/first" - >&2 || true
	exit 1
fi
mkdir -p bin
cp "$one/bin/sandkeeper" bin/sandkeeper
printf '%s  bin/sandkeeper\n' "$(sha256sum <"$one/bin/sandkeeper" | cut -d' ' -f1)"
