package docker

import (
	"context"
	"crypto/rand"
	_ "embed" // the scripts
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// execScript runs a command, $2, for at most $1 seconds. What it says on its way tells how
// far it came: a shell that starts, a process that can be made, a command that ends.
//
//go:embed probe_exec.sh
var execScript string

// filesScript lists a folder, $1, and writes, reads and removes a file in it. It makes no
// process, so that it leaves nothing behind where none can be made; what removes the file
// takes the shell's place.
//
//go:embed probe_files.sh
var filesScript string

// Probe runs a command in the sandbox, and lists and writes a folder there, both at once.
// Only one probe of a sandbox runs at a time.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.frame.Probe(ctx, s, policy, func(ctx context.Context) wire.Half { return p.probe(ctx, s.ID, policy) })
}

func (p *Provider) probe(ctx context.Context, id string, policy reconcile.ProbePolicy) wire.Half {
	if err := checkID(id); err != nil {
		return wire.Unclear(err.Error())
	}
	if h := p.before(ctx, id); h.Outcome != "" {
		return h
	}
	return wire.Both(
		func() wire.Half { return p.probeExec(ctx, id, policy) },
		func() wire.Half { return p.probeFiles(ctx, id, policy) },
	)
}

// aside is how long a question beside the probe may take. It proves nothing when it is not
// answered: while one shim stands still, an engine may give statistics of no container.
const aside = 3 * time.Second

// least is the part of a processor with which a container can be expected to answer in time.
const least = 0.1

// before is the verdict that is there before anything is run. A command in a container that
// is starved hangs, and while it does the engine does not even answer a question about that
// container: none is sent there.
func (p *Provider) before(ctx context.Context, id string) wire.Half {
	starved, err := p.starved(ctx, id)
	if err != nil {
		within, cancel := context.WithTimeout(ctx, aside)
		defer cancel()
		c, _, err := p.inspect(within, id)
		starved = err == nil && processors(math.Inf(1), c.HostConfig) < least
	}
	switch {
	case ctx.Err() != nil:
		return wire.Unclear(ctx.Err().Error())
	case starved:
		return wire.Unclear("not asked: its CPU limit holds it back all the time; slow, or dead, nobody knows")
	}
	return wire.Half{}
}

func (p *Provider) probeExec(ctx context.Context, id string, policy reconcile.ProbePolicy) wire.Half {
	if policy.Exec == "" {
		return wire.Half{}
	}
	seconds := wire.Seconds(policy.Timeout)
	r := p.run(ctx, order{id: id, name: "exec", script: execScript, seconds: seconds,
		args: []string{strconv.Itoa(seconds), policy.Exec}})
	h := r.executed(seconds)
	h.Said = "exec: " + h.Said
	return h
}

// killed is the exit code of a command that was ended by force, as its time-out does.
const killed = 137

// executed judges the command's way.
func (r result) executed(seconds int) wire.Half {
	code, ended := r.after("exit ")
	switch {
	case ended && code == killed && r.took >= time.Duration(seconds)*time.Second:
		return wire.Half{Outcome: reconcile.Hung, Said: fmt.Sprintf("the command did not end within %ds", seconds)}
	case ended:
		return wire.Ran(code, "")
	case r.half.Outcome != "":
		return r.half
	case r.has("forked"):
		return wire.Half{Outcome: reconcile.CannotStart, Said: r.words("the shell was ended half-way")}
	}
	return wire.Half{Outcome: reconcile.CannotStart, Said: r.words("the shell could make no process")}
}

func (p *Provider) probeFiles(ctx context.Context, id string, policy reconcile.ProbePolicy) wire.Half {
	if policy.Path == "" {
		return wire.Half{}
	}
	r := p.run(ctx, order{id: id, name: "files", script: filesScript, seconds: wire.Seconds(policy.Timeout),
		args: []string{policy.Path, rand.Text()}})
	h := p.written(ctx, id, policy.Path, r)
	h.Said = "files of " + policy.Path + ": " + h.Said
	return h
}

// written judges the way of the file probe.
func (p *Provider) written(ctx context.Context, id, folder string, r result) wire.Half {
	entries, listed := r.after("listed ")
	h := wire.Listed(entries)
	switch {
	case listed && r.has("kept"):
		h.Said += ", one written and read"
	case r.half.Outcome != "":
		return r.half
	case !listed && r.denied(): // the path is not one that its user may enter: that is ours to mend
		return wire.Unclear(r.words("not listed"))
	case !listed:
		return wire.Half{Outcome: reconcile.CannotStart, Said: r.words("not listed")}
	case r.denied(), r.exit == 0 && r.errors == "":
		h.Said += ", not written: its user may not, or it has no rm"
	default:
		return p.unwritten(ctx, id, folder, r)
	}
	return h
}

// unwritten judges a folder that can be listed and not written. What was made read-only
// is as it should be, and a full disk of the host is not the sandbox's fault.
func (p *Provider) unwritten(ctx context.Context, id, folder string, r result) wire.Half {
	h := wire.Half{Outcome: reconcile.CannotStart, Said: r.words("not written")}
	locked, full := says(r.errors, "read-only file system"), says(r.errors, "no space left", "quota exceeded")
	if !locked && !full {
		return h
	}
	c, _, err := p.inspect(ctx, id)
	if err != nil || c.HostConfig == nil {
		return wire.Unclear(h.Said + "; why is not known")
	}
	disk := diskOf(&c, folder)
	switch {
	case locked && disk.locked:
		return wire.Half{Outcome: reconcile.Answered, Said: "listed; it was made read-only"}
	case full && !disk.own:
		return wire.Unclear(h.Said + "; that disk is not the sandbox's alone")
	}
	return h
}

// A disk is what lies below a folder, as the container was made.
type disk struct {
	locked bool // made read-only
	own    bool // of a size of its own: a full one is full for nobody else
}

// diskOf finds the mount that a folder lies in, or the root.
func diskOf(c *container.InspectResponse, folder string) disk {
	out := disk{locked: c.HostConfig.ReadonlyRootfs, own: c.HostConfig.StorageOpt["size"] != ""}
	best := 0
	in := func(destination string) bool {
		within := len(destination) >= best && strings.HasPrefix(path.Clean(folder)+"/", path.Clean(destination)+"/")
		if within {
			best = len(destination)
		}
		return within
	}
	for _, m := range c.Mounts {
		if in(m.Destination) {
			out = disk{locked: !m.RW, own: m.Type == "tmpfs"}
		}
	}
	for destination, options := range c.HostConfig.Tmpfs {
		if in(destination) {
			out = disk{locked: strings.Contains(","+options+",", ",ro,"), own: true}
		}
	}
	return out
}
