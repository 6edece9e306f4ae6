#!/bin/sh
# Makes sure that what the tests and the demo need is on this machine: Go, a C compiler
# for the race detector (with --race) and the server binaries of PostgreSQL. It says
# nothing when nothing is missing, installs Debian packages when it is root on Debian,
# and otherwise says what to install.
#
#   tools/setup.sh [--race]
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

need_compiler() {
	has_compiler && return
	can_install || die 'no C compiler for the race detector: install gcc and the C library headers'
	install_packages gcc libc6-dev
}

need_postgres() {
	has_postgres && return
	can_install || die "no PostgreSQL server binaries (initdb, postgres): install your system's" \
		'package of the PostgreSQL server (Debian, Ubuntu: postgresql; Fedora: postgresql-server;' \
		'Homebrew: postgresql@17) or set SANDKEEPER_TEST_DATABASE_URL to a server that may be filled'
	install_packages postgresql
	has_postgres || die 'PostgreSQL was installed, yet initdb and postgres are not under /usr/lib/postgresql'
}

need_go
[ "${1:-}" != --race ] || need_compiler
need_postgres
