#!/bin/sh
# Builds the version before this one, and runs a command with its program added to it:
#
#   tools/upgrade.sh COMMAND [ARG...]      runs COMMAND ARG... -before PROGRAM
#
# That is the newest tag below this commit; without any, the last commit that did not know the newest migration of the
# ledger. FROM names another one.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
[ "$#" -gt 0 ] || { echo 'usage: tools/upgrade.sh COMMAND [ARG...]' >&2; exit 2; }

from=${FROM:-}
[ -n "$from" ] || from=$(git describe --tags --match 'v[0-9]*' --abbrev=0 HEAD^ 2>/dev/null || true)
if [ -z "$from" ]; then
	newest=$(ls store/ledger/migrations/*.sql | sort | tail -n 1)
	added=$(git log --diff-filter=A --format=%H --reverse --topo-order -- "$newest" | head -n 1)
	[ -n "$added" ] || { echo "upgrade: $newest is not committed: say FROM=COMMIT" >&2; exit 1; }
	from=$added^
fi
commit=$(git rev-parse --verify "$from^{commit}")
echo "upgrade: from $(git log -1 --format='%h, %cd' --date=short "$commit")" >&2

work=$(mktemp -d)
down() {
	git worktree remove --force "$work/tree" 2>/dev/null || true
	rm -rf "$work"
}
trap down EXIT
trap 'exit 130' INT TERM
git worktree add --quiet --detach "$work/tree" "$commit"
(cd "$work/tree" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$work/before" ./cmd/sandkeeper)
status=0
"$@" -before "$work/before" || status=$?
exit "$status"
