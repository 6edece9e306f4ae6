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
	"github.com/sandkeeper/sandkeeper/reconcile/text"
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
	return p.base.Probe(ctx, s, policy, func(ctx context.Context) wire.ProbePart { return p.probe(ctx, s.ID, policy) })
}

func (p *Provider) probe(ctx context.Context, id string, policy reconcile.ProbePolicy) wire.ProbePart {
	if err := checkID(id); err != nil {
		return wire.Unclear(err.Error())
	}
	if h := p.before(ctx, id); h.Outcome != "" {
		return h
	}
	if !p.out(id) {
		if h := p.left(ctx, id, wire.Within(policy)); h.Outcome.Failed() {
			return p.after(ctx, id, h)
		} else if h.Outcome != "" {
			return h
		}
	}
	h := wire.Halves(policy, func(within time.Duration) wire.ProbePart {
		return order{thing{p, id}, "exec", execScript, []string{seconds(within), policy.Exec}, within}.exec(ctx)
	}, func(within time.Duration) wire.ProbePart {
		return order{thing{p, id}, "files", filesScript, []string{policy.Path, rand.Text()}, within}.files(ctx)
	})
	if h.Outcome.Failed() {
		return p.after(ctx, id, h)
	}
	return h
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// after looks again at what failed: a container that somebody paused or ended in the middle of
// a probe answers as if it were broken, or not at all.
func (p *Provider) after(ctx context.Context, id string, h wire.ProbePart) wire.ProbePart {
	switch now, err := p.look(ctx, id); {
	case err != nil:
		return wire.Unclear(text.Clip(h.Words+"; its state is unknown now: "+err.Error(), 300))
	case now.State != reconcile.SandboxRunning:
		return wire.Barred(h.Words + "; it is " + first(now.Raw, "in no known state") + " by now")
	}
	return h
}

// aside is how long a question beside the probe may take. It proves nothing when it is not
// answered: while one shim stands still, an engine may give statistics of no container.
const aside = 3 * time.Second

// least is the part of a processor with which a container can be expected to answer in time.
const least = 0.1

// before is the verdict that is there before anything is run. A command in a container that
// is starved hangs, and while it does the engine does not even answer a question about that
// container: none is sent there.
func (p *Provider) before(ctx context.Context, id string) wire.ProbePart {
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
		return wire.Unclear("not asked: its CPU limit holds it back all the time; so slow and dead look alike")
	}
	return wire.ProbePart{}
}

// killed is the exit code of a command that was ended by force, as its time-out does.
const killed = 137

// exec judges the command's way.
func (o order) exec(ctx context.Context) wire.ProbePart {
	r := o.run(ctx)
	code, ended := r.after("exit")
	switch {
	case ended && code == killed && r.took >= o.within:
		return hung(fmt.Sprintf("the command did not end within %s", o.within))
	case ended:
		return wire.Ran(code, "")
	case r.half.Outcome != "":
		return r.half
	case r.has("forked"):
		return wire.Failed(r.words("the shell was ended half-way"))
	}
	return wire.Failed(r.words("the shell could make no process"))
}

// files judges the way of the file probe.
func (o order) files(ctx context.Context) wire.ProbePart {
	r := o.run(ctx)
	entries, listed := r.after("listed")
	h := wire.Listed(entries)
	switch {
	case listed && r.has("kept"):
		h.Words += ", one written and read"
	case r.half.Outcome != "":
		return r.half
	case !listed && r.denied(): // the path is not one that its user may enter: that is ours to fix
		return wire.Unclear(r.words("not listed"))
	case !listed:
		return wire.Failed(r.words("not listed"))
	case r.denied(), r.exit == 0 && r.errors == "":
		h.Words += ", not written: its user may not, or it has no rm"
	default:
		return o.unwritten(ctx, r)
	}
	return h
}

// unwritten judges a folder that can be listed and not written. What was made read-only
// is as it should be, and a full disk of the host is not the sandbox's fault.
func (o order) unwritten(ctx context.Context, r result) wire.ProbePart {
	h := wire.Failed(r.words("not written"))
	locked, full := says(r.errors, "read-only file system"), says(r.errors, "no space left", "quota exceeded")
	if !locked && !full {
		return h
	}
	c, _, err := o.inspect(ctx, o.id)
	if err != nil || c.HostConfig == nil {
		return wire.Unclear(h.Words + "; why is not known")
	}
	disk := diskOf(&c, o.args[0])
	switch {
	case locked && disk.locked:
		return wire.ProbePart{Outcome: reconcile.Answered, Words: "listed; it was made read-only"}
	case full && !disk.own:
		return wire.Unclear(h.Words + "; that disk is not the sandbox's alone")
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
