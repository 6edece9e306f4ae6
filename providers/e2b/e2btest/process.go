package e2btest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// ended marks the last frame of a stream.
const ended = 2

type object = map[string]any

// frame writes one frame of a stream: a flag, the length, JSON.
func (q *request) frame(flag byte, v any) {
	text, _ := json.Marshal(v) // maps of texts and numbers always encode
	head := binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(text)))
	_, _ = q.w.Write(append(head, text...)) // the client may have left
}

func (q *request) happened(name string, what object) {
	q.frame(0, object{"event": object{name: what}})
}

// broke ends a stream with an error. The status is 200 all the same.
func (q *request) broke(code, message string) {
	q.frame(ended, object{"error": object{"code": code, "message": message}})
}

// A command is what a start asks for.
type command struct {
	Process struct {
		Cmd  string   `json:"cmd"`
		Args []string `json:"args"`
		Cwd  string   `json:"cwd"`
	} `json:"process"`
}

// line is the command that a shell is given.
func (c command) line() string {
	if n := len(c.Process.Args); n > 0 {
		return c.Process.Args[n-1]
	}
	return c.Process.Cmd
}

// start runs a command, and tells of it in frames.
func (s *Server) start(q *request) {
	var in command
	if q.Header.Get("Content-Type") != "application/connect+json" {
		q.w.Header().Set("Accept-Post", "application/connect+json, application/connect+proto")
		q.w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	if len(q.body) < 5 || json.Unmarshal(q.body[5:], &in) != nil {
		q.stream()
		q.broke("invalid_argument", "protocol error: incomplete envelope")
		return
	}
	limit := time.Duration(number(q.Header.Get("Connect-Timeout-Ms"), int(longest/time.Millisecond))) * time.Millisecond
	if in.Process.Cwd != "" {
		if _, trouble := s.world.Folder(q.id, in.Process.Cwd); trouble == simulated.NoPath {
			q.stream()
			q.broke("invalid_argument", fmt.Sprintf("cwd '%s' does not exist", in.Process.Cwd))
			return
		}
	}
	r, trouble := s.world.Exec(q.id, in.line(), limit)
	switch {
	case trouble == simulated.TimedOut:
		q.stream()
		q.happened("start", object{"pid": 1204})
		q.broke("deadline_exceeded", "context deadline exceeded")
	case !q.met(trouble):
		q.stream()
		q.ran(in, r)
	}
}

func (q *request) stream() {
	q.w.Header().Set("Content-Type", "application/connect+json")
	q.w.WriteHeader(http.StatusOK)
}

func (q *request) ran(in command, r simulated.Result) {
	if r.Exit < 0 { // no process came into being
		q.broke("invalid_argument", fmt.Sprintf(
			"error starting process '%s': fork/exec %[1]s: resource temporarily unavailable", in.Process.Cmd))
		return
	}
	q.happened("start", object{"pid": 1204})
	if r.Output != "" {
		q.happened("data", object{"stdout": []byte(r.Output)})
	}
	end := object{"exited": true, "status": fmt.Sprintf("exit status %d", r.Exit)}
	if r.Exit != 0 {
		end["exitCode"], end["error"] = r.Exit, end["status"]
	}
	q.happened("end", end)
	q.frame(ended, object{})
}

func (s *Server) processes(q *request) {
	_, trouble := s.world.Exec(q.id, "true", time.Second)
	if !q.met(trouble) {
		q.json(http.StatusOK, object{})
	}
}
