#!/bin/sh
# Pins the images that Dockerfiles begin with to the digests that their tags have at the registry now, and
# prints what it changed: tools/pin-images.sh [DOCKERFILE...]. A tag stays beside its digest, to be read.
# Needs a network that reaches the registries.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- deploy/Dockerfile deploy/cloudflare-worker/Dockerfile
crane() { go tool -modfile=tools/go.mod crane "$@"; }
for file in "$@"; do
	# An image without a tag is `scratch` or a stage of the same file.
	for image in $(sed -n 's/^FROM \(--[^ ]* \)*\([^ @]*:[^ @]*\).*/\2/p' "$file"); do
		digest=$(crane digest "$image") || {
			echo "pin-images: $file: the registry does not tell the digest of $image; nothing of it was changed" >&2
			exit 1
		}
		sed -i "s|^\(FROM .*\)$image\(@sha256:[0-9a-f]*\)\{0,1\}|\1$image@$digest|" "$file"
		echo "$file: $image@$digest"
	done
done
