#!/bin/sh
# Makes sure that what the tests and the demo need is on this machine: Go, the server
# binaries of PostgreSQL and, with --tests, a C compiler for the race detector, Chromium,
# Prometheus, Alertmanager and PgBouncer. It says nothing when nothing is missing, installs Debian packages when it
# is root on Debian, and otherwise says what to install.
#
#   tools/setup.sh [--tests]
set -eu

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# can_install: packages are only ever installed where nobody has to be asked.
can_install() {
	[ "$(id -u)" = 0 ] && [ -f /etc/debian_version ] && command -v apt-get >/dev/null 2>&1
}

# apt_get runs quietly; what it printed is shown only when it failed.
apt_get() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" \
		</dev/null >>"$log" 2>&1
}

# install_packages refreshes the package lists only when the ones at hand do not do.
install_packages() {
	say "installing $*"
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	apt_get install --no-install-recommends "$@" && return
	if ! { apt_get update && apt_get install --no-install-recommends "$@"; }; then
		cat "$log" >&2
		die "apt-get could not install $*: see its words above"
	fi
}

has_postgres_in() {
	[ -x "$1/initdb" ] && [ -x "$1/postgres" ]
}

# has_postgres looks where store/pgtest looks: a server that was given, the PATH, and
# where packages put the server's programs. Keep the two lists alike.
has_postgres() {
	[ -n "${SANDKEEPER_TEST_DATABASE_URL:-}" ] && return
	command -v initdb >/dev/null 2>&1 && command -v postgres >/dev/null 2>&1 && return
	for dir in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/lib64/pgsql/bin /usr/local/pgsql/bin \
		/opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin \
		/Applications/Postgres.app/Contents/Versions/*/bin; do
		has_postgres_in "$dir" && return
	done
	return 1
}

# has_chromium knows the names that the tests' browser driver looks for.
has_chromium() {
	for name in headless_shell headless-shell chromium chromium-browser google-chrome google-chrome-stable chrome; do
		command -v "$name" >/dev/null 2>&1 && return
	done
	[ -d /Applications/Chromium.app ] || [ -d '/Applications/Google Chrome.app' ]
}

has_promtool() {
	command -v promtool >/dev/null 2>&1
}

has_alertmanager() {
	command -v amtool >/dev/null 2>&1 &&
		{ command -v prometheus-alertmanager >/dev/null 2>&1 || command -v alertmanager >/dev/null 2>&1; }
}

has_pgbouncer() {
	command -v pgbouncer >/dev/null 2>&1 || [ -x /usr/sbin/pgbouncer ]
}

has_compiler() {
	case $(go env CC) in
	*/*) [ -x "$(go env CC)" ] ;;
	*) command -v "$(go env CC)" >/dev/null 2>&1 ;;
	esac
}

need_go() {
	command -v go >/dev/null 2>&1 && return
	die 'Go is not on the PATH: install Go 1.26 or later from https://go.dev/dl/'
}

# need notes what is missing: a name, as in has_NAME, and the Debian packages that have it.
need() {
	"has_$1" && return
	missing="$missing $1"
	shift
	packages="$packages $*"
}

# how says in words how to get one thing where nothing can be installed.
how() {
	case $1 in
	compiler) say 'no C compiler for the race detector: install gcc and the C library headers' ;;
	postgres) say "no PostgreSQL server binaries (initdb, postgres): install your system's package of the" \
		'PostgreSQL server (Debian, Ubuntu: postgresql; Fedora: postgresql-server; Homebrew:' \
		'postgresql@17) or set SANDKEEPER_TEST_DATABASE_URL to a server that may be filled' ;;
	chromium) say 'no Chromium for the test of the page: install chromium or Google Chrome' ;;
	promtool) say 'no promtool for the tests of the alerts: install Prometheus' \
		'(Debian, Ubuntu, Homebrew: prometheus)' ;;
	alertmanager) say 'no Alertmanager for the tests of the alerts: install it with amtool' \
		'(Debian, Ubuntu: prometheus-alertmanager; Homebrew: alertmanager)' ;;
	pgbouncer) say 'no PgBouncer for the tests of what is behind one: install it (Debian, Ubuntu, Homebrew: pgbouncer)' ;;
	esac
}

# quiet_servers: only the programs are wanted. Debian's packages also start servers, which on
# a machine with systemd would stay.
quiet_servers() {
	[ -d /run/systemd/system ] || return 0
	systemctl disable --now "$@" >/dev/null 2>&1 ||
		say "installed for tests; stop their servers if they run: systemctl disable --now $*"
}

# install_missing gets all that is missing in one go, and looks again.
install_missing() {
	can_install || { for thing in $missing; do how "$thing"; done; exit 1; }
	# shellcheck disable=SC2086 # one word a package
	install_packages $packages
	case " $missing " in *' promtool '* | *' alertmanager '*) quiet_servers prometheus prometheus-alertmanager ;; esac
	case " $missing " in *' pgbouncer '*) quiet_servers pgbouncer ;; esac
	for thing in $missing; do
		"has_$thing" || die "$thing was not found after its package was installed:$packages"
	done
}

need_go
missing='' packages=''
need postgres postgresql
if [ "${1:-}" = --tests ]; then
	need compiler gcc libc6-dev
	need chromium chromium
	need promtool prometheus
	need alertmanager prometheus-alertmanager
	need pgbouncer pgbouncer
fi
[ -z "$missing" ] || install_missing
