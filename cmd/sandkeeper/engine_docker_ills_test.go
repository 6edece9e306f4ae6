package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An ailment is a way for a container to be, and what has to become of it.
type ailment struct {
	number       int    // how many; default 1
	status       string // of its task; "": it has none
	silent       bool   // its worker is not heard any more
	foreign      bool
	dockerOnly   bool
	failsToStart bool
	make         func(*dock, *container.Config, *container.HostConfig)
	strike       func(*dock, *berth)

	fails, ends bool                   // its task, its container
	stuck       bool                   // its container ends only when it is let go
	reason      string                 // on the row
	state       string                 // of a container that is left alone
	outcome     reconcile.ProbeOutcome // of its last probe, where it is left alone
}

// making changes how a container is made.
type making = func(*dock, *container.Config, *container.HostConfig)

func command(text string) making {
	return func(_ *dock, c *container.Config, _ *container.HostConfig) { c.Cmd = []string{"/bin/sh", "-c", text} }
}

// inside runs a command in it.
func inside(text string) func(*dock, *berth) {
	return func(d *dock, b *berth) { d.exec(b.id, text) }
}

// ailments are the recipes that were tried on real engines, and what is well beside them.
func ailments() map[string]ailment {
	const running = "running"
	broken := ailment{status: running, fails: true, ends: true}
	kept := ailment{status: running, state: running, outcome: reconcile.Answered}
	of := func(a ailment, change func(*ailment)) ailment { change(&a); return a }
	return map[string]ailment{
		"healthy": of(kept, func(a *ailment) { a.number = 12 }),
		"first process stopped": of(kept, func(a *ailment) {
			a.strike = func(d *dock, b *berth) { d.signal(d.pid(b.id), syscall.SIGSTOP) }
		}),
		"read-only": of(kept, func(a *ailment) {
			a.make = func(_ *dock, _ *container.Config, h *container.HostConfig) { h.ReadonlyRootfs = true }
		}),
		"starved": of(kept, func(a *ailment) {
			a.outcome, a.dockerOnly = reconcile.Infrastructure, true // Podman gives no second sample
			a.make = func(d *dock, c *container.Config, h *container.HostConfig) {
				command("while :; do :; done")(d, c, h)
				h.CPUPeriod, h.CPUQuota = 1_000_000, 1000
			}
		}),
		"paused": {status: running, state: "paused", strike: func(d *dock, b *berth) {
			if _, err := d.engine.ContainerPause(d.Context(), b.id, client.ContainerPauseOptions{}); err != nil {
				d.Fatal(err)
			}
		}},
		"foreign":      {foreign: true, state: running},
		"orphan":       {ends: true},
		"stopped task": {status: "cancelled", ends: true},
		"failed start": of(broken, func(a *ailment) {
			a.silent, a.failsToStart = true, true
			a.make = func(_ *dock, c *container.Config, _ *container.HostConfig) { c.Cmd = []string{"/bin/nothing"} }
		}),
		"exited": of(broken, func(a *ailment) { a.silent, a.make, a.reason = true, command("exit 3"), "exited" }),
		"out of memory": of(broken, func(a *ailment) {
			a.silent, a.reason = true, "exited"
			a.make = func(d *dock, c *container.Config, h *container.HostConfig) {
				command(`x=$(dd if=/dev/zero bs=1M count=64 | tr "\0" a)`)(d, c, h)
				h.Memory, h.MemorySwap = 8<<20, 8<<20
			}
		}),
		"frozen": of(broken, func(a *ailment) {
			a.dockerOnly, a.reason = true, "paused container"
			a.strike = func(d *dock, b *berth) { d.freezer(b.id, "FROZEN") }
		}),
		"shim stopped": of(broken, func(a *ailment) {
			a.dockerOnly, a.stuck, a.reason = true, true, "no answer"
			a.strike = func(d *dock, b *berth) {
				shim := d.parent(d.pid(b.id))
				d.shims = append(d.shims, shim)
				d.signal(shim, syscall.SIGSTOP)
				d.Cleanup(func() { _ = syscall.Kill(shim, syscall.SIGCONT) })
			}
		}),
		"no programs": of(broken, func(a *ailment) { a.strike, a.reason = inside("rm -rf /bin"), "/bin/sh" }),
		"no folder": of(broken, func(a *ailment) {
			a.strike, a.reason = inside("cd / && rm -rf /workspace"), "No such file or directory"
		}),
		"no mount": of(broken, func(a *ailment) {
			folder := ""
			a.make = func(d *dock, _ *container.Config, h *container.HostConfig) {
				folder = filepath.Join(d.TempDir(), "workspace")
				if err := os.Mkdir(folder, 0o755); err != nil {
					d.Fatal(err)
				}
				h.Binds = []string{folder + ":/workspace"}
			}
			a.strike = func(d *dock, _ *berth) { _ = os.RemoveAll(folder) }
			a.reason = "files of /workspace"
		}),
		"no more processes": of(broken, func(a *ailment) {
			a.reason = "exec: exit" // of the shell that cannot fork, or of what cannot make the shell
			a.make = func(d *dock, c *container.Config, h *container.HostConfig) {
				command("for i in 1 2 3; do sleep 100000 & done; exec sleep 100000")(d, c, h)
				five := int64(5)
				h.PidsLimit = &five
			}
		}),
		"full": of(broken, func(a *ailment) {
			a.make = func(_ *dock, _ *container.Config, h *container.HostConfig) {
				h.Tmpfs = map[string]string{"/workspace": "size=1m"}
			}
			a.strike, a.reason = inside("dd if=/dev/zero of=/workspace/x bs=64k 2>/dev/null"), "No space left on device"
		}),
	}
}

// pid is the first process of a container.
func (d *dock) pid(id string) int {
	d.Helper()
	c, err := d.engine.ContainerInspect(d.Context(), id, client.ContainerInspectOptions{})
	if err != nil || c.Container.State.Pid == 0 {
		d.Fatalf("inspect %s: %+v, %v", id, c.Container.State, err)
	}
	return c.Container.State.Pid
}

// parent is the process that made another one: of a container's first, its shim.
func (d *dock) parent(pid int) int {
	d.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		d.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	parent, err := strconv.Atoi(strings.Fields(rest)[1])
	if err != nil || parent <= 1 {
		d.Fatalf("process %d has parent %d, %v", pid, parent, err)
	}
	return parent
}

func (d *dock) signal(pid int, s syscall.Signal) {
	d.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		d.Fatalf("signal process %d: %v", pid, err)
	}
}

// freezer freezes a container behind its engine's back, as its host does.
func (d *dock) freezer(id, word string) {
	d.Helper()
	for path, word := range map[string]string{
		"/sys/fs/cgroup/freezer/docker/" + id + "/freezer.state": word,
		"/sys/fs/cgroup/docker/" + id + "/cgroup.freeze":         map[string]string{"FROZEN": "1", "THAWED": "0"}[word],
	} {
		if os.WriteFile(path, []byte(word), 0o600) == nil {
			return
		}
	}
	d.Fatalf("container %s has no cgroup that can be frozen", id)
}

// thaw lets go what was stuck, and waits until it is gone.
func (d *dock) thaw() {
	d.Helper()
	for _, b := range d.cases {
		if !b.stuck {
			continue
		}
		if state, there := d.stateOf(b.id); !there {
			d.Errorf("%s: its container is %s although nothing can end it", b.name, state)
			continue
		}
		d.letGo()
		for until := time.Now().Add(3 * time.Minute); ; d.pass(500 * time.Millisecond) {
			if _, there := d.stateOf(b.id); !there {
				break
			}
			if time.Now().After(until) {
				d.Fatalf("%s: its container never ended after it was let go", b.name)
			}
			d.run("once", "-o", "json", "--wait", "30s")
		}
	}
}

// letGo continues the shims that were stopped.
func (d *dock) letGo() {
	d.Helper()
	for _, shim := range d.shims {
		d.signal(shim, syscall.SIGCONT)
	}
}
