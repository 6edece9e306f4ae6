package simulated

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Result is what a command came to.
type Result struct {
	Exit   int
	Output string
}

// Exec runs a command in a sandbox: true, false, echo, exit N, sleep N, cat PATH, and pgrep,
// which looks for the task's worker, whatever it is told; any other does nothing, well. A sleep
// that outlasts the limit times out at once.
func (w *World) Exec(id, command string, limit time.Duration) (Result, Trouble) {
	s, trouble := w.reach(id)
	if trouble = cmp.Or(trouble, s.Exec); trouble == NoFork {
		return Result{Exit: -1, Output: "fork/exec /usr/bin/bash: no such file or directory"}, Healthy
	}
	if trouble != Healthy {
		return Result{}, trouble
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(command), " ")
	number, _ := strconv.ParseFloat(rest, 64)
	switch name {
	case "false":
		return Result{Exit: 1}, Healthy
	case "pgrep":
		if s.WorkerGone {
			return Result{Exit: 1}, Healthy
		}
		return Result{Output: "7\n"}, Healthy
	case "echo":
		return Result{Output: rest + "\n"}, Healthy
	case "exit":
		return Result{Exit: int(number)}, Healthy
	case "sleep":
		if time.Duration(number*float64(time.Second)) > limit {
			return Result{}, TimedOut
		}
	case "cat":
		text, ok := s.Disk[rest]
		if !ok {
			return Result{Exit: 1, Output: "cat: " + rest + ": No such file or directory\n"}, Healthy
		}
		return Result{Output: text}, Healthy
	}
	return Result{}, Healthy
}

// A File is one entry of a folder.
type File struct {
	Name string
	Dir  bool
	Size int
}

// Folder lists a folder of a sandbox.
func (w *World) Folder(id, folder string) ([]File, Trouble) {
	s, trouble := w.reach(id)
	if trouble = cmp.Or(trouble, s.Files); trouble != Healthy {
		return nil, trouble
	}
	folder = path.Clean("/" + folder)
	files := map[string]File{}
	exists := false
	for name := range paths(s.Disk) {
		if name == folder {
			exists = true
		}
		if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(folder, "/")+"/"); ok && rest != "" {
			first, _, deeper := strings.Cut(rest, "/")
			text, isFile := s.Disk[name]
			files[first] = File{Name: first, Dir: deeper || !isFile, Size: len(text)}
			exists = true
		}
	}
	if !exists {
		return nil, NoPath
	}
	out := make([]File, 0, len(files))
	for _, f := range files {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return out, Healthy
}

// paths are the files of a disk and the folders that exist always.
func paths(disk map[string]string) map[string]bool {
	out := map[string]bool{"/": true, "/bin": true, "/etc": true, "/home": true, "/tmp": true, "/usr": true,
		"/workspace": true}
	for name := range disk {
		out[path.Clean("/"+name)] = true
	}
	return out
}

// Measure is what a sandbox uses.
func (w *World) Measure(id string) (reconcile.Resources, Trouble) {
	s, trouble := w.reach(id)
	if s.Usage == (reconcile.Resources{}) {
		s.Usage = reconcile.Resources{CPUPercent: 3, MemoryUsed: 200 << 20, MemoryTotal: 1 << 30, DiskUsed: 1 << 30,
			DiskTotal: 3 << 30}
	}
	return s.Usage, cmp.Or(trouble, s.Exec)
}

// ExecutionsOf is what a sandbox was asked to run and has not finished, as the control plane
// knows it: also while nothing inside answers.
func (w *World) ExecutionsOf(id string) (reconcile.ExecutionsSeen, Trouble) {
	s, trouble := w.reach(id)
	out := reconcile.ExecutionsSeen{Queued: len(s.Queued), Running: s.Running}
	for _, asked := range s.Queued {
		out.QueuedFor = max(out.QueuedFor, w.o.Now().Sub(asked))
	}
	return out, trouble
}

// LogOf is what the sandbox's entry point printed.
func (w *World) LogOf(id string) (string, Trouble) {
	s, trouble := w.reach(id)
	return s.Log, cmp.Or(trouble, s.Exec)
}

// reach is the sandbox, if its inside can be called at all.
func (w *ground) reach(id string) (Sandbox, Trouble) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.boxes[id]
	if b == nil {
		return Sandbox{}, Unknown
	}
	w.settle(b)
	switch {
	case b.Gone:
		return b.Sandbox, Unknown
	case b.State != reconcile.SandboxRunning:
		return b.Sandbox, NotRunning
	}
	return b.Sandbox, Healthy
}
