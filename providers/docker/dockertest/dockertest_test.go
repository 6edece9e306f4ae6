package dockertest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/docker/dockertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A lab is a simulated engine, and moby's own client before it.
type lab struct {
	*testing.T
	*client.Client
	world *simulated.World
	url   string
}

func start(t *testing.T, o dockertest.Options) *lab {
	t.Helper()
	world := simulated.New(simulated.Options{IDs: dockertest.IDs})
	world.PutTemplate(simulated.Template{Name: "bb:2"})
	server := httptest.NewServer(dockertest.New(world, o))
	t.Cleanup(server.Close)
	c, err := client.New(client.WithHost("tcp://" + server.Listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &lab{t, c, world, server.URL}
}

// made is a container that the client made and started.
func (l *lab) made(name string) string {
	l.Helper()
	c, err := l.ContainerCreate(l.Context(), client.ContainerCreateOptions{Name: name,
		Config: &container.Config{Image: "bb:2", Labels: map[string]string{"task": name}}})
	if err != nil {
		l.Fatal(err)
	}
	if _, err := l.ContainerStart(l.Context(), c.ID, client.ContainerStartOptions{}); err != nil {
		l.Fatal(err)
	}
	return c.ID
}

func (l *lab) state(id string) string {
	l.Helper()
	c, err := l.ContainerInspect(l.Context(), id, client.ContainerInspectOptions{})
	if err != nil {
		l.Fatal(err)
	}
	return string(c.Container.State.Status)
}

// run runs a command by the client's own attach, which takes the connection over.
func (l *lab) run(id string, cmd ...string) (out, errs string, exit int) {
	l.Helper()
	made, err := l.ExecCreate(l.Context(), id, client.ExecCreateOptions{AttachStdout: true, AttachStderr: true, Cmd: cmd})
	if err != nil {
		l.Fatal(err)
	}
	running, err := l.ExecAttach(l.Context(), made.ID, client.ExecAttachOptions{})
	if err != nil {
		l.Fatal(err)
	}
	defer running.Close()
	var o, e bytes.Buffer
	if _, err := stdcopy.StdCopy(&o, &e, running.Reader); err != nil {
		l.Fatal(err)
	}
	seen, err := l.ExecInspect(l.Context(), made.ID, client.ExecInspectOptions{})
	if err != nil || seen.Running || seen.ContainerID != id {
		l.Errorf("exec of %v is %+v, %v; want it ended", cmd, seen, err)
	}
	return o.String(), e.String(), seen.ExitCode
}

// The whole life of a container, by the vendor's client.
func TestLife(t *testing.T) {
	for name, o := range map[string]dockertest.Options{"docker": {}, "podman": {Podman: true}, "an old one": {Version: "1.41"}} {
		t.Run(name, func(t *testing.T) {
			l := start(t, o)
			id := l.made("w1")
			if v, err := l.ServerVersion(t.Context(), client.ServerVersionOptions{}); err != nil || v.APIVersion != l.ClientVersion() {
				t.Errorf("version = %+v, %v; the client speaks %s", v, err, l.ClientVersion())
			}
			if out, _, exit := l.run(id, "echo", "hello"); out != "hello\n" || exit != 0 {
				t.Errorf("echo = %q, %d", out, exit)
			}
			l.world.Change(id, func(s *simulated.Sandbox) { s.Exec = simulated.Dead })
			if out, errs, exit := l.run(id, "true"); !strings.Contains(out+errs, "exec failed") || exit != 126 && exit != 127 {
				t.Errorf("a command that cannot start = %q, %q, %d; want words and no error", out, errs, exit)
			}
			for _, step := range []struct {
				state string
				do    func() error
			}{
				{"paused", func() error {
					_, err := l.ContainerPause(t.Context(), id, client.ContainerPauseOptions{})
					return err
				}},
				{"running", func() error {
					_, err := l.ContainerUnpause(t.Context(), "w1", client.ContainerUnpauseOptions{})
					return err
				}},
				{"exited", func() error {
					_, err := l.ContainerStop(t.Context(), id[:12], client.ContainerStopOptions{})
					return err
				}},
				{"exited", func() error {
					_, err := l.ContainerStop(t.Context(), id, client.ContainerStopOptions{})
					return err
				}},
			} {
				if err := step.do(); err != nil || l.state(id) != step.state {
					t.Errorf("it is %s, %v; want %s", l.state(id), err, step.state)
				}
			}
			if _, err := l.ContainerStatPath(t.Context(), id, client.ContainerStatPathOptions{Path: "/"}); err != nil {
				t.Errorf("the disk of one that ended = %v, want it read all the same", err)
			}
			if _, err := l.ContainerRemove(t.Context(), id, client.ContainerRemoveOptions{}); err != nil {
				t.Error(err)
			}
			_, err := l.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
			if !errdefs.IsNotFound(err) || !strings.Contains(strings.ToLower(err.Error()), "no such container") {
				t.Errorf("inspect at last = %v, want not found", err)
			}
		})
	}
}

func TestLists(t *testing.T) {
	l := start(t, dockertest.Options{})
	for i := range 3 {
		l.world.Put(simulated.Sandbox{Name: string(rune('a' + i)), Labels: map[string]string{"k": "v", "n": string(rune('0' + i))},
			CreatedAt: time.Unix(int64(i), 0)})
	}
	l.world.Put(simulated.Sandbox{State: reconcile.SandboxStopped, Labels: map[string]string{"k": "v"}})
	list := func(o client.ContainerListOptions) (names []string) {
		found, err := l.ContainerList(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found.Items {
			names = append(names, strings.TrimPrefix(c.Names[0], "/")[:1])
		}
		return names
	}
	label := func(terms ...string) client.Filters { return client.Filters{}.Add("label", terms...) }
	for want, o := range map[string]client.ContainerListOptions{
		"c b a": {}, "b": {Filters: label("k=v", "n=1")}, "c b": {Limit: 2}, "": {Filters: label("k=w")},
	} {
		if got := strings.Join(list(o), " "); got != want {
			t.Errorf("list %+v = %s, want %s", o, got, want)
		}
	}
	if got := list(client.ContainerListOptions{All: true, Filters: label("k=v")}); len(got) != 4 {
		t.Errorf("list of all = %v, want 4", got)
	}
	if got := list(client.ContainerListOptions{Filters: client.Filters{}.Add("status", "exited")}); len(got) != 1 {
		t.Errorf("list of the ended = %v, want 1", got)
	}
	_, err := l.ContainerList(t.Context(), client.ContainerListOptions{Filters: client.Filters{}.Add("mood", "good")})
	if !errdefs.IsInvalidArgument(err) {
		t.Errorf("list by an unknown filter = %v, want it refused", err)
	}
}

// What the engines refuse, with which status and in which form.
func TestRefusals(t *testing.T) {
	for _, podman := range []bool{false, true} {
		l := start(t, dockertest.Options{Podman: podman})
		id := l.made("w1")
		wants := func(what string, err error, docker, other func(error) bool) {
			t.Helper()
			is := docker
			if podman {
				is = other
			}
			if err == nil || !is(err) {
				t.Errorf("%s, podman %t: %v", what, podman, err)
			}
		}
		_, err := l.ContainerRemove(t.Context(), id, client.ContainerRemoveOptions{})
		wants("remove without force", err, errdefs.IsConflict, errdefs.IsInternal)
		_, err = l.ContainerUnpause(t.Context(), id, client.ContainerUnpauseOptions{})
		wants("unpause", err, errdefs.IsInternal, errdefs.IsInternal)
		_, err = l.ContainerCreate(t.Context(), client.ContainerCreateOptions{Name: "w1", Config: &container.Config{Image: "bb:2"}})
		wants("the same name", err, errdefs.IsConflict, errdefs.IsConflict)
		_, err = l.ContainerCreate(t.Context(), client.ContainerCreateOptions{Config: &container.Config{Image: "none"}})
		wants("no image", err, errdefs.IsNotFound, errdefs.IsNotFound)
		_, err = l.ImageInspect(t.Context(), "none")
		wants("no image", err, errdefs.IsNotFound, errdefs.IsNotFound)
		l.world.Change(id, func(s *simulated.Sandbox) { s.State = reconcile.SandboxSuspended })
		_, err = l.ExecCreate(t.Context(), id, client.ExecCreateOptions{Cmd: []string{"true"}})
		wants("exec in a paused one", err, errdefs.IsConflict, errdefs.IsConflict)
		l.world.Change(id, func(s *simulated.Sandbox) { s.State = reconcile.SandboxStopped })
		_, err = l.ExecCreate(t.Context(), id, client.ExecCreateOptions{Cmd: []string{"true"}})
		wants("exec in one that ended", err, errdefs.IsConflict, errdefs.IsInternal)
		_, err = l.ContainerKill(t.Context(), id, client.ContainerKillOptions{})
		wants("kill of one that ended", err, errdefs.IsConflict, errdefs.IsInternal)
		l.world.Change(id, func(s *simulated.Sandbox) { s.State = reconcile.SandboxDeleting })
		_, err = l.ContainerRemove(t.Context(), id, client.ContainerRemoveOptions{Force: true})
		wants("a removal under way", err, errdefs.IsConflict, errdefs.IsConflict)
	}
}

// The forms of an error: both have a message, Podman's has more.
func TestErrorBodies(t *testing.T) {
	for name, test := range map[string]struct {
		o      dockertest.Options
		path   string
		status int
		body   string
	}{
		"docker": {dockertest.Options{}, "/v1.41/containers/x/json", 404, `{"message":"No such container: x"}`},
		"podman": {dockertest.Options{Podman: true}, "/v1.41/containers/x/json", 404,
			`{"cause":"no such container","message":"no container with name or ID \"x\" found: no such container","response":404}`},
		"no route":         {dockertest.Options{}, "/v1.41/nonsense", 404, `{"message":"page not found"}`},
		"no route, podman": {dockertest.Options{Podman: true}, "/v1.41/nonsense", 404, "Not Found"},
		"too new": {dockertest.Options{Version: "1.41"}, "/v1.56/containers/json", 400,
			`{"message":"client version 1.56 is too new. Maximum supported API version is 1.41"}`},
		"a key is missing": {dockertest.Options{Key: "k"}, "/v1.41/containers/json", 401, `{"message":"Invalid credentials"}`},
		"a ping":           {dockertest.Options{Key: "k"}, "/_ping", 200, "OK"},
	} {
		l := start(t, test.o)
		res, err := http.Get(l.url + test.path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if got := strings.TrimSpace(string(body)); res.StatusCode != test.status || got != test.body {
			t.Errorf("%s = %d %s, want %d %s", name, res.StatusCode, got, test.status, test.body)
		}
		if res.Header.Get("Api-Version") == "" || res.Header.Get("Date") == "" && test.status != 404 {
			t.Errorf("%s: headers %v, want a version and a date", name, res.Header)
		}
	}
}

func TestStatsAndLogs(t *testing.T) {
	l := start(t, dockertest.Options{})
	s := l.world.Put(simulated.Sandbox{Log: "one\ntwo\nthree\n", Usage: reconcile.Resources{CPUPercent: 50, MemoryUsed: 5, MemoryTotal: 9}})
	log, err := l.ContainerLogs(t.Context(), s.ID, client.ContainerLogsOptions{ShowStdout: true, Tail: "2"})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var out bytes.Buffer
	if _, err := stdcopy.StdCopy(&out, &out, log); err != nil || out.String() != "two\nthree\n" {
		t.Errorf("logs = %q, %v; want the last two lines", out.String(), err)
	}
	stats, err := l.ContainerStats(t.Context(), s.ID, client.ContainerStatsOptions{IncludePreviousSample: true})
	if err != nil {
		t.Fatal(err)
	}
	defer stats.Body.Close()
	var in container.StatsResponse
	if err := json.NewDecoder(stats.Body).Decode(&in); err != nil || in.MemoryStats.Usage != 5 ||
		in.CPUStats.CPUUsage.TotalUsage-in.PreCPUStats.CPUUsage.TotalUsage != 5e8 {
		t.Errorf("stats = %+v, %v; want half of a second, and 5 bytes", in, err)
	}
}

// An attach that never ends is ended by its caller.
func TestHungAttach(t *testing.T) {
	l := start(t, dockertest.Options{})
	s := l.world.Put(simulated.Sandbox{Exec: simulated.Hung})
	made, err := l.ExecCreate(t.Context(), s.ID, client.ExecCreateOptions{AttachStdout: true, Cmd: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := l.ExecAttach(t.Context(), made.ID, client.ExecAttachOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if seen, err := l.ExecInspect(t.Context(), made.ID, client.ExecInspectOptions{}); err != nil || !seen.Running {
		t.Errorf("the command is %+v, %v; want it running", seen, err)
	}
	run.Close()
}
