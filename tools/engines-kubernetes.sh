#!/bin/sh
# A real Kubernetes cluster of one node on this machine: etcd, API server, controllers and
# kubelet built from Go modules and kept in a cache, containerd and CNI from the system,
# one image made of busybox. No registry, no internet but the module proxy. For the tests.
#
#   tools/engines-kubernetes.sh build       build what is not in the cache yet (minutes)
#   tools/engines-kubernetes.sh up DIR      start a cluster in an empty folder; its kubeconfig
#                                           is DIR/kubeconfig, its image docker.io/library/bb:2, and
#                                           janitortoken the token of a user without any rights
#   tools/engines-kubernetes.sh down DIR    end it, and what ran in it
#   tools/engines-kubernetes.sh run COMMAND [ARG...]
#                                           all of it around COMMAND ARG... -kubernetes DIR
#
# SANDKEEPER_ENGINES is the cache, PORT the first of five ports (23790).
set -eu

version=1.36.3
etcd_version=3.6.16
cache=${SANDKEEPER_ENGINES:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/sandkeeper-engines}/kubernetes-$version
port=${PORT:-23790}
PATH=$PATH:/usr/sbin:/sbin

say() { printf 'engines: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# needs says, or installs where nobody has to be asked, what comes from the system.
needs() {
	missing=
	for pair in containerd:containerd runc:runc ctr:containerd busybox:busybox-static openssl:openssl ip:iproute2; do
		command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
	done
	[ -x /usr/lib/cni/bridge ] || missing="$missing containernetworking-plugins"
	[ "$(id -u)" = 0 ] || die "a node must run as root"
	[ -n "$missing" ] || return 0
	[ -f /etc/debian_version ] || die "install$missing"
	say "installing$missing"
	DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends $missing \
		</dev/null >&2 || die "apt-get could not install$missing: see its words above"
}

# kubernetes_module makes a scratch module: the programs cannot be installed by name, because their
# module replaces others.
kubernetes_module() {
	mkdir -p stub
	printf 'module k8s.io/sample-cli-plugin\n\ngo 1.26.0\n' >stub/go.mod # this one cannot be fetched, and is not needed
	mod=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
	[ -n "$mod" ] || die "cannot fetch the module k8s.io/kubernetes@v$version"
	{
		printf 'module scratch\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes v%s\n\nreplace (\n' "$version"
		sed -n 's/^[[:space:]]*\(k8s\.io\/[a-z-]*\) => .*/\1/p' "$mod" | while read -r m; do
			if [ "$m" = k8s.io/sample-cli-plugin ]; then echo "$m => ./stub"; else echo "$m => $m v0.${version#1.}"; fi
		done
		echo ')'
	} >go.mod
	{
		printf '//go:build tools\n\npackage tools\n\nimport (\n'
		for cmd in kube-apiserver kube-controller-manager kubelet; do printf '\t_ "k8s.io/kubernetes/cmd/%s"\n' $cmd; done
		echo ')'
	} >tools.go
	go mod tidy >&2
}

build() (
	mkdir -p "$cache/bin"
	export CGO_ENABLED=0 GOFLAGS=-mod=mod GOWORK=off
	if [ ! -x "$cache/bin/etcd" ]; then
		mkdir -p "$cache/etcd-module" && cd "$cache/etcd-module"
		printf 'module scratch\n\ngo 1.26.0\n' >go.mod
		go get "go.etcd.io/etcd/server/v3@v$etcd_version" >&2
		say "building etcd"
		nice -n 19 go build -p 1 -ldflags '-s -w' -o "$cache/bin/etcd.new" go.etcd.io/etcd/server/v3
		mv "$cache/bin/etcd.new" "$cache/bin/etcd"
	fi
	for p in kube-apiserver kube-controller-manager kubelet; do
		[ -x "$cache/bin/$p" ] && continue
		mkdir -p "$cache/module" && cd "$cache/module"
		[ -f go.sum ] || kubernetes_module
		say "building $p (minutes, once)"
		stamp=k8s.io/component-base/version.git
		nice -n 19 go build -p 1 -o "$cache/bin/$p.new" \
			-ldflags "-s -w -X ${stamp}Version=v$version -X ${stamp}Major=1 -X ${stamp}Minor=36" "k8s.io/kubernetes/cmd/$p"
		mv "$cache/bin/$p.new" "$cache/bin/$p"
	done
)

# image makes an image of busybox as an archive, as `docker save` would.
image() {
	root=$d/image/rootfs
	mkdir -p "$root/bin" "$root/etc" "$root/tmp" "$root/root"
	cp "$(command -v busybox)" "$root/bin/busybox"
	for applet in $("$root/bin/busybox" --list); do
		[ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
	done
	chmod 1777 "$root/tmp"
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	tar -C "$root" --numeric-owner --owner=0 --group=0 -cf "$d/image/layer.tar" .
	diff=$(sha256sum "$d/image/layer.tar" | cut -d' ' -f1)
	arch=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
	cat >"$d/image/config.json" <<-END
	{"architecture":"$arch","os":"linux","config":{"Env":["PATH=/bin"],"Cmd":["/bin/sleep","1000000"]},
	 "rootfs":{"type":"layers","diff_ids":["sha256:$diff"]}}
	END
	printf '[{"Config":"config.json","RepoTags":["docker.io/library/bb:2"],"Layers":["layer.tar"]}]' >"$d/image/manifest.json"
	tar -C "$d/image" -cf "$d/image.tar" manifest.json config.json layer.tar
	rm -rf "$d/image"
}

configs() {
	mkdir -p "$d/cni" "$d/logs" "$d/certs" "$d/manifests"
	cat >"$d/containerd.toml" <<-END
	version = 2
	root = "$d/containerd"
	state = "$d/run"
	[grpc]
	  address = "$d/containerd.sock"
	[plugins."io.containerd.grpc.v1.cri"]
	  sandbox_image = "docker.io/library/bb:2"
	  restrict_oom_score_adj = true
	  stream_server_address = "127.0.0.1"
	  stream_server_port = "$((port + 4))"
	  [plugins."io.containerd.grpc.v1.cri".cni]
	    bin_dir = "/usr/lib/cni"
	    conf_dir = "$d/cni"
	END
	cat >"$d/cni/10-test.conflist" <<-END
	{"cniVersion":"0.4.0","name":"sandkeeper-test","plugins":[{"type":"bridge","bridge":"sktest0","isGateway":true,
	 "ipam":{"type":"host-local","dataDir":"$d/ipam","ranges":[[{"subnet":"10.231.0.0/16"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
	END
	openssl genrsa -out "$d/sa.key" 2048 2>/dev/null
	printf 'admintoken,admin,admin,"system:masters"\njanitortoken,janitor,janitor\n' >"$d/tokens.csv"
	cat >"$d/kubeconfig" <<-END
	apiVersion: v1
	kind: Config
	clusters: [{name: c, cluster: {server: "https://127.0.0.1:$((port + 2))", insecure-skip-tls-verify: true}}]
	users: [{name: admin, user: {token: admintoken}}]
	contexts: [{name: c, context: {cluster: c, user: admin}}]
	current-context: c
	END
	cat >"$d/kubelet.yaml" <<-END
	apiVersion: kubelet.config.k8s.io/v1beta1
	kind: KubeletConfiguration
	authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
	authorization: {mode: AlwaysAllow}
	address: $node
	port: $((port + 3))
	healthzPort: 0
	readOnlyPort: 0
	cgroupDriver: cgroupfs
	failCgroupV1: false
	failSwapOn: false
	enforceNodeAllocatable: []
	localStorageCapacityIsolation: false
	makeIPTablesUtilChains: false
	podLogsDir: $d/pods
	containerRuntimeEndpoint: unix://$d/containerd.sock
	staticPodPath: $d/manifests
	resolvConf: /dev/null
	nodeStatusReportFrequency: 10s
	evictionHard: {memory.available: "0%", nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%"}
	END
}

# start runs a program in the background; its words go to a file of its name.
start() {
	name=$1
	shift
	setsid "$@" >"$d/logs/$name" 2>&1 </dev/null &
	echo $! >>"$d/pids"
}

# soon waits until a command ends well.
soon() {
	what=$1
	shift
	n=0
	until "$@" >/dev/null 2>&1; do
		n=$((n + 1))
		[ $n -lt 600 ] || die "$what did not come up: see $d/logs"
		sleep 0.1
	done
}

ask() {
	curl -skf --noproxy '*' -H 'Authorization: Bearer admintoken' "https://127.0.0.1:$((port + 2))$1"
}

node_ready() { ask /api/v1/nodes/node | grep -A6 '"type": "Ready"\|"reason": "KubeletReady"' | grep -q KubeletReady; }

up() {
	d=$1
	mkdir -p "$d"
	d=$(cd "$d" && pwd)
	[ -z "$(ls -A "$d")" ] || die "$d is not empty"
	node=$(ip -4 -o addr show scope global | sed -n 's/.* inet \([0-9.]*\).*/\1/p' | head -n 1)
	[ -n "$node" ] || die "this machine has no address besides 127.0.0.1, which a node needs"
	image
	configs
	start containerd containerd --config "$d/containerd.toml"
	start etcd "$cache/bin/etcd" --data-dir "$d/etcd" --unsafe-no-fsync \
		--listen-client-urls "http://127.0.0.1:$port" --advertise-client-urls "http://127.0.0.1:$port" \
		--listen-peer-urls "http://127.0.0.1:$((port + 1))" --initial-advertise-peer-urls "http://127.0.0.1:$((port + 1))" \
		--initial-cluster "default=http://127.0.0.1:$((port + 1))"
	start apiserver "$cache/bin/kube-apiserver" --etcd-servers="http://127.0.0.1:$port" --bind-address=127.0.0.1 \
		--secure-port="$((port + 2))" --cert-dir="$d/certs" --service-account-issuer=https://kubernetes.test \
		--service-account-key-file="$d/sa.key" --service-account-signing-key-file="$d/sa.key" \
		--authorization-mode=RBAC --token-auth-file="$d/tokens.csv" --service-cluster-ip-range=10.232.0.0/24 \
		--disable-admission-plugins=ServiceAccount,TaintNodesByCondition --kubelet-preferred-address-types=InternalIP \
		${APISERVER_FLAGS:-}
	soon "the API server" ask /readyz
	start controllers "$cache/bin/kube-controller-manager" --kubeconfig "$d/kubeconfig" --leader-elect=false --secure-port=0 \
		--controllers=garbage-collector-controller,pod-garbage-collector-controller,namespace-controller,job-controller,cronjob-controller,deployment-controller,replicaset-controller
	soon containerd ctr -a "$d/containerd.sock" version
	ctr -a "$d/containerd.sock" -n k8s.io images import "$d/image.tar" >/dev/null
	start kubelet "$cache/bin/kubelet" --config "$d/kubelet.yaml" --kubeconfig "$d/kubeconfig" --root-dir "$d/kubelet" \
		--hostname-override=node --node-ip="$node"
	soon "the node" node_ready
}

# down ends the programs that up started and what they left: containers, mounts, a bridge.
down() {
	d=$(cd "$1" && pwd)
	[ -f "$d/pids" ] || die "$d holds no cluster"
	# The newest first, so that nothing is started anew; what was stopped on purpose goes on.
	for pid in $(sed -n '1!G;h;$p' "$d/pids"); do
		[ "$(head -n 1 "$d/pids")" = "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
	done
	shims=$(grep -lsa "containerd-shim.*$d/containerd.sock" /proc/[0-9]*/cmdline | cut -d/ -f3)
	for pid in $shims; do kill -CONT "$pid" 2>/dev/null || true; done
	for task in $(timeout 10 ctr -a "$d/containerd.sock" -n k8s.io tasks ls -q 2>/dev/null); do
		timeout 10 ctr -a "$d/containerd.sock" -n k8s.io tasks rm -f "$task" >/dev/null 2>&1 || true
	done
	for pid in $shims $(head -n 1 "$d/pids"); do kill -KILL "$pid" 2>/dev/null || true; done
	sleep 0.3
	for mount in $(awk -v d="$d/" 'index($2, d) == 1 { print $2 }' /proc/mounts | sort -r); do
		umount -l "$mount" 2>/dev/null || true
	done
	ip link del sktest0 2>/dev/null || true
	rm -rf "$d"
}

# run ends the cluster however the command ends.
run() {
	where=$(mktemp -d /tmp/sandkeeper-cluster.XXXXXX)
	trap 'down "$where"' EXIT
	trap 'exit 130' INT TERM
	up "$where"
	result=0
	"$@" -kubernetes "$where" || result=$?
	[ "$result" = 0 ] || { say 'the last words of the node:'; tail -n 5 "$where/logs/kubelet" >&2; }
	return "$result"
}

case "${1:-}" in
run) shift; [ $# -gt 0 ] || die "run COMMAND [ARG...]"; needs; build; run "$@" ;;
build) needs; build ;;
up) needs; build; up "${2:?up DIR}" ;;
down) down "${2:?down DIR}" ;;
*) sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
