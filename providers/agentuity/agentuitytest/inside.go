package agentuitytest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func (s insides) insideRoutes(handle router) {
	handle("POST /sandbox/{id}/execute", simulated.Exec, s.execute)
	handle("GET /fs/list/{id}", simulated.Files, s.listFiles)
	handle("GET /fs/{id}", simulated.Files, s.readFile)
	handle("POST /fs/{id}", simulated.Label, s.writeFiles)
	handle("POST /fs/mkdir/{id}", simulated.Label, s.mkdir)
	handle("POST /fs/rm/{id}", simulated.Label, s.remove)
	handle("POST /fs/rmdir/{id}", simulated.Label, s.remove)
	s.recordRoutes(handle)
}

// execute runs a command. One that is suspended is woken by it; one that runs something is
// busy. Where nothing works any more it answers 500, and the execution that it made stays
// queued.
func (s insides) execute(q *request) {
	var in struct {
		Command []string
		Files   []file
		Timeout string
	}
	if json.Unmarshal(q.Body, &in) != nil || len(in.Command) == 0 {
		q.fail(http.StatusBadRequest, "", "command is required")
		return
	}
	woken, ok := s.ready(q)
	if !ok {
		return
	}
	s.world.Touch(q.id)
	if len(in.Files) > 0 {
		s.write(q.id, in.Files)
	}
	limit, err := time.ParseDuration(in.Timeout)
	if err != nil {
		limit = 5 * time.Minute
	}
	e := s.began(q.id, in.Command)
	s.run(q, e, limit, woken)
}

// ready brings the sandbox to where a command can run, or answers why it cannot.
func (s insides) ready(q *request) (woken, ok bool) {
	b, err := s.look(q.id)
	if err == nil && b.State == reconcile.SandboxSuspended {
		if b, err = s.world.Start(q.id); err == nil {
			woken = true
		}
	}
	if err == nil && b.State == reconcile.SandboxCreating {
		q.until(mostWait, func() bool {
			b, err = s.look(q.id)
			return err != nil || b.State != reconcile.SandboxCreating
		})
	}
	switch {
	case err != nil:
		s.failed(q, err)
	case b.State != reconcile.SandboxRunning:
		q.fail(http.StatusConflict, "SANDBOX_TERMINATED", "sandbox is "+word(b))
	case b.Running > 0:
		q.fail(http.StatusConflict, "SANDBOX_BUSY", "sandbox is busy executing another command")
	default:
		return woken, true
	}
	return false, false
}

// run carries an execution out as the sandbox's trouble lets it.
func (s insides) run(q *request, e *execution, limit time.Duration, woken bool) {
	result, trouble := s.world.Exec(q.id, plain(e.Command), limit)
	answer := "running"
	switch {
	case trouble == simulated.Dead:
		s.left(e)
		q.fail(http.StatusInternalServerError, "", "Internal Server Error")
		return
	case trouble == simulated.Hung:
		s.left(e)
		q.Silence()
		return
	case trouble == simulated.Lost: // taken, and never run
		s.left(e)
		answer = "queued"
	case trouble == simulated.TimedOut:
		s.ended(e, "timeout", simulated.Result{Exit: -1})
	case trouble != simulated.Healthy:
		s.missing(q)
		return
	case result.Exit < 0:
		s.ended(e, "failed", result)
	default:
		s.ended(e, "completed", result)
	}
	body := map[string]any{"success": true, "data": map[string]any{
		"executionId": e.ID, "status": answer,
		"stdoutStreamUrl": s.streamOf(q.R, e.ID, "stdout"), "stderrStreamUrl": s.streamOf(q.R, e.ID, "stderr"),
	}}
	if woken {
		body["autoResumed"] = true
	}
	q.JSON(http.StatusOK, body)
}

// plain is a command as the world understands it.
func plain(command []string) string {
	if len(command) > 2 && (command[0] == "sh" || command[0] == "bash") && strings.HasSuffix(command[1], "c") {
		return command[2]
	}
	return strings.Join(command, " ")
}

// met answers what stands in the way of a look at the files, and reports whether anything does.
func (s insides) met(q *request, path string, t simulated.Trouble) bool {
	switch t {
	case simulated.Healthy:
		return false
	case simulated.Hung:
		q.Silence()
	case simulated.Dead:
		q.fail(http.StatusInternalServerError, "", "Internal Server Error")
	case simulated.Lost:
		q.fail(http.StatusNotFound, "", "stat /var/lib/sandbox/"+q.id+"/cow-merged"+path+": no such file or directory")
	case simulated.NoPath:
		q.fail(http.StatusNotFound, "", "open "+path+": no such file or directory")
	case simulated.NotRunning:
		q.fail(http.StatusConflict, "", "sandbox is not running")
	default:
		s.missing(q)
	}
	return true
}

func (s insides) listFiles(q *request) {
	path := inHome(q.R.URL.Query().Get("path"))
	s.world.Touch(q.id)
	files, trouble := s.world.Folder(q.id, path)
	if s.met(q, path, trouble) {
		return
	}
	out := make([]map[string]any, len(files))
	for i, f := range files {
		mode := "0644"
		if f.Dir {
			mode = "0755"
		}
		out[i] = map[string]any{"path": f.Name, "size": f.Size, "isDir": f.Dir, "mode": mode, "modTime": stamp(s.world.Now())}
	}
	q.data(http.StatusOK, map[string]any{"files": out})
}

// file is the text of a file, and the trouble of whoever asks for it.
func (s insides) file(id, path string) (string, simulated.Trouble) {
	_, trouble := s.world.Folder(id, "/")
	b, _ := s.world.Sandbox(id)
	text, ok := b.Disk[path]
	if trouble == simulated.Healthy && !ok {
		trouble = simulated.NoPath
	}
	return text, trouble
}

func (s insides) readFile(q *request) {
	path := inHome(q.R.URL.Query().Get("path"))
	s.world.Touch(q.id)
	text, trouble := s.file(q.id, path)
	if s.met(q, path, trouble) {
		return
	}
	q.W.Header().Set("Content-Type", "application/octet-stream")
	_, _ = io.WriteString(q.W, text)
}

// write puts files onto the sandbox's disk, which is replaced and never changed in place.
func (s insides) write(id string, files []file) {
	s.world.Change(id, func(b *simulated.Sandbox) {
		disk := maps.Clone(b.Disk)
		if disk == nil {
			disk = map[string]string{}
		}
		store(disk, files)
		b.Disk = disk
	})
}

func (s insides) writeFiles(q *request) {
	var in struct{ Files []file }
	if json.Unmarshal(q.Body, &in) != nil {
		q.fail(http.StatusBadRequest, "", "files are required")
		return
	}
	_, trouble := s.world.Folder(q.id, "/")
	if s.met(q, "/", trouble) {
		return
	}
	s.world.Touch(q.id)
	s.write(q.id, in.Files)
	q.data(http.StatusOK, map[string]any{"filesWritten": len(in.Files)})
}

// mkdir makes a folder by what is in it: the world keeps files only.
func (s insides) mkdir(q *request) {
	if path, ok := s.path(q); ok {
		s.write(q.id, []file{{Path: strings.TrimSuffix(path, "/") + "/.keep"}})
		q.JSON(http.StatusOK, map[string]any{"success": true})
	}
}

func (s insides) remove(q *request) {
	path, ok := s.path(q)
	if !ok {
		return
	}
	found := false
	s.world.Change(q.id, func(b *simulated.Sandbox) {
		disk := maps.Clone(b.Disk)
		maps.DeleteFunc(disk, func(name, _ string) bool {
			under := name == path || strings.HasPrefix(name, strings.TrimSuffix(path, "/")+"/")
			found = found || under
			return under
		})
		b.Disk = disk
	})
	q.JSON(http.StatusOK, map[string]any{"success": true, "found": found})
}

// path is what a change of the files is about, if it can be made.
func (s insides) path(q *request) (string, bool) {
	var in struct{ Path string }
	if json.Unmarshal(q.Body, &in) != nil || in.Path == "" {
		q.fail(http.StatusBadRequest, "", "path is required")
		return "", false
	}
	_, trouble := s.world.Folder(q.id, "/")
	return inHome(in.Path), !s.met(q, in.Path, trouble)
}

// stream is what a sandbox or an execution printed, for everybody who knows the address.
func (s insides) stream(w http.ResponseWriter, r *http.Request) {
	id, which := r.PathValue("id"), r.PathValue("which")
	w.Header().Set("Content-Type", "text/plain")
	s.world.Called(simulated.Call{Kind: simulated.LogsOf, ID: id})
	if b, ok := s.world.Sandbox(id); ok && which == "stdout" {
		_, _ = io.WriteString(w, b.Log)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ran := range s.ran {
		at := slices.IndexFunc(ran, func(e *execution) bool { return e.ID == id })
		if at >= 0 && which == "stdout" {
			_, _ = io.WriteString(w, ran[at].output)
		}
	}
}

// insides are what is answered of the inside of one sandbox: its files, its commands.
type insides struct{ *Server }

func (s *Server) insides() insides { return insides{s} }
