package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/test/scale/bare"
)

// pageSize is the largest page that Daytona gives.
const pageSize = 200

// goneAfter is how long a deleted sandbox can still be seen.
const goneAfter = time.Second

// A provider speaks as much of Daytona's API as a janitor calls, as fast as it can or as slow as it is told to. It
// holds no sandbox: each is written when it is asked for.
type provider struct {
	latency time.Duration
	probe   time.Duration // how long a sandbox takes to answer a probe
	hang    int           // each of so many sandboxes never answers one; 0: all do
	url     string        // its own
	tasks   []string      // the task of each sandbox

	mu    sync.Mutex
	ended map[int]time.Time
	stats stats
}

// Stats are what a provider was asked.
type stats struct {
	Sandboxes              int // that it has
	Lists, Gets, Deletes   int
	Others, Probes, Execs  int       // probes are all calls into sandboxes, execs those of them that run a command
	FirstPage, LastPage    time.Time // first asked for, last answered
	FirstDelete, LastEnded time.Time
}

// serve is a provider as a process: one sandbox for each task of a database, and orphans besides.
func serve(ctx context.Context, args []string) error {
	set := flag.NewFlagSet("serve", flag.ContinueOnError)
	dsn := set.String("dsn", "", "database of the tasks")
	orphans := set.Int("orphans", 0, "sandboxes of no task")
	p := &provider{ended: map[int]time.Time{}}
	set.DurationVar(&p.latency, "latency", 0, "how long each answer takes")
	set.DurationVar(&p.probe, "probe", 50*time.Millisecond, "how long a sandbox takes to answer a probe")
	set.IntVar(&p.hang, "hang", 0, "each of so many sandboxes never answers a probe; 0: all answer")
	if err := set.Parse(args); err != nil {
		return err
	}
	var err error
	if p.tasks, err = taskIDs(ctx, *dsn); err != nil {
		return fmt.Errorf("read the tasks: %w", err)
	}
	for i := range *orphans {
		p.tasks = append(p.tasks, fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
	}
	listen, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.url = "http://" + listen.Addr().String()
	if _, err := fmt.Println(p.url); err != nil {
		return err
	}
	server := &http.Server{Handler: p.routes(), ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listen); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func taskIDs(ctx context.Context, dsn string) ([]string, error) {
	db, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer db.Close(ctx)
	rows, err := db.Query(ctx, "SELECT id::text FROM tasks ORDER BY id")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func (p *provider) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stats.Sandboxes = len(p.tasks) - len(p.ended)
		_ = json.NewEncoder(w).Encode(p.stats)
	})
	mux.HandleFunc("GET /api/sandbox", p.list)
	mux.HandleFunc("GET /api/sandbox/{id}", p.get)
	mux.HandleFunc("DELETE /api/sandbox/{id}", p.end)
	mux.HandleFunc("/toolbox/{id}/", p.probed)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.count(func(s *stats) { s.Others++ })
		notFound(w, r)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/stats" {
			time.Sleep(p.latency)
		}
		mux.ServeHTTP(w, r)
	})
}

func (p *provider) count(do func(*stats)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do(&p.stats)
}

func (p *provider) list(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	from, err := strconv.Atoi(r.URL.Query().Get("cursor"))
	if err != nil { // none: it is the first page
		from = madeAfter(r.URL.Query().Get("createdAtAfter"))
	}
	var labels map[string]string
	if text := r.URL.Query().Get("labels"); text != "" && json.Unmarshal([]byte(text), &labels) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	upTo := from // what is gone takes no place on a page
	text := []byte(`{"items":[`)
	for shown := 0; upTo < len(p.tasks) && shown < pageSize; upTo++ {
		if !p.labelled(upTo, labels) {
			continue
		}
		state := p.state(upTo, now)
		if state == "" {
			continue
		}
		if shown++; shown > 1 {
			text = append(text, ',')
		}
		text = p.appendBox(text, upTo, state)
	}
	text = append(text, `],"nextCursor":null}`...)
	if upTo < len(p.tasks) {
		text = fmt.Appendf(text[:len(text)-len("null}")], `"%d"}`, upTo)
	}
	write(w, text)
	p.count(func(s *stats) {
		if s.Lists++; s.FirstPage.IsZero() {
			s.FirstPage = now.Add(-p.latency)
		}
		s.LastPage = time.Now()
	})
}

// labelled reports whether a sandbox has all these labels. As at the vendor, a search for the sandboxes of one task is
// no listing of all.
func (p *provider) labelled(i int, labels map[string]string) bool {
	for key, value := range labels {
		if has := fixedLabels[key]; key == "task_id" && value != p.tasks[i] || key != "task_id" && value != has {
			return false
		}
	}
	return true
}

// fixedLabels are those that all sandboxes have alike.
var fixedLabels = map[string]string{"project": "omoios", "agent_id": "agent-1", "phase_id": "phase-2"}

// state is how a sandbox is seen; "" when it is gone.
func (p *provider) state(i int, now time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ended := p.ended[i]
	switch {
	case !ended:
		return "started"
	case now.Sub(at) < goneAfter:
		return "destroying"
	}
	return ""
}

// appendBox writes a sandbox with all that the vendor says of one.
func (p *provider) appendBox(to []byte, i int, state string) []byte {
	return fmt.Appendf(to, `{"id":"%s","organizationId":"org","name":"sandbox-%d","target":"us","user":"daytona",`+
		`"public":false,"networkBlockAll":false,"cpu":2,"gpu":0,"memory":4,"disk":8,"labels":{"project":"omoios",`+
		`"task_id":"%s","agent_id":"agent-1","phase_id":"phase-2"},"toolboxProxyUrl":"%[6]s/toolbox",`+
		`"state":"%[4]s","desiredState":"%[4]s","snapshot":"ai-agent-dev-light","autoStopInterval":15,"backupState":"None",`+
		`"createdAt":"%[5]s","updatedAt":"2026-01-20T09:01:00.000Z",`+
		`"lastActivityAt":"2026-01-20T09:30:00.000Z"}`, boxID(i), i, p.tasks[i], state, madeAt(i).Format(stamp), p.url)
}

const stamp = "2006-01-02T15:04:05.000Z"

// firstMade is when the first sandbox was made; each further one is made 50 ms later.
var firstMade = time.Date(2026, 1, 20, 5, 0, 0, 0, time.UTC)

const madeEach = 50 * time.Millisecond

func madeAt(i int) time.Time { return firstMade.Add(time.Duration(i) * madeEach) }

// madeAfter is the number of the first sandbox that was made after a moment; "" is before all.
func madeAfter(text string) int {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Before(firstMade) {
		return 0
	}
	return int(at.Sub(firstMade)/madeEach) + 1
}

func boxID(i int) string { return fmt.Sprintf("0c5a0000-77f2-4a3b-9c1d-%012d", i) }

// find is the number of a sandbox that is there.
func (p *provider) find(r *http.Request) (i int, state string) {
	id := r.PathValue("id")
	i, err := strconv.Atoi(id[strings.LastIndexByte(id, '-')+1:])
	if err != nil || i < 0 || i >= len(p.tasks) || boxID(i) != id {
		return 0, ""
	}
	return i, p.state(i, time.Now())
}

func (p *provider) get(w http.ResponseWriter, r *http.Request) {
	p.count(func(s *stats) { s.Gets++ })
	i, state := p.find(r)
	if state == "" {
		notFound(w, r)
		return
	}
	write(w, p.appendBox(nil, i, state))
}

func (p *provider) end(w http.ResponseWriter, r *http.Request) {
	i, state := p.find(r)
	p.count(func(s *stats) {
		if s.Deletes++; s.FirstDelete.IsZero() {
			s.FirstDelete = time.Now().Add(-p.latency)
		}
		if state == "started" {
			p.ended[i], s.LastEnded = time.Now(), time.Now()
		}
	})
	if state == "" {
		notFound(w, r)
		return
	}
	write(w, p.appendBox(nil, i, "destroying"))
}

// probed answers a probe of what runs in a sandbox: a command, or a list of files. Of one that hangs no command ends.
func (p *provider) probed(w http.ResponseWriter, r *http.Request) {
	runs := r.Method == http.MethodPost
	p.count(func(s *stats) {
		if s.Probes++; runs {
			s.Execs++
		}
	})
	if i, _ := p.find(r); runs && p.hang > 0 && i%p.hang == 0 {
		<-r.Context().Done()
		return
	}
	time.Sleep(p.probe)
	if runs {
		write(w, []byte(`{"exitCode":0,"result":""}`))
		return
	}
	write(w, []byte(`[]`))
}

// notFound answers as the vendor does: any other answer would leave open whether the sandbox is gone.
func notFound(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(map[string]any{"statusCode": 404, "error": "Not Found",
		"message": "Sandbox with ID or name " + r.PathValue("id") + " not found", "path": r.URL.Path})
}

func write(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(text) // a client that left needs no answer
}

// A running provider is one that another process serves.
type runningProvider struct {
	url  string
	stop func()
}

// startProvider starts a provider for the tasks of a database.
func startProvider(ctx context.Context, args ...string) (*runningProvider, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd, err := self(ctx, append([]string{"serve"}, args...)...)
	if err != nil {
		cancel()
		return nil, err
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	p := &runningProvider{stop: func() { cancel(); _ = cmd.Wait() }} // it is killed, and says so
	if err == nil {
		_, err = fmt.Fscanln(out, &p.url)
	}
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("start the provider: %w", err)
	}
	return p, nil
}

func (p *runningProvider) stats(ctx context.Context) (s stats, err error) {
	err = bare.JSON(ctx, p.url+"/stats", &s)
	return s, err
}
