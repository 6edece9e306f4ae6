package docker

import (
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
)

// maxOutput is the most that a probe's script may say.
const maxOutput = 64 << 10

// An order is a script to run in a container.
type order struct {
	id, name string // of the container, of the half of the probe
	script   string
	args     []string
	seconds  int
}

// A result is how far a script came.
type result struct {
	lines  []string  // of what it said
	errors string    // what was said beside that, by it or by the engine
	exit   int       // known only where it did not come to its last line
	half   wire.Half // where nothing can be judged by lines
	took   time.Duration
}

// run runs a script. An engine has no way to end one, and a caller that leaves does not end
// it: while one is out that never came back, no further one is sent after it.
func (p *Provider) run(ctx context.Context, o order) result {
	key := o.id + o.name
	if old, ok := p.hung.Load(key); ok {
		switch seen, err := p.seen(ctx, fmt.Sprint(old)); {
		case err != nil && !errors.Is(err, reconcile.ErrNotFound):
			return result{half: refused(err)}
		case seen.Running:
			return result{half: wire.Half{Outcome: reconcile.Hung, Said: "an earlier probe's command has not come back"}}
		}
		p.hung.Delete(key)
	}
	exec, err := p.create(ctx, o)
	switch {
	case errors.Is(err, errLate) && p.hangs(ctx, o.id):
		return result{half: wire.Half{Outcome: reconcile.Hung, Said: err.Error() + " for this container, which is listed"}}
	case err != nil:
		return result{half: refused(err)}
	}
	r := p.start(ctx, exec, o)
	if r.half.Outcome == reconcile.Hung {
		p.hung.Store(key, exec)
	}
	return r
}

// hangs reports whether the engine still lists a container as running that it does not
// answer for: an earlier command hangs in it, and only in it.
func (p *Provider) hangs(ctx context.Context, id string) bool {
	s, there := p.lookInList(ctx, id)
	return there && s.State == reconcile.SandboxRunning
}

func (p *Provider) create(ctx context.Context, o order) (exec string, err error) {
	_, err = p.engine.ask(ctx, func(ctx context.Context, c *client.Client) error {
		made, err := c.ExecCreate(ctx, o.id, client.ExecCreateOptions{
			AttachStdout: true, AttachStderr: true, WorkingDir: "/", Env: []string{"LC_ALL=C"},
			Cmd: append([]string{"/bin/sh", "-c", o.script, "sandkeeper-" + o.name}, o.args...),
		})
		exec = made.ID
		return err
	})
	if err == nil && checkID(exec) != nil {
		err = errors.New("the answer names no execution")
	}
	return exec, err
}

// refused judges an exec that was not even made. The engine refuses it for a container that
// does not run; Podman calls that an error of its own.
func refused(err error) wire.Half {
	h := wire.Unclear(wire.Clip(err.Error(), 160))
	var r *wire.Refusal
	if errors.As(err, &r) && (r.Status == http.StatusConflict ||
		r.Status == http.StatusInternalServerError && says(r.Words, "container state improper")) {
		h.Outcome = reconcile.NotAllowed
	}
	return h
}

// start runs an execution to its end. The answer is 200 also when nothing started.
func (p *Provider) start(ctx context.Context, exec string, o order) result {
	c, err := p.engine.ready(ctx)
	if err != nil {
		return result{half: wire.Unclear(wire.Clip(err.Error(), 160))}
	}
	body, _ := json.Marshal(container.ExecStartRequest{}) // two switches always encode
	began := p.client.Now()
	k := wire.Call{What: "probe " + o.name, Method: http.MethodPost, Body: body, Max: maxOutput, Inside: true,
		URL:     p.client.At("v"+c.ClientVersion(), "exec", exec, "start"),
		Timeout: time.Duration(o.seconds)*time.Second + wire.Margin}
	a, err := p.client.Once(ctx, k)
	if err != nil {
		return result{half: wire.Silent(err, k.Timeout)}
	}
	if a.Status != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/vnd.docker.") {
		words := first(p.client.Said(a).Text, "no output of a command")
		return result{half: refused(&wire.Refusal{Status: a.Status, Words: words})}
	}
	out, errs, err := streams(a.Body)
	if err != nil {
		return result{half: wire.Unclear(err.Error())}
	}
	r := result{lines: strings.Split(out, "\n"), errors: errs, took: p.client.Now().Sub(began)}
	if _, ended := r.after("exit "); !ended && !r.has("kept") {
		p.fill(ctx, exec, out, &r)
	}
	return r
}

// fill asks how an execution ended that did not come to its last line: by itself, or only
// its output did.
func (p *Provider) fill(ctx context.Context, exec, out string, r *result) {
	seen, err := p.seen(ctx, exec)
	r.exit = seen.ExitCode
	began := r.has("began")
	switch {
	case err != nil:
		r.half = refused(err)
	case seen.Running:
		r.half = wire.Unclear("its output ended before it did")
	case began && (seen.ExitCode != 0 || r.has("listed")):
	case seen.ExitCode == 0:
		r.half = wire.Unclear("it ended well and said nothing")
	default: // nothing started, and the engine says why
		r.errors = strings.TrimSpace(out + r.errors)
		r.half = notStarted(r)
	}
}

// faults of what stands before the sandbox: the engine's own parts and limits.
var faults = []string{"containerd.sock", "connection refused", "too many open files", "no space left on device",
	"deadline exceeded", "cannot allocate memory"}

// notStarted judges an exec that never came to a shell.
func notStarted(r *result) wire.Half {
	h := wire.Half{Outcome: reconcile.CannotStart, Said: r.words("nothing started")}
	if says(r.errors, faults...) {
		h.Outcome = reconcile.Infrastructure
	}
	return h
}

func (p *Provider) seen(ctx context.Context, exec string) (seen client.ExecInspectResult, err error) {
	_, err = p.engine.ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
		seen, err = c.ExecInspect(ctx, exec, client.ExecInspectOptions{})
		return err
	})
	return seen, err
}

// has reports whether the script said a line with that first word.
func (r *result) has(word string) bool {
	for _, line := range r.lines {
		if said, _, _ := strings.Cut(line, " "); said == word {
			return true
		}
	}
	return false
}

// after is the number that follows a word.
func (r *result) after(word string) (int, bool) {
	for _, line := range r.lines {
		if text, ok := strings.CutPrefix(line, word); ok {
			n, err := strconv.Atoi(text)
			return n, err == nil
		}
	}
	return 0, false
}

// denied reports whether the container's user may not do it.
func (r *result) denied() bool { return says(r.errors, "permission denied", "operation not permitted") }

// words are what was said against the script, or other words for it.
func (r *result) words(otherwise string) string {
	text := wire.Clip(first(r.errors, otherwise), 160)
	if r.exit != 0 {
		text = fmt.Sprintf("exit %d: %s", r.exit, text)
	}
	return text
}

// streams are what a process wrote, by stream.
func streams(body []byte) (out, errs string, err error) {
	var texts [2]strings.Builder
	err = frames(body, func(stream byte, part []byte) { texts[stream/2].Write(part) })
	return texts[0].String(), texts[1].String(), err
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

func first(text, otherwise string) string {
	if text = strings.TrimSpace(text); text != "" {
		return text
	}
	return otherwise
}
