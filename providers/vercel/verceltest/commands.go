package verceltest

import (
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// A command is one that a session ran.
type command struct {
	ID, Name string
	Args     []string
	Cwd      string
	Session  string
	Started  time.Time
	Took     time.Duration
	Exit     int
	Out, Err string
}

// dto is the command, as running while it is asked for as that.
func (k *command) dto(finished bool) fields {
	dto := fields{"id": k.ID, "name": k.Name, "args": k.Args, "cwd": k.Cwd, "sessionId": k.Session,
		"startedAt": millis(k.Started), "exitCode": nil}
	if finished {
		dto["exitCode"], dto["durationMs"] = k.Exit, k.Took.Milliseconds()
	}
	return dto
}

// killed is the exit code of a command that outlasted its time: the vendor sends SIGKILL.
const killed = 137

type order struct {
	Command    string
	Args       []string
	Cwd        string
	Wait, Logs bool
	Timeout    int64
}

// run runs a command, as far as the world knows it, and shows it as a stream when it is to
// be waited for.
func (s insides) run(c *call) {
	v, ok := s.running(c)
	if !ok {
		return
	}
	in := order{Args: []string{}, Cwd: home}
	if json.Unmarshal(c.Body, &in) != nil || in.Command == "" {
		s.bad(c, "Invalid request body: command is required")
		return
	}
	if slices.Contains(s.o.Missing, in.Command) {
		s.refuse(c.W, http.StatusBadRequest, "executable_not_found", "Executable not found: "+in.Command)
		return
	}
	k := &command{ID: s.fresh("cmd"), Name: in.Command, Args: in.Args, Cwd: in.Cwd, Session: v.ID,
		Started: s.world.Now(), Took: 3 * time.Millisecond}
	trouble := s.execute(k, in)
	if s.met(c, k, trouble) {
		return
	}
	s.mu.Lock()
	s.commands[v.ID] = append(s.commands[v.ID], k)
	s.mu.Unlock()
	if !in.Wait {
		c.JSON(http.StatusOK, fields{"command": k.dto(false)})
		return
	}
	lines := []any{fields{"command": k.dto(false)}}
	if in.Logs {
		lines = append(lines, k.lines()...)
	}
	stream(c, append(lines, fields{"command": k.dto(true)})...)
}

// execute does the command in the world.
func (s insides) execute(k *command, in order) simulated.Trouble {
	limit := time.Duration(in.Timeout) * time.Millisecond
	if limit == 0 {
		limit = time.Hour
	}
	line := strings.Join(append([]string{in.Command}, in.Args...), " ")
	switch {
	case in.Command == "ls":
		return s.ls(k, in)
	case in.Command == "cat" && len(in.Args) == 1:
		line = "cat " + absolute(in.Cwd, in.Args[0])
	case in.Command == "sh" && len(in.Args) == 2 && in.Args[0] == "-c":
		line = in.Args[1]
	}
	r, trouble := s.world.Exec(k.Session, line, limit)
	k.Exit, k.Out = r.Exit, r.Output
	switch {
	case r.Exit < 0:
		return simulated.NoFork
	case trouble == simulated.TimedOut:
		k.Exit, k.Took = killed, limit
		return simulated.Healthy
	}
	return trouble
}

// ls lists a folder, as the vendor's client does for want of a call of its own.
func (s insides) ls(k *command, in order) simulated.Trouble {
	folder := in.Cwd
	if n := len(in.Args); n > 0 && !strings.HasPrefix(in.Args[n-1], "-") {
		folder = absolute(in.Cwd, in.Args[n-1])
	}
	files, trouble := s.world.Folder(k.Session, folder)
	if trouble == simulated.NoPath {
		k.Exit, k.Err = 2, "ls: cannot access '"+folder+"': No such file or directory\n"
		return simulated.Healthy
	}
	for _, f := range files {
		k.Out += f.Name + "\n"
	}
	return trouble
}

func absolute(cwd, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(cwd, name)
}

// met answers what stands in the way of a call into the machine, and reports whether
// anything does.
func (s insides) met(c *call, k *command, t simulated.Trouble) bool {
	switch t {
	case simulated.Healthy:
		return false
	case simulated.Dead:
		s.refuse(c.W, http.StatusBadGateway, "bad_gateway", "The sandbox did not answer")
	case simulated.Hung:
		if k != nil { // the stream begins, and nothing follows
			stream(c, fields{"command": k.dto(false)})
			_ = http.NewResponseController(c.W).Flush() // a recording has none
		}
		c.Silence()
	case simulated.NotRunning:
		s.refuse(c.W, http.StatusGone, "sandbox_stopped",
			"Sandbox has stopped execution and is no longer available")
	case simulated.Unknown:
		s.failed(c, simulated.ErrGone)
	default:
		s.refuse(c.W, http.StatusInternalServerError, "internal_server_error", string(t))
	}
	return true
}

// stream writes values one in a line, under the content type that the vendor's client
// compares letter by letter.
func stream(c *call, lines ...any) {
	c.W.Header().Set("Content-Type", "application/x-ndjson")
	c.W.WriteHeader(http.StatusOK)
	enc := json.NewEncoder(c.W)
	for _, line := range lines {
		_ = enc.Encode(line) // the client may have left
	}
}

func (k *command) lines() []any {
	var out []any
	for _, part := range []struct{ stream, text string }{{"stdout", k.Out}, {"stderr", k.Err}} {
		for line := range strings.Lines(part.text) {
			out = append(out, fields{"stream": part.stream, "data": line})
		}
	}
	return out
}

// listCommands shows the newest first. What runs in the world, and what waits there, are
// commands without an exit code: the vendor knows no queue.
func (s insides) listCommands(c *call) {
	v, ok := s.running(c)
	if !ok {
		return
	}
	out := []fields{}
	for range v.Running + len(v.Queued) {
		k := command{ID: s.fresh("cmd"), Name: "agent", Args: []string{}, Cwd: home, Session: v.ID, Started: v.CreatedAt}
		out = append(out, k.dto(false))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range slices.Backward(s.commands[v.ID]) {
		out = append(out, k.dto(true))
	}
	c.JSON(http.StatusOK, fields{"commands": out})
}

// asked is the command of the path, or answers that there is none.
func (s insides) asked(c *call) *command {
	if _, ok := s.running(c); !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.commands[c.id], func(k *command) bool { return k.ID == c.R.PathValue("cmd") })
	if at < 0 {
		s.refuse(c.W, http.StatusNotFound, "not_found", "Command not found.")
		return nil
	}
	return s.commands[c.id][at]
}

func (s insides) command(c *call) {
	if k := s.asked(c); k != nil {
		c.JSON(http.StatusOK, fields{"command": k.dto(true)})
	}
}

func (s insides) kill(c *call) { s.command(c) }

func (s insides) logs(c *call) {
	if k := s.asked(c); k != nil {
		stream(c, k.lines()...)
	}
}

// insides are what is done inside of a session: commands, files.
type insides struct{ *Server }

func (s *Server) insides() insides { return insides{s} }
