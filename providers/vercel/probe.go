package vercel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Probe runs a command and reads a file in the session, both at once. Calls by a session's
// id never start a new one, and do not put its end off. Only one probe of a session runs at
// a time.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.base.Probe(ctx, s, policy, func(ctx context.Context) wire.ProbePart {
		k := probeCall{p, s.ID, wire.Within(policy)}
		return wire.Halves(policy,
			func(time.Duration) wire.ProbePart { return k.exec(ctx, policy.Exec) },
			func(time.Duration) wire.ProbePart { return k.files(ctx, policy.Path) })
	})
}

// A probeCall is one probe under way.
type probeCall struct {
	*Provider
	id    string
	limit time.Duration // inside the session
}

// exec runs the command, by a shell only where it is more than a name.
func (k probeCall) exec(ctx context.Context, command string) wire.ProbePart {
	name, args := command, []string{}
	if strings.ContainsAny(command, " \t\n'\"$&|;<>()*?\\`") {
		name, args = "sh", []string{"-c", command}
	}
	return k.run(ctx, name, args, func(exit int) wire.ProbePart { return wire.Ran(exit, "") })
}

// hostname is a file of every image: it stands for the root, which cannot be read.
const hostname = "/etc/hostname"

// files reads the file. What is a folder, or is not there, is listed by a command, as the
// vendor's own client does: the path exists always, so that one which cannot be listed means
// that the session lost its file system.
func (k probeCall) files(ctx context.Context, name string) wire.ProbePart {
	file, unsure := name, false
	if path.Clean(name) == "/" {
		file = hostname
	}
	h := k.ask(ctx, wire.Call{What: "fs/read"}, map[string]any{"path": file},
		func(a wire.Answer, said wire.APIError) (wire.ProbePart, bool) {
			unsure = a.Status == http.StatusNotFound && said.Code == notFound ||
				a.Status == http.StatusBadRequest && said.Code == oddFile
			return read(a), a.Status == http.StatusOK
		})
	if unsure {
		return k.run(ctx, "ls", []string{"-1", name}, listed)
	}
	return h
}

// read judges a file that came.
func read(a wire.Answer) wire.ProbePart {
	if !isA(a, "application/octet-stream") {
		return wire.Unclear("200 with something that is no file")
	}
	return wire.ProbePart{Outcome: reconcile.Answered, Words: fmt.Sprintf("%d bytes", len(a.Body))}
}

// listed judges the end of ls.
func listed(exit int) wire.ProbePart {
	if exit != 0 {
		return wire.Missing(fmt.Sprintf("ls: exit %d", exit))
	}
	return wire.ProbePart{Outcome: reconcile.Answered, Words: "listed"}
}

// run runs one command, which the session kills when it outlasts its time; ended judges its
// exit code.
func (k probeCall) run(
	ctx context.Context, name string, args []string, ended func(exit int) wire.ProbePart,
) wire.ProbePart {
	in := map[string]any{"command": name, "args": args, "env": map[string]string{}, "sudo": false, "wait": true,
		"timeout": k.limit.Milliseconds()}
	return k.ask(ctx, wire.Call{What: "cmd"}, in, func(a wire.Answer, _ wire.APIError) (wire.ProbePart, bool) {
		if a.Status != http.StatusOK {
			return wire.ProbePart{}, false
		}
		if !isA(a, "application/x-ndjson") {
			return wire.Unclear("200 with something that is no command"), true
		}
		return k.finished(a, ended), true
	})
}

// A line is one of a command's stream: the command as it begins, its output, and the command
// with its exit code.
type line struct {
	Stream  string          `json:"stream"`
	Data    json.RawMessage `json:"data"`
	Command struct {
		ExitCode *int    `json:"exitCode"`
		Took     float64 `json:"durationMs"`
	} `json:"command"`
}

func (k probeCall) finished(a wire.Answer, ended func(exit int) wire.ProbePart) wire.ProbePart {
	for lines := json.NewDecoder(bytes.NewReader(a.Body)); ; {
		var in line
		switch err := lines.Decode(&in); {
		case errors.Is(err, io.EOF):
			return wire.Unclear("the answer ended before the command did")
		case err != nil:
			return wire.Unclear("200 with something that is no command")
		case in.Stream == "error":
			return wire.Unclear(text.Clip(k.client.Redact("the stream broke: "+string(in.Data)), 160))
		case in.Command.ExitCode == nil:
		case in.Command.Took >= float64(k.limit.Milliseconds()):
			return wire.ProbePart{Outcome: reconcile.Hung, Words: fmt.Sprintf("killed after %s", k.limit)}
		default:
			return ended(*in.Command.ExitCode)
		}
	}
}

// ask makes one call into the session; good judges the answers that it knows.
func (k probeCall) ask(ctx context.Context, c wire.Call, in map[string]any,
	good func(wire.Answer, wire.APIError) (wire.ProbePart, bool)) wire.ProbePart {
	c.Body, _ = json.Marshal(in) // texts and numbers always encode
	c.URL = k.at(nil, append([]string{"sessions", k.id}, strings.Split(c.What, "/")...)...)
	c.Method, c.Accept, c.Timeout = http.MethodPost, "*/*", k.limit+wire.Margin
	return k.client.Judge(ctx, c, wire.Judge{Good: good, Outcome: outcome})
}

// outcome judges an answer that is no success. Of a session that ended meanwhile, or is on
// its way, nothing is to be probed. A command that the image lacks is the entry's fault. A
// page comes from what stands before the API, and says nothing of the session.
func outcome(a wire.Answer, said wire.APIError) reconcile.ProbeOutcome {
	switch {
	case a.Status == http.StatusGone && said.Code == isOver, a.Status == http.StatusUnprocessableEntity:
		return reconcile.NotAllowed
	case a.Status == http.StatusRequestTimeout:
		return reconcile.Hung
	case a.Status >= http.StatusInternalServerError && wire.IsJSON(a.Header):
		return reconcile.CannotStart
	}
	return reconcile.Infrastructure
}

func isA(a wire.Answer, kind string) bool {
	got, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	return err == nil && got == kind
}
