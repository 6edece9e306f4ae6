package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

var (
	dockerAt = flag.String("docker", "", "address of a Docker engine that may be filled; tools/engines-docker.sh starts one")
	podmanAt = flag.String("podman", "", "address of a Podman service that may be filled")
)

// TestEngineDocker makes real containers, breaks them in every way that is known, and lets the
// real janitor judge and repair them.
func TestEngineDocker(t *testing.T) {
	if *dockerAt == "" && *podmanAt == "" {
		t.Skip("it needs an engine and nobody gave one: make test-engine-docker")
	}
	turn := make(chan struct{}, 1) // one engine after the other: both are busy enough
	for name, at := range map[string]string{"docker": *dockerAt, "podman": *podmanAt} {
		if at == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			a := newArena(t, settings{})
			turn <- struct{}{}
			t.Cleanup(func() { <-turn })
			repairs(a.dock(at, name == "podman"))
		})
		if name == "podman" {
			continue // the first is enough
		}
		t.Run(name+" catches a canary", func(t *testing.T) {
			a := newArena(t, settings{})
			turn <- struct{}{}
			t.Cleanup(func() { <-turn })
			caught(a.dock(at, false))
		})
	}
}

// A dock is an engine with containers of a platform, and the arena of its tasks.
type dock struct {
	*arena
	engine *client.Client
	podman bool
	url    string
	cases  []*berth
	shims  []int // stopped processes
}

// A berth is one container, the task it is for, and what has to become of both.
type berth struct {
	ailment
	name, id, task, key string
}

// dock is the arena with an engine in place of its cloud.
func (a *arena) dock(at string, podman bool) *dock {
	a.Helper()
	c, err := client.New(client.WithHost(at))
	if err != nil {
		a.Fatal(err)
	}
	d := &dock{arena: a, engine: c, podman: podman, url: at}
	d.importImage()
	text := fmt.Sprintf(`installation: test
mode: enforce
proof: off
database: %q
tasks: {preset: omoios}
providers:
  - name: engine
    kind: docker
    url: %q
    owns: {labels: {project: omoios}, exclusive: true}
    link: {task_label: task_id}
    rate: 1000/s
    timeout: 10s
    templates: [%q]
    probe: {exec: "true", path: /workspace, every: 11s, timeout: 10s, budget: 1000/m}
rules:
  idle-broken: {after: 8s, failures: 2}
  orphan: {after: 30s, sightings: 2, apart: 1s}
  provisioning-stuck: {after: 15s}
  systemic: {count: 100} # they break all at once, and each for a reason of its own
limits: {per_pass: 100, per_hour: 1000, share: 100%%, breaker: 100%%}
log: {level: warn}
`, d.dsn, at, image)
	if err := os.WriteFile(d.config, []byte(text), 0o600); err != nil {
		a.Fatal(err)
	}
	return d
}

// repairs brings every ailment and enough that are well into the dock, and makes passes
// until all is as it has to be.
func repairs(d *dock) {
	for name, a := range ailments() {
		if d.podman && a.dockerOnly {
			continue
		}
		for n := range max(a.number, 1) {
			d.berth(fmt.Sprintf("%s-%d", strings.ReplaceAll(name, " ", "-"), n), a)
		}
	}
	for _, b := range d.cases {
		if b.strike != nil {
			b.strike(d, b)
		}
	}
	d.must("migrate")
	if code, out, errs := d.run("check"); code != 0 || !strings.Contains(out, "engine") {
		d.Fatalf("check: exit code %d\n%s%s", code, out, errs)
	}
	began := time.Now()
	for pass := 1; ; pass++ {
		d.beat()
		_, out, errs := d.run("once", "-o", "json", "--wait", "30s")
		left := d.left()
		if len(left) == 0 {
			d.Logf("all repaired after %d passes, %s", pass, time.Since(began).Round(time.Second))
			break
		}
		if time.Since(began) > 8*time.Minute {
			d.Fatalf("not repaired after %d passes:\n%s\nthe last report:\n%s\n%s", pass, strings.Join(left, "\n"), out, errs)
		}
		d.pass(time.Second)
	}
	d.thaw()
	const open = "SELECT count(*) FROM sandkeeper.actions WHERE closed_at IS NULL"
	for until := time.Now().Add(2 * time.Minute); d.count(open) > 0 && time.Now().Before(until); d.pass(time.Second) {
		d.beat()
		d.run("once", "-o", "json", "--wait", "30s")
	}
	for _, b := range d.cases {
		b.audit(d)
	}
	d.open()
}

// caught plants a canary in the engine, and makes passes until it is found, ended and confirmed to be gone.
func caught(d *dock) {
	text, err := os.ReadFile(d.config)
	if err != nil {
		d.Fatal(err)
	}
	text = fmt.Appendf(text, "canary: {template: %q}\n", image)
	if err := os.WriteFile(d.config, text, 0o600); err != nil {
		d.Fatal(err)
	}
	for n := range 3 { // an empty table of tasks is not believed
		d.berth(fmt.Sprintf("beside-the-canary-%d", n), ailments()["healthy"])
	}
	d.must("migrate")
	const gone = `SELECT count(*) FROM sandkeeper.canaries c JOIN sandkeeper.sandboxes s ON s.provider = c.provider AND
		s.id = c.sandbox WHERE s.gone_by_us`
	for until := time.Now().Add(8 * time.Minute); d.count(gone) == 0; d.pass(time.Second) {
		d.beat()
		_, out, errs := d.run("once", "-o", "json", "--wait", "30s")
		if _, said, _ := d.run("status"); time.Now().After(until) || strings.Contains(said, "could not be made") {
			d.Fatalf("not caught: %s\nthe last report:\n%s\n%s", said, out, errs)
		}
	}
	if _, said, _ := d.run("status"); !strings.Contains(strings.ToLower(said), "canary: caught in") {
		d.Errorf("status does not tell of it:\n%s", said)
	}
	for _, b := range d.cases {
		b.audit(d)
	}
}

// beat sends a heartbeat of every worker that has a process to send one.
func (d *dock) beat() {
	for _, b := range d.cases {
		if b.key != "" && !b.silent {
			d.event(b.key, "agent.heartbeat", time.Second)
		}
	}
}

// left says what is not yet as it has to be.
func (d *dock) left() (out []string) {
	for _, b := range d.cases {
		state, there := d.stateOf(b.id)
		if b.task != "" && b.fails {
			if status, _ := d.state(b.task); status != "failed" {
				out = append(out, fmt.Sprintf("%s: its task is %s, its container %s", b.name, status, state))
				continue
			}
		}
		if b.ends && there && !b.stuck {
			out = append(out, fmt.Sprintf("%s: its container is %s", b.name, state))
		}
	}
	return out
}

// stateOf is the engine's word for a container, and whether it is there.
func (d *dock) stateOf(id string) (string, bool) {
	found, err := d.engine.ContainerList(d.Context(), client.ContainerListOptions{All: true})
	if err != nil {
		d.Fatal(err)
	}
	for _, c := range found.Items {
		if c.ID == id {
			return string(c.State), true
		}
	}
	return "gone", false
}

// audit demands that task and container are as they have to be.
func (b *berth) audit(d *dock) {
	state, there := d.stateOf(b.id)
	if b.ends == there {
		d.Errorf("%s: its container is %s, want it gone %t", b.name, state, b.ends)
	}
	if !b.ends && b.state != "" && state != b.state {
		d.Errorf("%s: its container is %s, want it left %s", b.name, state, b.state)
	}
	if b.task == "" {
		return
	}
	status, why := d.state(b.task)
	if failed := status == "failed"; failed != b.fails || failed && !strings.Contains(why, b.reason) {
		d.Errorf("%s: its task is %s: %s; want it failed %t, because of %q", b.name, status, why, b.fails, b.reason)
	}
	if failed := status == "failed"; failed {
		d.Logf("%s: %s", b.name, why)
	}
	if !b.fails && b.outcome != "" {
		b.probed(d)
	}
}

// probed demands what the last probe of a container that was left alone came to, and that
// no probe left a file behind.
func (b *berth) probed(d *dock) {
	out := d.must("explain", b.id)
	if !strings.Contains(out, string(b.outcome)) {
		d.Errorf("%s: explain does not tell that it %s:\n%s", b.name, b.outcome, out)
	}
	if b.outcome != reconcile.Answered {
		return
	}
	if files := d.exec(b.id, "ls -A /workspace"); files != "" {
		d.Errorf("%s: probes left behind %q", b.name, files)
	}
}

// open demands that the ledger has nothing open and knows of no harm.
func (d *dock) open() {
	if n := d.count("SELECT count(*) FROM sandkeeper.actions WHERE closed_at IS NULL"); n != 0 {
		d.Errorf("%d actions are still open", n)
	}
	var ended []string
	rows, err := d.db.Query(d.Context(), `SELECT sandbox FROM sandkeeper.actions WHERE step = 'terminate'
		AND outcome = 'confirmed'`)
	if err != nil {
		d.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			d.Fatal(err)
		}
		ended = append(ended, id)
	}
	for _, b := range d.cases {
		if b.ends != slices.Contains(ended, b.id) && !b.stuck {
			d.Errorf("%s: the ledger confirmed its end %t, want %t", b.name, !b.ends, b.ends)
		}
	}
}

// remove takes a container away after the test, whoever left it.
func (d *dock) remove(id string) {
	ctx, cancel := backgroundFor(20 * time.Second)
	defer cancel()
	_, err := d.engine.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
		d.Errorf("remove container %s: %v", id, err)
	}
}
