package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
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

// Probe runs a command in the sandbox's container, and then lists a folder there and writes
// and reads a file: what hangs is not asked twice. It looks first: exec goes by name, and the
// Pod of that name may be another one by now. Only one probe of a sandbox runs at a time.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.base.Probe(ctx, s, policy, func(ctx context.Context) wire.ProbePart { return p.probe(ctx, s.ID, policy) })
}

// Leftovers are the commands of probes in one Pod that never came back. Who leaves does not
// end them, and nothing but a further command tells what became of them.
type unfinishedExecs struct {
	pod string // uid
	n   int
	at  time.Time // of the newest
}

func (p *Provider) probe(ctx context.Context, id string, policy reconcile.ProbePolicy) wire.ProbePart {
	t, err := p.target(ctx, id)
	var rests *restingError
	switch {
	case errors.As(err, &rests):
		return wire.Barred(rests.Error())
	case err != nil:
		return wire.Unclear(text.Clip("look first: "+err.Error(), 200))
	}
	old, _ := p.left.Load(id)
	left, _ := old.(unfinishedExecs)
	if left.pod != t.pod.uid {
		left = unfinishedExecs{pod: t.pod.uid}
	}
	now := p.client.Now()
	if !wire.MayLeave(left.n, now.Sub(left.at)) {
		return wire.Unclear(fmt.Sprintf("not asked: %d commands of earlier probes never came back", left.n))
	}
	h, hangs := p.probeCall(ctx, t, policy)
	switch {
	case hangs:
		left.n, left.at = left.n+1, now
		p.left.Store(id, left)
	case h.Outcome == reconcile.Answered:
		p.left.Delete(id)
	}
	return h
}

// probeCall runs the halves of a probe, one after the other, until one hangs.
func (p *Provider) probeCall(
	ctx context.Context, t target, policy reconcile.ProbePolicy,
) (h wire.ProbePart, hangs bool) {
	var met []wire.ProbePart
	for _, half := range []struct {
		name, script, what, said string
		ended                    func(ran) wire.ProbePart
	}{
		{"exec", runScript, policy.Exec, "exec", func(r ran) wire.ProbePart { return wire.Ran(r.exit, r.output) }},
		{"files", filesScript, policy.Path, "files of " + policy.Path, ran.files},
	} {
		if half.what == "" || hangs {
			continue
		}
		within := wire.Within(policy)
		r := p.exec(ctx, t, within+wire.Margin, "sh", "-c", half.script, half.name, fmt.Sprint(within.Seconds()), half.what)
		h := p.reached(ctx, t, r, r.verdict(within))
		if h.Outcome == "" {
			h = half.ended(r)
		}
		hangs = r.entered && r.unspoken
		met = append(met, h.Named(half.said))
	}
	return wire.Merge(met...), hangs
}

// reached is the verdict, if the node that the command was for answers at all. A cluster takes the
// connection of a command over before it has called the node, so that a node which drops what is
// sent to it looks like a container that hangs. Its logs come from the node and not from the
// container's runtime.
func (p *Provider) reached(ctx context.Context, t target, r ran, h wire.ProbePart) wire.ProbePart {
	if h.Outcome != reconcile.Hung || !r.unspoken {
		return h
	}
	k := p.log(t, 1, 1)
	k.Method, k.Inside, k.Timeout = http.MethodGet, true, wire.Margin
	a, err := p.client.Once(ctx, k)
	if err == nil && !a.OK() {
		err = p.client.Refuse(a)
	}
	if err != nil {
		return wire.Unclear(text.Clip(h.Words+", and its node gives no log: "+err.Error(), 160))
	}
	return h
}

// files judges how the script of the files ended.
func (r ran) files() wire.ProbePart {
	said := text.Clip(r.output, 160)
	switch {
	case r.exit == 0:
		return wire.ProbePart{Outcome: reconcile.Answered, Words: "listed, written and read"}
	case r.exit == 42 && says(said, []string{"no space left", "quota exceeded"}):
		return wire.ProbePart{Outcome: reconcile.Answered, Words: "listed; " + said} // its own doing, and it may free it
	case r.exit >= 41 && r.exit <= 43:
		return wire.Failed(cmp.Or(said, fmt.Sprint("step ", r.exit-40, " failed")))
	}
	return wire.ProbePart{Outcome: reconcile.Answered, Words: text.Clip(fmt.Sprintf("exit %d: %s", r.exit, said), 160)}
}

// verdict judges a command that did not end by itself, or whose shell could not make a process;
// no outcome for any other.
func (r ran) verdict(within time.Duration) wire.ProbePart {
	switch {
	case r.err == nil && r.exit == 124: // the scripts' own
		return wire.ProbePart{Outcome: reconcile.Hung, Words: fmt.Sprintf("not done within %s inside", within)}
	case r.err == nil && r.exit != 0 && says(r.output, noProcess):
		return wire.Failed(text.Clip(fmt.Sprintf("exit %d: %s", r.exit, r.output), 160))
	case r.err == nil:
		return wire.ProbePart{}
	case errors.Is(r.err, reconcile.ErrUnauthorized), errors.Is(r.err, reconcile.ErrThrottled):
		return wire.Unclear(text.Clip(r.err.Error(), 160))
	case r.unspoken && r.entered:
		return wire.ProbePart{Outcome: reconcile.Hung, Words: fmt.Sprintf("no answer within %s", within+wire.Margin)}
	case r.unspoken:
		return wire.Unclear(fmt.Sprintf("no connection into it within %s", within+wire.Margin))
	}
	h := wire.Unclear(text.Clip(cause(r.err.Error()), 160)) // what nobody knows speaks against nothing
	for _, m := range meanings {
		if says(r.err.Error(), m.words) {
			h.Outcome = m.outcome
			break
		}
	}
	return h
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

// noProcess is how shells say that they can make no process.
var noProcess = []string{"can't fork", "cannot fork", "fork: resource temporarily unavailable"}

// meanings are the words of a node about an exec. Those of the way to the container go first:
// they quote the others.
var meanings = []struct {
	outcome reconcile.ProbeOutcome
	words   []string
}{
	{reconcile.Infrastructure, []string{"error dialing backend", "connection refused", "no route to host", "i/o timeout",
		"code = unavailable", "connection reset", "tls:", "x509:", "no such host"}},
	{reconcile.NotAllowed, []string{"container not found", "does not have a host assigned", "stopped state",
		"container_exited", "container is not running", "not created or running", "completed pod"}},
	{reconcile.CannotStart, []string{"failed to start exec", "failed to create exec", "failed to exec in container",
		"oci runtime exec failed", "executable file not found", "unable to start container process"}},
}

// says reports whether a text has one of the words, in whatever case.
func says(text string, words []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}
