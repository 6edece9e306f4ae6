package deploy

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// keptConfig is the config of the pods, but for the address of the provider.
const keptConfig = `installation: cluster
mode: enforce
proof: off
database: ${DATABASE_URL}
schedule: {quick: "${SANDKEEPER_QUICK:-@every 1s}", full: "${SANDKEEPER_FULL:-@every 2s}"}
tasks:
  database: ${TASKS_DATABASE_URL}
  table: public.jobs
  columns: {id: id, status: status, sandbox: box, created_at: created_at, updated_at: updated_at, started_at: started_at}
  statuses: {pending: [queued], running: [running], completed: [done], failed: [failed]}
  fail: {status: failed, set: {error: "@reason"}}
providers:
  - name: cloud
    kind: daytona
    url: %q
    token: ${DAYTONA_API_KEY}
    owns: {labels: {project: jobs}, exclusive: true}
    link: {task_label: job}
    rate: 50/s
rules:
  orphan: {mode: enforce, after: 30s, sightings: 2, apart: 1s}
  sandbox-missing: enforce
limits: {per_pass: 1000, share: 100%%, breaker: 100%%, per_hour: 100000}
web: {listen: ":9595", hosts: [sandkeeper], config_file: /etc/sandkeeper-web/web.yml}
log: {level: info, format: json}
retention: 30d
`

// A site is a namespace of a real cluster, with the platform whose tasks and sandboxes are outside of it.
type site struct {
	*cluster
	cloud *simulated.World
	db    *pgx.Conn
	boxes []string // that jobs work in
}

// TestEngineRuns runs what the chart comes to, in a real cluster with its own image: the schema is migrated by the Job,
// the CronJob's pod makes passes and is no failure while the provider is down, and three replicas of the daemon end what
// leaks while they are rolled out anew.
func TestEngineRuns(t *testing.T) {
	if *clusterAt == "" {
		t.Skip("it needs a cluster and nobody gave one: make test-engine-kubernetes")
	}
	s := newSite(t)
	s.loadImage()
	go s.bind(t.Context())
	s.install("cronjob")
	s.kubectl("", s.in("patch", "cronjob", "sandkeeper-once", "-p", `{"spec": {"suspend": true}}`)...)
	s.runOnce("first")
	leak := s.leak()
	s.runOnce("seen")
	s.runOnce("ended")
	s.gone("by the CronJob", leak)
	s.outage()
	s.kubectl("", s.in("delete", "cronjob,deployment,job", "--all", "--wait=true")...)
	s.install("deployment")
	s.rolledOut()
	s.replaced()
	s.harmless()
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{cluster: newCluster(t), cloud: simulated.New(simulated.Options{})}
	node := s.kubectl("", "get", "node", "node", "-o", `jsonpath={.status.addresses[?(@.type=="InternalIP")].address}`)
	server := httptest.NewUnstartedServer(daytonatest.New(s.cloud, daytonatest.Options{}))
	server.Listener.Close()
	server.Listener = s.listen(node)
	server.Start()
	t.Cleanup(server.Close)
	dsn := s.reachable(pgtest.Database(t), node)
	var err error
	if s.db, err = pgx.Connect(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close(context.WithoutCancel(t.Context())) })
	s.sql(`CREATE TABLE jobs (id text PRIMARY KEY, status text NOT NULL, box text, created_at timestamptz NOT NULL DEFAULT now(),
		updated_at timestamptz NOT NULL DEFAULT now(), started_at timestamptz, error text)`)
	for i := range 5 {
		s.boxes = append(s.boxes, s.box(fmt.Sprint("job-", i)))
		s.sql("INSERT INTO jobs (id, status, box, started_at) VALUES ($1, 'running', $2, now())", fmt.Sprint("job-", i), s.boxes[i])
	}
	s.kubectl("apiVersion: v1\nkind: Namespace\nmetadata: {name: keeper, labels: {pod-security.kubernetes.io/enforce: restricted}}\n",
		"apply", "-f", "-")
	for _, name := range []string{"sandkeeper", "sandkeeper-owner", "sandkeeper-reader"} {
		s.kubectl("", s.in("create", "secret", "generic", name, "--from-literal=DATABASE_URL="+dsn,
			"--from-literal=TASKS_DATABASE_URL="+dsn, "--from-literal=DAYTONA_API_KEY=key")...)
	}
	s.kubectl("", s.in("create", "secret", "generic", "sandkeeper-web", "--from-literal=web.yml="+webUsers)...)
	config := filepath.Join(t.TempDir(), "sandkeeper.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, keptConfig, server.URL+"/api"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.kubectl("", s.in("create", "configmap", "kept", "--from-file=sandkeeper.yaml="+config)...)
	return s
}

func (s *site) in(args ...string) []string { return append([]string{"-n", "keeper"}, args...) }

func (s *site) sql(text string, args ...any) {
	s.Helper()
	if _, err := s.db.Exec(s.Context(), text, args...); err != nil {
		s.Fatal(err)
	}
}

func (s *site) box(job string) string {
	return s.cloud.Put(simulated.Sandbox{CreatedAt: time.Now().Add(-time.Hour),
		Labels: map[string]string{"project": "jobs", "job": job}}).ID
}

// leak puts a sandbox that no job is of.
func (s *site) leak() string { return s.box("job-that-never-was") }

// listen listens where pods reach this machine.
func (s *site) listen(node string) net.Listener {
	s.Helper()
	l, err := (&net.ListenConfig{}).Listen(s.Context(), "tcp", net.JoinHostPort(node, "0"))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { l.Close() })
	return l
}

// reachable is a database under an address that pods reach: PostgreSQL itself listens for this machine alone.
func (s *site) reachable(dsn, node string) string {
	s.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		s.Fatal(err)
	}
	l := s.listen(node)
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go pipe(s.Context(), from, network, address)
		}
	}()
	u := url.URL{Scheme: "postgres", User: url.UserPassword(config.User, "x"), Host: l.Addr().String(), Path: config.Database,
		RawQuery: "sslmode=disable"}
	return u.String()
}

// pipe joins a connection with one to an address until one of both ends.
func pipe(ctx context.Context, from net.Conn, network, address string) {
	defer from.Close()
	to, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return
	}
	defer to.Close()
	go func() { defer to.Close(); _, _ = io.Copy(to, from) }()
	_, _ = io.Copy(from, to)
}

// loadImage builds the image by the line of a release and gives it to the node under the name that the chart has.
func (s *site) loadImage() {
	s.Helper()
	s.command("..", "make", "--no-print-directory", "image", "VERSION=v1", "ARCHES="+runtime.GOARCH)
	ctr := []string{"-a", filepath.Join(s.folder, "containerd.sock"), "-n", "k8s.io", "images"}
	s.command("..", "ctr", append(ctr, "import", "bin/image.tar")...)
	s.command("..", "ctr", append(ctr, "tag", "docker.io/library/sandkeeper:v1", "registry.example.com/sandkeeper:v1")...)
}

func (s *site) command(dir, name string, args ...string) {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// bind gives pods to the only node, as a scheduler would.
func (s *site) bind(ctx context.Context) {
	config := filepath.Join(s.folder, "kubeconfig")
	for ; ctx.Err() == nil; time.Sleep(300 * time.Millisecond) {
		out, _ := exec.CommandContext(ctx, "kubectl", "--kubeconfig", config, "-n", "keeper", "get", "pods", "--field-selector", "spec.nodeName=",
			"-o", "jsonpath={.items[*].metadata.name}").Output()
		for pod := range strings.FieldsSeq(string(out)) {
			cmd := exec.CommandContext(ctx, "kubectl", "--kubeconfig", config, "create", "--raw",
				"/api/v1/namespaces/keeper/pods/"+pod+"/binding", "-f", "-")
			cmd.Stdin = strings.NewReader(`{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "` + pod +
				`"}, "target": {"apiVersion": "v1", "kind": "Node", "name": "node"}}`)
			_ = cmd.Run() // one that went meanwhile
		}
	}
}

// install applies what Helm makes of the chart, with a config of its own, and waits for the migration.
func (s *site) install(name string) {
	s.Helper()
	text := strings.ReplaceAll(read(s.T, "testdata/chart/"+name+".yaml"), "configMap: {name: sandkeeper}", "configMap: {name: kept}")
	s.kubectl(text, s.in("apply", "-f", "-")...)
	s.done("sandkeeper-migrate-1")
}

// runOnce runs the CronJob's pod as its minute would, which must not fail.
func (s *site) runOnce(name string) {
	s.Helper()
	s.kubectl("", s.in("create", "job", name, "--from=cronjob/sandkeeper-once")...)
	s.done(name)
}

// done waits until a Job has done its work.
func (s *site) done(job string) {
	s.Helper()
	s.until("the end of the Job "+job, func() bool {
		return s.kubectl("", s.in("get", "job", job, "-o", `jsonpath={.status.conditions[?(@.status=="True")].type}`)...) != ""
	})
	if got := s.kubectl("", s.in("get", "job", job, "-o", "jsonpath={.status.succeeded}")...); got != "1" {
		s.Fatalf("the Job %s failed:\n%s", job, s.kubectl("", s.in("logs", "-l", "job-name="+job, "--tail=20")...))
	}
}

func (s *site) until(what string, met func() bool) {
	s.Helper()
	for end := time.Now().Add(3 * time.Minute); !met(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("waited for %s in vain:\n%s", what, s.kubectl("", s.in("get", "pods")...)+
				s.kubectl("", s.in("logs", "-l", "app.kubernetes.io/name=sandkeeper", "--tail=10")...))
		}
	}
}

func (s *site) isGone(box string) bool {
	now, known := s.cloud.Sandbox(box)
	return !known || now.Gone
}

func (s *site) gone(what string, boxes ...string) {
	s.Helper()
	for _, box := range boxes {
		s.until("the end of a leak "+what, func() bool { return s.isGone(box) })
	}
}

// outage takes the provider away: the pass says so, and its Job is done nevertheless.
func (s *site) outage() {
	s.Helper()
	lift := s.cloud.Inject(simulated.Fault{Effect: simulated.Answer, Status: 503})
	defer lift()
	s.runOnce("outage")
	if said := s.kubectl("", s.in("logs", "job/outage")...); !strings.Contains(said, "503") {
		s.Errorf("the pass of an outage says nothing of it:\n%s", said)
	}
}

// rolledOut waits until all replicas are ready.
func (s *site) rolledOut() {
	s.Helper()
	s.kubectl("", s.in("rollout", "status", "deployment/sandkeeper", "--timeout=180s")...)
}

// replaced rolls all replicas out anew while they end what leaks: each leak is ended, by one call.
func (s *site) replaced() {
	s.Helper()
	s.cloud.Inject(simulated.Fault{On: simulated.Delete, Delay: 400 * time.Millisecond})
	var leaks []string
	for range 60 {
		leaks = append(leaks, s.leak())
	}
	s.until("the first of many ends", func() bool { return len(s.cloud.Destructive()) > 1 })
	s.kubectl("", s.in("rollout", "restart", "deployment/sandkeeper")...)
	s.rolledOut()
	s.gone("beside a rollout", leaks...)
	calls := map[string]int{}
	for _, c := range s.cloud.Destructive() {
		calls[c.ID]++
	}
	for _, leak := range leaks {
		if calls[leak] != 1 {
			s.Errorf("%s was ended by %d calls", leak, calls[leak])
		}
	}
}

// harmless holds that nothing happened to those who work.
func (s *site) harmless() {
	s.Helper()
	for _, box := range s.boxes {
		if s.isGone(box) {
			s.Errorf("%s is gone, and its job runs", box)
		}
	}
	var failed int
	if err := s.db.QueryRow(s.Context(), "SELECT count(*) FROM jobs WHERE status <> 'running'").Scan(&failed); err != nil || failed > 0 {
		s.Errorf("%d jobs are over, error %v", failed, err)
	}
}
