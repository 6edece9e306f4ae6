#!/bin/sh
# Installs the Debian package that `make package` left in bin, upgrades it, removes and purges it, in a copy of this
# machine: a mount namespace of its own in which every write goes to a folder that is thrown away. It needs root, dpkg
# and overlayfs. systemd does not run in there, so units are checked and not started.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'package: %s\n' "$*"; }
die() { printf 'package: %s\n' "$*" >&2; exit 1; }

if [ "${1:-}" != inside ]; then
	[ "$(id -u)" = 0 ] || die 'it needs root, to make a copy of this machine'
	deb=$(ls -t bin/sandkeeper_*_"$(dpkg --print-architecture)".deb | head -n 1)
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	# The next version: the same with a higher number.
	dpkg-deb -R "$deb" "$work/next"
	sed -i 's/^Version: .*/&.1/' "$work/next/DEBIAN/control"
	echo '# the next version says more here' >>"$work/next/etc/sandkeeper/environment"
	dpkg-deb --root-owner-group -b "$work/next" "$work/next.deb" >/dev/null
	cp "$deb" "$work/this.deb"
	cp tools/package-test.sh "$work/test.sh"
	# A failed mount fails the test; all of them end with the namespace.
	unshare --mount --propagation private sh -euc '
		work=$1
		mount -t tmpfs none "$work"/next
		mkdir "$work"/next/upper "$work"/next/work "$work"/next/root
		mount -t overlay overlay -o "lowerdir=/,upperdir=$work/next/upper,workdir=$work/next/work" "$work"/next/root
		cp "$work"/*.deb "$work"/test.sh "$work"/next/root/tmp/
		mount -t proc proc "$work"/next/root/proc
		mount --rbind /dev "$work"/next/root/dev
		chroot "$work"/next/root sh /tmp/test.sh inside
	' sh "$work"
	say 'this machine is as it was'
	exit 0
fi

cd /
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
files() { find /usr /etc /lib/systemd /var/lib/sandkeeper -xdev -path '*sandkeeper*' 2>/dev/null | sort; }
# A machine that excludes documentation from packages has no manual pages to look for.
rm -f /etc/dpkg/dpkg.cfg.d/docker /etc/dpkg/dpkg.cfg.d/excludes
before=$(files)

dpkg -i /tmp/this.deb >/dev/null
sandkeeper version
[ "$(stat -c '%a %U' /etc/sandkeeper/environment)" = '600 root' ] || die 'the file of secrets is readable'
for f in /usr/share/man/man1/sandkeeper.1.gz /usr/share/man/man1/sandkeeper-run.1.gz \
	/usr/share/bash-completion/completions/sandkeeper /usr/share/zsh/vendor-completions/_sandkeeper; do
	[ -s "$f" ] || die "$f is missing"
done
bash -c '. /usr/share/bash-completion/completions/sandkeeper && complete -p sandkeeper' >/dev/null || die 'nothing is completed'
for unit in sandkeeper.service sandkeeper-once.service sandkeeper-once.timer; do
	said=$(systemd-analyze verify "/lib/systemd/system/$unit" 2>&1 | grep "^/lib/systemd/system/sandkeeper\|^sandkeeper" | grep -v "man sandkeeper" || true)
	[ -z "$said" ] || die "$unit: $said"
done
for unit in sandkeeper.service sandkeeper-once.service; do
	systemd-analyze security --offline=true --no-pager --threshold=15 "/lib/systemd/system/$unit" | tail -n 1
done
say "installed $(dpkg-query -f '${Version}' -W sandkeeper)"

echo 'DATABASE_URL=postgres://mine' >>/etc/sandkeeper/environment
echo 'installation: mine' >/etc/sandkeeper/sandkeeper.yaml
dpkg -i --force-confdef --force-confold /tmp/next.deb >/dev/null 2>&1
grep -q '^DATABASE_URL=postgres://mine' /etc/sandkeeper/environment || die 'the upgrade replaced the secrets'
[ "$(cat /etc/sandkeeper/sandkeeper.yaml)" = 'installation: mine' ] || die 'the upgrade replaced the config'
sandkeeper version >/dev/null
say "upgraded to $(dpkg-query -f '${Version}' -W sandkeeper)"
dpkg -i --force-downgrade --force-confold /tmp/this.deb >/dev/null 2>&1
say "back at $(dpkg-query -f '${Version}' -W sandkeeper)"

dpkg -r sandkeeper >/dev/null
[ ! -e /usr/bin/sandkeeper ] || die 'the program is still there'
[ -e /etc/sandkeeper/environment ] && [ -e /etc/sandkeeper/sandkeeper.yaml ] || die 'a removal took the config'
say 'removed; the config is kept'
dpkg -P sandkeeper >/dev/null
left=$(files)
[ "$left" = "$before" ] || die "a purge leaves: $left"
say 'purged; nothing is left'
