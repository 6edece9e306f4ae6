package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The scripts of a probe, called with the seconds that it may take and what to run or to
// list. A process outlives the connection that started it, so each is ended from inside.
const (
	runScript   = `sh -c "$2" &` + bounded
	filesScript = check + `check "$2" &` + bounded

	// It waits for its child and reaps it. The timeout of busybox would leave a process to
	// the container's first one, which often reaps none: one more with each probe.
	bounded = `
p=$! n=0
while read -r line <"/proc/$p/stat" && line=${line##*) } && [ "${line%% *}" != Z ]; do
  if [ "$n" -ge "${1}0" ]; then kill -9 "$p"; wait "$p"; exit 124; fi
  n=$((n + 1))
  sleep 0.1 || { n=$((n + 9)); sleep 1; } || break
done 2>/dev/null
wait "$p"`

	// It lists the folder, then writes a file of its own and reads it. Where none can be
	// made, as with a read-only root, the listing has to do.
	check = `check() {
  ls -a -- "$1" >/dev/null || return 41
  f="${TMPDIR:-/tmp}/.sandkeeper-$$"
  (: >"$f") 2>/dev/null || return 0
  trap 'rm -f "$f"' EXIT
  echo sandkeeper >"$f" || return 42
  [ "$(cat "$f")" = sandkeeper ] || return 43
}
`
)

// Probe runs a command in the sandbox's container, and lists a folder there and writes and
// reads a file, both at once. It looks first: exec goes by name, and the Pod of that name
// may be another one by now. Only one probe of a sandbox runs at a time.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.frame.Probe(ctx, s, policy, func(ctx context.Context) wire.Half { return p.probe(ctx, s, policy) })
}

func (p *Provider) probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) wire.Half {
	t, err := p.target(ctx, s.ID)
	var rests *restingError
	switch {
	case errors.As(err, &rests):
		return wire.Half{Outcome: reconcile.NotAllowed, Said: rests.Error()}
	case err != nil:
		return wire.Unclear(wire.Clip("look first: "+err.Error(), 200))
	}
	seconds := wire.Seconds(policy.Timeout)
	return wire.Both(
		func() wire.Half { return p.probeExec(ctx, t, policy.Exec, seconds) },
		func() wire.Half { return p.probeFiles(ctx, t, policy.Path, seconds) },
	)
}

func (p *Provider) probeExec(ctx context.Context, t target, command string, seconds int) wire.Half {
	if command == "" {
		return wire.Half{}
	}
	r := p.exec(ctx, t, limit(seconds), "sh", "-c", runScript, "exec", strconv.Itoa(seconds), command)
	h := p.reached(ctx, t, r, r.verdict(seconds))
	if h.Outcome == "" {
		h = wire.Ran(r.exit, r.output)
	}
	h.Said = "exec: " + h.Said
	return h
}

func (p *Provider) probeFiles(ctx context.Context, t target, path string, seconds int) wire.Half {
	if path == "" {
		return wire.Half{}
	}
	r := p.exec(ctx, t, limit(seconds), "sh", "-c", filesScript, "files", strconv.Itoa(seconds), path)
	h := p.reached(ctx, t, r, r.verdict(seconds))
	if h.Outcome == "" {
		h = r.files()
	}
	h.Said = "files of " + path + ": " + h.Said
	return h
}

// reached is the verdict, if the node that the command was for answers at all. A cluster takes the
// connection of a command over before it has called the node, so that a node which drops what is
// sent to it looks like a container that hangs. Its logs come from the node and not from the
// container's runtime.
func (p *Provider) reached(ctx context.Context, t target, r ran, h wire.Half) wire.Half {
	if h.Outcome != reconcile.Hung || !r.unspoken {
		return h
	}
	query := url.Values{"container": {t.container}, "tailLines": {"1"}, "limitBytes": {"1"}}
	a, err := p.client.Once(ctx, wire.Call{What: "logs", Method: http.MethodGet, Accept: "text/plain, */*", Inside: true,
		URL: p.at(pods, t.pod.namespace, t.pod.name, "log") + "?" + query.Encode(), Timeout: wire.Margin})
	if err == nil && !a.OK() {
		err = p.client.Refuse(a)
	}
	if err != nil {
		return wire.Unclear(wire.Clip(h.Said+", and its node gives no log: "+err.Error(), 160))
	}
	return h
}

func limit(seconds int) time.Duration { return time.Duration(seconds)*time.Second + wire.Margin }

// files judges how the script of the files ended.
func (r ran) files() wire.Half {
	said := wire.Clip(r.output, 160)
	switch {
	case r.exit == 0:
		return wire.Half{Outcome: reconcile.Answered, Said: "listed, written and read"}
	case r.exit == 42 && full(r.output):
		return wire.Half{Outcome: reconcile.Answered, Said: "listed; " + said} // its own doing, and it may free it
	case r.exit >= 41 && r.exit <= 43:
		return wire.Half{Outcome: reconcile.CannotStart, Said: first(said, fmt.Sprint("step ", r.exit-40, " failed"))}
	}
	return wire.Half{Outcome: reconcile.Answered, Said: wire.Clip(fmt.Sprintf("exit %d: %s", r.exit, said), 160)}
}

func full(output string) bool {
	return strings.Contains(output, "No space left") || strings.Contains(output, "uota exceeded")
}

// verdict judges a command that did not end by itself; no outcome when it did.
func (r ran) verdict(seconds int) wire.Half {
	switch {
	case r.err == nil && r.exit == 124: // the scripts' own
		return wire.Half{Outcome: reconcile.Hung, Said: fmt.Sprintf("not done within %ds inside", seconds)}
	case r.err == nil:
		return wire.Half{}
	case errors.Is(r.err, reconcile.ErrUnauthorized), errors.Is(r.err, reconcile.ErrThrottled):
		return wire.Unclear(wire.Clip(r.err.Error(), 160))
	case r.unspoken && r.entered:
		return wire.Half{Outcome: reconcile.Hung, Said: fmt.Sprintf("no answer within %s", limit(seconds))}
	case r.unspoken:
		return wire.Unclear(fmt.Sprintf("no connection into it within %s", limit(seconds)))
	}
	return wire.Half{Outcome: outcome(strings.ToLower(r.err.Error())), Said: wire.Clip(cause(r.err.Error()), 160)}
}

// cause leaves out how the layers between wrap what the runtime says: three of them say
// that there was an error, in the place where the reason should stand.
func cause(words string) string {
	for _, layer := range []string{"error executing command in container: ", "failed to exec in container: ",
		"OCI runtime exec failed: "} {
		if _, inner, wrapped := strings.Cut(words, layer); wrapped {
			words = inner
		}
	}
	return words
}

// The words of a node about an exec, by what they mean. Those of the way to the container
// go first: they quote each other.
var (
	onTheWay = []string{"error dialing backend", "connection refused", "no route to host", "i/o timeout",
		"code = unavailable", "connection reset", "tls:", "x509:", "no such host"}
	atRest = []string{"container not found", "does not have a host assigned", "stopped state", "container_exited",
		"container is not running", "not created or running", "completed pod"}
	cannot = []string{"failed to start exec", "failed to create exec", "failed to exec in container",
		"oci runtime exec failed", "executable file not found", "unable to start container process"}
)

// outcome judges an error of an exec by its words, in small letters. What nobody knows
// speaks against nothing.
func outcome(words string) reconcile.ProbeOutcome {
	says := func(of []string) bool {
		for _, part := range of {
			if strings.Contains(words, part) {
				return true
			}
		}
		return false
	}
	switch {
	case says(onTheWay):
		return reconcile.Infrastructure
	case says(atRest):
		return reconcile.NotAllowed
	case says(cannot):
		return reconcile.CannotStart
	}
	return reconcile.Infrastructure
}

// A restingError is that nothing runs where a command was to be run.
type restingError struct{ said string }

func (r *restingError) Error() string { return r.said }

// target is the container behind an id, as the cluster shows it now. Each step from a claim
// to its Pod compares uids: a name in an annotation or a status may be anybody's.
func (p *Provider) target(ctx context.Context, id string) (target, error) {
	var o object
	n, err := parseID(id)
	for err == nil {
		if _, err = p.read(ctx, n, &o); err != nil {
			break
		}
		if seen := o.look(n.kind, p.container); seen.state != reconcile.SandboxRunning {
			return target{}, &restingError{fmt.Sprintf("%s is %s", n, first(seen.raw, "in no known state"))}
		}
		if n.word == pods.word {
			return target{n, o.main(p.container)}, nil
		}
		n, err = p.behind(ctx, n, &o)
	}
	return target{}, err
}

// behind is what stands behind a claim or a Sandbox.
func (p *Provider) behind(ctx context.Context, n name, o *object) (name, error) {
	next := name{sandboxes, n.namespace, o.Status.Sandbox.Name, ""}
	if n.word == sandboxes.word {
		next = name{pods, n.namespace, first(o.Metadata.Annotations.Pod, n.name), ""}
	}
	if next.name == "" {
		return next, &restingError{n.String() + " has no sandbox"}
	}
	var below object
	if _, err := p.read(ctx, next, &below); err != nil {
		return next, err
	}
	if by := below.controller(); by == nil || by.UID != n.uid {
		return next, &restingError{fmt.Sprintf("%s does not belong to %s", next, n)}
	}
	next.uid = below.Metadata.UID
	return next, nil
}
