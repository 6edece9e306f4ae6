package docker

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// maxOutput is the most that a probe's script may say.
const maxOutput = 64 << 10

// An order is a script to run in a container.
type order struct {
	thing
	name   string // of the half of the probe
	script string
	args   []string
	within time.Duration
}

// A result is how far a script came.
type result struct {
	marks  map[string]string // what it said on its way: the first word of each line, and the rest
	errors string            // what was said beside that, by it or by the engine
	exit   int               // known only where it did not come to its last line
	half   wire.ProbePart    // where nothing can be judged by marks
	took   time.Duration
}

// hung is a half that speaks against the container, if that still runs.
func hung(said string) wire.ProbePart { return wire.ProbePart{Outcome: reconcile.Hung, Words: said} }

// run runs a script. An engine has no way to end one, and a caller that leaves does not end
// it: while one is out that never came back, no further one is sent after it.
func (o order) run(ctx context.Context) result {
	key := o.id + o.name
	if old, ok := o.hung.Load(key); ok {
		switch seen, err := o.seen(ctx, fmt.Sprint(old)); {
		case err != nil && !errors.Is(err, reconcile.ErrNotFound):
			return result{half: refused(err)}
		case seen.Running:
			return result{half: hung("an earlier probe's command has not come back")}
		}
		o.hung.Delete(key)
	}
	made, _, err := ask(ctx, o.thing, (*client.Client).ExecCreate, client.ExecCreateOptions{
		AttachStdout: true, AttachStderr: true, WorkingDir: "/", Env: []string{"LC_ALL=C"},
		Cmd: append(append([]string{"/bin/sh", "-c", o.script, ours + o.name}, o.args...),
			strconv.FormatInt(o.client.Now().Unix(), 10)), // for whoever finds it
	})
	switch {
	case errors.Is(err, errLate): // an earlier command hangs in it
		return result{half: hung(err.Error() + " for this container, which is listed")}
	case err != nil:
		return result{half: refused(err)}
	case checkID(made.ID) != nil:
		return result{half: wire.Unclear("the answer names no execution")}
	}
	r := o.start(ctx, made.ID)
	if r.half.Outcome == reconcile.Hung {
		o.hung.Store(key, made.ID)
	}
	return r
}

// refused judges an exec that was not even made. The engine refuses it for a container that
// does not run; Podman calls that an error of its own.
func refused(err error) wire.ProbePart {
	h := wire.Unclear(text.Clip(err.Error(), 160))
	var r *wire.Refusal
	if errors.As(err, &r) && (r.Status == http.StatusConflict ||
		r.Status == http.StatusInternalServerError && says(r.Words, "container state improper")) {
		h.Outcome = reconcile.NotAllowed
	}
	return h
}

// start runs an execution to its end. The answer is 200 also when nothing started.
func (o order) start(ctx context.Context, exec string) result {
	c, err := o.ready(ctx)
	if err != nil {
		return result{half: refused(err)}
	}
	body, _ := json.Marshal(container.ExecStartRequest{}) // two switches always encode
	began := o.client.Now()
	k := wire.Call{What: "probe " + o.name, Method: http.MethodPost, Body: body, Max: maxOutput, Inside: true,
		URL: o.client.At("v"+c.ClientVersion(), "exec", exec, "start"), Timeout: o.within + wire.Margin}
	a, err := o.client.Once(ctx, k)
	if err != nil {
		return result{half: wire.Silent(err, k.Timeout)}
	}
	if a.Status != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/vnd.docker.") {
		words := first(o.client.APIError(a).Text, "no output of a command")
		return result{half: refused(&wire.Refusal{Status: a.Status, Words: words})}
	}
	r := result{marks: map[string]string{}, took: o.client.Now().Sub(began)}
	var texts [2]strings.Builder
	if err := frames(a.Body, func(stream byte, part []byte) { texts[stream/2].Write(part) }); err != nil {
		return result{half: wire.Unclear(err.Error())}
	}
	for line := range strings.SplitSeq(texts[0].String(), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		r.marks[word] = rest
	}
	if r.errors = texts[1].String(); !r.has("exit") && !r.has("kept") {
		o.fill(ctx, exec, &r, texts[0].String())
	}
	return r
}

// fill asks how an execution ended that did not come to its last line: by itself, or only
// its output did.
func (o order) fill(ctx context.Context, exec string, r *result, out string) {
	seen, err := o.seen(ctx, exec)
	r.exit = seen.ExitCode
	switch {
	case err != nil:
		r.half = refused(err)
	case seen.Running:
		r.half = wire.Unclear("its output ended before it did")
	case r.has("began") && (seen.ExitCode != 0 || r.has("listed")):
	case seen.ExitCode == 0:
		r.half = wire.Unclear("it ended well and said nothing")
	default: // nothing started, and the engine says why
		r.errors = strings.TrimSpace(out + r.errors)
		r.half = wire.Failed(r.words("nothing started"))
		if says(r.errors, faults...) {
			r.half.Outcome = reconcile.Infrastructure
		}
	}
}

// faults of what stands before the sandbox: the engine's own parts and limits.
var faults = []string{"containerd.sock", "connection refused", "too many open files", "no space left on device",
	"deadline exceeded", "cannot allocate memory"}

func (p *Provider) seen(ctx context.Context, exec string) (client.ExecInspectResult, error) {
	seen, _, err := ask(ctx, thing{p, exec}, (*client.Client).ExecInspect, client.ExecInspectOptions{})
	return seen, err
}

// has reports whether the script said a line with that first word.
func (r *result) has(word string) bool {
	_, ok := r.marks[word]
	return ok
}

// after is the number that follows a word.
func (r *result) after(word string) (int, bool) {
	n, err := strconv.Atoi(r.marks[word])
	return n, err == nil
}

// denied reports whether the container's user may not do it.
func (r *result) denied() bool { return says(r.errors, "permission denied", "operation not permitted") }

// words are what was said against the script, or other words for it.
func (r *result) words(otherwise string) string {
	text := text.Clip(first(r.errors, otherwise), 160)
	if r.exit != 0 {
		text = fmt.Sprintf("exit %d: %s", r.exit, text)
	}
	return text
}

// frames takes apart what a process wrote, which comes in frames: a stream's number, three
// zeros, four bytes of length. The API's own reader makes room for whatever a length says.
// A frame that was cut off is no whole answer.
func frames(body []byte, visit func(stream byte, part []byte)) error {
	const head = 8
	for len(body) > 0 {
		if len(body) < head || body[0] > 2 || body[1] != 0 || body[2] != 0 || body[3] != 0 {
			return errors.New("the answer is no output of a process")
		}
		size := int64(binary.BigEndian.Uint32(body[4:head]))
		if size > int64(len(body)-head) {
			return errors.New("the output of the process was cut off")
		}
		visit(body[0], body[head:head+size])
		body = body[head+size:]
	}
	return nil
}

func first(text, otherwise string) string { return cmp.Or(strings.TrimSpace(text), otherwise) }
