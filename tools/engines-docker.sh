#!/bin/sh
# Starts a Docker engine, and Podman's service beside it, that belong to nobody else: in a
# scratch folder, with their own sockets. Runs a command with their addresses added to it,
# then takes everything down again. It needs root; on Debian it installs what is missing.
#
#   tools/engines-docker.sh COMMAND [ARG...]     runs COMMAND ARG... -docker ADDRESS -podman ADDRESS
#
# Podman is left out, and said to be, where it does not come up.
set -eu

say() { printf 'engines: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

[ "$#" -gt 0 ] || die 'usage: tools/engines-docker.sh COMMAND [ARG...]'
[ "$(id -u)" = 0 ] || die 'an engine of its own needs root: run it as root, or give the test the address of one'
export PATH="$PATH:/usr/sbin:/sbin"

# install gets the packages that have a program that is not here.
install() {
	missing=''
	for pair in dockerd:docker.io containerd:containerd runc:runc busybox:busybox-static iptables:iptables podman:podman; do
		command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
	done
	[ -x /bin/busybox ] && ! ldd /bin/busybox >/dev/null 2>&1 || missing="$missing busybox-static"
	[ -n "$missing" ] || return 0
	[ -f /etc/debian_version ] || die "missing:$missing; install what has them (names are Debian's packages)"
	say "installing$missing"
	log=$(mktemp)
	# A policy that refuses: services of the packages do not start by themselves.
	for step in update "install --no-install-recommends$missing"; do
		# shellcheck disable=SC2086 # words of a command
		DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -y -o DPkg::Lock::Timeout=300 $step </dev/null >>"$log" 2>&1 ||
			{ cat "$log" >&2; die "apt-get could not: $step"; }
	done
	rm -f "$log"
}

install
at=$(mktemp -d /tmp/sandkeeper-engines.XXXXXX)
docker='' podman=''

# down ends the engines, each by the id that it was started with, and removes their folder.
down() {
	trap - EXIT INT TERM
	for pid in $docker $podman; do kill "$pid" 2>/dev/null || :; done
	for pid in $docker $podman; do wait "$pid" 2>/dev/null || :; done
	awk -v at="$at/" 'index($2, at) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do
		umount -l "$mount" 2>/dev/null || :
	done
	rm -rf "$at" 2>/dev/null || say "could not remove $at"
}
trap down EXIT
trap 'exit 130' INT TERM

# answers waits up to 30 seconds for a socket.
answers() {
	tries=0
	until [ -S "$1" ]; do
		kill -0 "$2" 2>/dev/null || return 1
		tries=$((tries + 1))
		[ "$tries" -lt 300 ] || return 1
		sleep 0.1
	done
}

# No bridge and no rules: containers have no network, and the machine's stays as it is.
dockerd --host="unix://$at/docker.sock" --data-root="$at/docker" --exec-root="$at/exec" --pidfile="$at/docker.pid" \
	--iptables=false --ip-forward=false --bridge=none --storage-driver=vfs >"$at/docker.log" 2>&1 &
docker=$!
answers "$at/docker.sock" "$docker" || { tail -20 "$at/docker.log" >&2; die 'dockerd did not start: see its words above'; }
set -- "$@" -docker "unix://$at/docker.sock"

cat >"$at/containers.conf" <<-'CONF'
	[containers]
	default_ulimits=["nofile=10000:20000","nproc=10000:20000"]
	[engine]
	cgroup_manager="cgroupfs"
	events_logger="file"
	runtime="runc"
CONF
# Its monitors leave a file "oom" in the folder that they run in.
(cd "$at" && CONTAINERS_CONF="$at/containers.conf" exec podman --root "$at/podman" --runroot "$at/run" \
	--storage-driver vfs system service --time=0 "unix://$at/podman.sock") >"$at/podman.log" 2>&1 &
podman=$!
if answers "$at/podman.sock" "$podman"; then
	set -- "$@" -podman "unix://$at/podman.sock"
else
	say "Podman did not start, and is left out: $(tail -1 "$at/podman.log")"
fi

status=0
"$@" || status=$?
[ "$status" = 0 ] || { say 'the last words of dockerd:'; tail -5 "$at/docker.log" >&2; }
exit "$status"
