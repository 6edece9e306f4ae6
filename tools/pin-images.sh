#!/bin/sh
# Pins the images that Dockerfiles begin with, and those of the compose file, to the digests that their tags have at the
# registry now, and prints what it changed: tools/pin-images.sh [DOCKERFILE|COMPOSE...]. A tag stays beside its digest, to be read.
# Needs a network that reaches the registries.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- deploy/Dockerfile deploy/cloudflare-worker/Dockerfile deploy/compose/compose.yaml
crane() { go tool -modfile=tools/go.mod crane "$@"; }
for file in "$@"; do
	# An image without a tag is `scratch` or a stage of the same file; one of a variable is the user's.
	for image in $(sed -n -e 's/^FROM \(--[^ ]* \)*\([^ @]*:[^ @]*\).*/\2/p' \
		-e 's/^ *image: *\([^ @$]*:[^ @]*\).*/\1/p' "$file"); do
		digest=$(crane digest "$image") || {
			echo "pin-images: $file: the registry does not tell the digest of $image; nothing of it was changed" >&2
			exit 1
		}
		for before in 'FROM .*' ' *image: *'; do
			sed -i "s|^\($before\)$image\(@sha256:[0-9a-f]*\)\{0,1\}|\1$image@$digest|" "$file"
		done
		echo "$file: $image@$digest"
	done
done
