package dockertest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An execution is a command that was made, and perhaps started.
type execution struct {
	container string
	cmd       []string
	running   bool
	exit      int
}

// A said is what a command came to.
type said struct {
	out, errs string
	exit      int
	silent    bool          // never ends
	after     time.Duration // how long it takes
}

// half tells which half of a probe a command is.
func (e *execution) half() simulated.Kind {
	if len(e.cmd) > 3 && e.cmd[3] == "sandkeeper-files" {
		return simulated.Files
	}
	return simulated.Exec
}

func (s *Server) execCall(r *http.Request, c simulated.Call) simulated.Call {
	e := &execution{container: c.ID}
	if id := r.PathValue("exec"); id != "" {
		e = s.known1(id)
	} else {
		var in struct{ Cmd []string }
		body, _ := io.ReadAll(r.Body) // from memory
		_ = json.Unmarshal(body, &in)
		e.cmd = in.Cmd
	}
	c.Kind, c.ID = e.half(), e.container
	return c
}

func (s *Server) known1(id string) *execution {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.execs[id]; e != nil {
		return e
	}
	return &execution{}
}

// hangs reports whether a command of the container hangs, and the container still is so.
func (s *Server) hangs(id string) bool {
	b, known := s.world.Sandbox(id)
	return known && (b.Exec == simulated.Hung || b.Files == simulated.Hung) && len(s.running(id)) > 0
}

// exec makes an execution. It starts nothing.
func (s *Server) exec(x wiretest.Exchange) {
	b, err := s.find(x.R.PathValue("id"))
	var in struct{ Cmd []string }
	switch {
	case err != nil:
		s.failed(x, err)
		return
	case b.State != reconcile.SandboxRunning || b.Raw != "" && b.Raw != "running":
		s.notRunning(x, b)
		return
	case json.Unmarshal(x.Body, &in) != nil || len(in.Cmd) == 0:
		s.fail(x.W, x.R, http.StatusBadRequest, "No exec command specified")
		return
	}
	s.mu.Lock()
	s.made++
	id := fmt.Sprintf("%064x", s.made)
	s.execs[id] = &execution{container: b.ID, cmd: in.Cmd}
	s.mu.Unlock()
	x.JSON(http.StatusCreated, map[string]string{"Id": id})
}

func (s *Server) notRunning(x wiretest.Exchange, b simulated.Sandbox) {
	switch {
	case s.o.Podman && b.State == reconcile.SandboxSuspended:
		s.fail(x.W, x.R, http.StatusConflict, "cannot create exec session as container "+b.ID+" is paused")
	case s.o.Podman:
		s.fail(x.W, x.R, http.StatusInternalServerError,
			"can only create exec sessions on running containers: container state improper")
	case b.State == reconcile.SandboxSuspended:
		s.fail(x.W, x.R, http.StatusConflict, "Container "+b.ID+" is paused, unpause the container before exec")
	case raw(b) == "restarting":
		s.fail(x.W, x.R, http.StatusConflict, "Container "+b.ID+" is restarting, wait until the container is running")
	default:
		s.fail(x.W, x.R, http.StatusConflict, "Container "+b.ID+" is not running")
	}
}

func (s *Server) execInspect(x wiretest.Exchange) {
	id := x.R.PathValue("exec")
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.execs[id]
	if e == nil {
		s.fail(x.W, x.R, http.StatusNotFound, "No such exec instance: "+id)
		return
	}
	out := map[string]any{"ID": id, "Running": e.running, "ExitCode": nil, "ContainerID": e.container, "Pid": 0,
		"ProcessConfig": map[string]any{"tty": false, "entrypoint": e.cmd[0], "arguments": e.cmd[1:], "privileged": false}}
	if !e.running {
		out["ExitCode"] = e.exit
	}
	x.JSON(http.StatusOK, out)
}

// execStart answers 200, or 101 to who wants the connection, before anything is known of
// the command.
func (s *Server) execStart(x wiretest.Exchange) {
	id := x.R.PathValue("exec")
	e := s.known1(id)
	if e.container == "" {
		s.fail(x.W, x.R, http.StatusNotFound, "No such exec instance: "+id)
		return
	}
	if b, err := s.find(e.container); err != nil || b.State != reconcile.SandboxRunning {
		s.fail(x.W, x.R, http.StatusConflict, "Container "+e.container+" is not running")
		return
	}
	r := s.does(e)
	s.mu.Lock()
	e.running, e.exit = r.silent, r.exit
	s.mu.Unlock()
	if x.R.Header.Get("Upgrade") == "tcp" {
		s.takeOver(x, r)
		return
	}
	x.W.Header().Set("Content-Type", "application/vnd.docker.raw-stream")
	x.W.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(x.W).Flush() // a recording has none
	wait(x, r)
	_, _ = x.W.Write(framed(r))
}

// takeOver gives the connection to the stream, as moby's client asks for it.
func (s *Server) takeOver(x wiretest.Exchange, r said) {
	conn, _, err := http.NewResponseController(x.W).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.multiplexed-stream\r\n"+
		"Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
	if r.silent {
		untilClosed(conn)
	}
	_, _ = conn.Write(framed(r))
}

func untilClosed(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

func wait(x wiretest.Exchange, r said) {
	if r.silent {
		x.Silence()
	}
	timer := time.NewTimer(r.after)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.R.Context().Done():
	}
}

// framed is the output in frames: stream, three zeros, length.
func framed(r said) []byte {
	var out []byte
	for stream, text := range map[byte]string{1: r.out, 2: r.errs} {
		for line := range strings.Lines(text) {
			out = append(out, stream, 0, 0, 0)
			out = binary.BigEndian.AppendUint32(out, uint32(len(line)))
			out = append(out, line...)
		}
	}
	return out
}

// does runs the command in the world. Of our probes it says what their scripts would.
func (s *Server) does(e *execution) said {
	switch {
	case e.half() == simulated.Files && len(e.cmd) > 4:
		files, trouble := s.world.Folder(e.container, e.cmd[4])
		if trouble == simulated.NoPath {
			return said{out: "began\n", exit: 1,
				errs: "sandkeeper-files: cd: line 1: can't cd to " + e.cmd[4] + ": No such file or directory\n"}
		}
		return s.met(trouble, said{out: fmt.Sprintf("began\nlisted %d\nkept\n", len(files))})
	case len(e.cmd) > 5 && e.cmd[3] == "sandkeeper-exec":
		return s.probed(e)
	}
	command := strings.Join(e.cmd, " ")
	if len(e.cmd) > 2 && e.cmd[1] == "-c" {
		command = e.cmd[2]
	}
	r, trouble := s.world.Exec(e.container, command, time.Hour)
	return s.met(trouble, said{out: r.Output, exit: max(r.Exit, 0)})
}

// probed is a command within a time-out.
func (s *Server) probed(e *execution) said {
	seconds, _ := strconv.Atoi(e.cmd[4])
	limit := time.Duration(seconds) * time.Second
	r, trouble := s.world.Exec(e.container, e.cmd[5], limit)
	switch {
	case trouble == simulated.TimedOut:
		return said{out: "began\nforked\nexit 137\n", after: limit}
	case r.Exit < 0:
		return said{out: "began\n", exit: 2, errs: "sandkeeper-exec: line 1: can't fork: Resource temporarily unavailable\n"}
	}
	return s.met(trouble, said{out: fmt.Sprintf("began\nforked\nexit %d\n", r.Exit)})
}

// met is what stands in the way of a command, or else how it goes.
func (s *Server) met(t simulated.Trouble, well said) said {
	const shell = `exec: "/bin/sh": stat /bin/sh: no such file or directory`
	switch {
	case t == simulated.Healthy:
		return well
	case t == simulated.Hung:
		return said{silent: true}
	case s.o.Podman:
		return said{exit: 127, errs: "Error: runc: exec failed: unable to start container process: " + shell +
			": OCI runtime attempted to invoke a command that was not found\n"}
	}
	return said{exit: 126, out: "OCI runtime exec failed: exec failed: unable to start container process: " + shell +
		": unknown\r\n"}
}
