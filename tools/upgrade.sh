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
	now=$(ls store/ledger/migrations/*.sql | wc -l)
	for commit in $(git rev-list HEAD -- store/ledger/migrations); do
		# Of a branch that was merged, a number may have been given to something else.
		missing=$(git ls-tree --name-only "$commit" store/ledger/migrations/ | while read -r file; do [ -f "$file" ] || echo "$file"; done)
		count=$(git ls-tree --name-only "$commit" store/ledger/migrations/ | wc -l)
		if [ -z "$missing" ] && [ "$count" -lt "$now" ]; then
			from=$commit
			break
		fi
	done
	[ -n "$from" ] || { echo 'upgrade: no commit has fewer migrations: say FROM=COMMIT' >&2; exit 1; }
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
