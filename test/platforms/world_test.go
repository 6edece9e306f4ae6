package platforms

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/providers/cloudflare/cloudflaretest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// A vendor is a provider's protocol over a simulated world.
type vendor struct {
	serve  func(*simulated.World) http.Handler
	ids    func(n int) string // of sandboxes; nil: UUIDs
	base   string             // of the API, below the server's address
	socket bool               // it is served on a socket in the file system

	engines []string // there is one of it for each, at the address followed by this name
}

// A world is one platform's database and one account at its provider, in which time passes.
type world struct {
	*testing.T
	*platform
	dsn   string
	db    *pgxpool.Pool
	cloud *simulated.World // the first of the clouds
	url   string

	clouds map[string]*simulated.World // by engine
	path   string                      // of the config
	edits  []string                    // old and new texts of the config, in turn

	before map[int][]func()
	lives  []func() // what goes on before each pass
	facts  expectations

	reports []report
}

// world makes one that is as old as its platform's model.
func (p *platform) world(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, platform: p, before: map[int][]func(){}}
	w.dsn = p.clone(t)
	w.db = connect(t, w.dsn)
	t.Cleanup(w.db.Close)
	w.serve()
	return w
}

// clone makes a database like the platform's model.
func (p *platform) clone(t *testing.T) string {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), p.admin)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(t.Context()))
	config, err := pgx.ParseConfig(p.model)
	if err != nil {
		t.Fatal(err)
	}
	name := "platforms_" + strings.ToLower(rand.Text()[:12])
	make := "CREATE DATABASE " + quoted(name) + " TEMPLATE " + quoted(config.Database)
	if _, err := admin.Exec(t.Context(), make); err != nil {
		t.Fatalf("%s: %v", make, err)
	}
	t.Cleanup(func() { p.drop(t, name) })
	return strings.Replace(p.model, config.Database, name, 1)
}

func (p *platform) drop(t *testing.T, name string) {
	ctx := context.WithoutCancel(t.Context())
	admin, err := pgx.Connect(ctx, p.admin)
	if err == nil {
		_, err = admin.Exec(ctx, "DROP DATABASE "+quoted(name)+" WITH (FORCE)")
		err = errors.Join(err, admin.Close(ctx))
	}
	if err != nil {
		t.Errorf("drop the world's database: %v", err)
	}
}

func connect(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// serve opens the provider.
func (w *world) serve() {
	w.Helper()
	w.path = filepath.Join(w.TempDir(), "sandkeeper.yaml")
	w.clouds = map[string]*simulated.World{}
	engines := w.vendor.engines
	if engines == nil {
		engines = []string{""}
	}
	mux := http.NewServeMux()
	folder := ""
	if w.vendor.socket {
		var err error
		if folder, err = os.MkdirTemp("", "engine"); err != nil { // short: a socket's path may have 100 letters
			w.Fatal(err)
		}
		w.Cleanup(func() { os.RemoveAll(folder) })
		w.url = "unix://" + folder + "/"
	}
	for _, name := range engines {
		cloud := simulated.New(simulated.Options{IDs: w.vendor.ids})
		w.clouds[name] = cloud
		switch handler := w.vendor.serve(cloud); {
		case w.vendor.socket:
			w.listen(filepath.Join(folder, cmp.Or(name, "s")), handler)
		case name == "":
			mux.Handle("/", handler)
		default:
			mux.Handle("/"+name+"/", http.StripPrefix("/"+name, handler))
		}
	}
	w.cloud = w.clouds[engines[0]]
	if w.vendor.socket {
		if w.vendor.engines == nil {
			w.url += "s"
		}
		return
	}
	server := httptest.NewServer(mux)
	w.Cleanup(server.Close)
	w.url = server.URL + w.vendor.base
}

// listen opens a provider on a socket.
func (w *world) listen(path string, handler http.Handler) {
	w.Helper()
	l, err := (&net.ListenConfig{}).Listen(w.Context(), "unix", path)
	if err != nil {
		w.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
	server.Start()
	w.Cleanup(server.Close)
}

// at does something in the cloud of an engine.
func (w *world) at(engine string, do func()) {
	w.Helper()
	own := w.cloud
	w.cloud = w.clouds[engine]
	do()
	w.cloud = own
}

// armed is what every world's config says in place of what its author began with.
var armed = []string{
	"mode: observe", "mode: enforce",
	"limits: {per_pass: 20, share: 10%, breaker: 30%, per_hour: 200}",
	"limits: {per_pass: 1000, share: 100%, breaker: 100%, per_hour: 100000}",
	"level: info", "level: error",
}

// configure writes the config: the author's text, armed, with the world's own edits.
func (w *world) configure(text string) {
	w.Helper()
	for i := 0; i < len(armed); i += 2 {
		text = strings.Replace(text, armed[i], armed[i+1], 1)
	}
	for i := 0; i < len(w.edits); i += 2 {
		if !strings.Contains(text, w.edits[i]) {
			w.Fatalf("the config does not say %q any more:\n%s", w.edits[i], text)
		}
		text = strings.Replace(text, w.edits[i], w.edits[i+1], 1)
	}
	text += "proof: off\n"
	if !strings.Contains(text, "\nweb:") {
		text += "web: {listen: \"127.0.0.1:0\"}\n" // check would say that another program has the usual port
	}
	if err := os.WriteFile(w.path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// run is one call of the program: exit code, stdout, stderr.
func (w *world) run(args ...string) (int, string, string) {
	w.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(w.Context(), program, append(args, "-c", w.path)...)
	cmd.Env = append(os.Environ(), "DATABASE_URL="+w.dsn, "TASKS_DATABASE_URL="+w.dsn, "PROVIDER_URL="+w.url,
		"PROVIDER_KEY=key", "DAYTONA_API_KEY=key",
		"SANDBOX_VERCEL_TOKEN=key", "SANDBOX_VERCEL_TEAM_ID=team_1", "SANDBOX_VERCEL_PROJECT_ID=prj_1",
		"CLOUDFLARE_API_TOKEN=key", "CLOUDFLARE_ACCOUNT_ID="+cloudflaretest.Account,
		"CLOUDFLARE_APPLICATION_ID="+cloudflaretest.Application, "SANDBOX_WORKER_TOKEN=worker-key",
		"SANDBOX_WORKER_URL="+strings.TrimSuffix(w.url, w.vendor.base)+cloudflaretest.WorkerPath,
		"AGENTUITY_SDK_KEY=key", "AGENTUITY_ORG=org_1", "AGENTUITY_PROJECT=prj_1",
		// As init names them.
		"DAYTONA_TOKEN=key", "VERCEL_TOKEN=key", "VERCEL_TEAM=team_1", "VERCEL_PROJECT=prj_1", "CLOUDFLARE_TOKEN=key",
		"CLOUDFLARE_ACCOUNT="+cloudflaretest.Account, "CLOUDFLARE_APPLICATION="+cloudflaretest.Application,
		"AGENTUITY_TOKEN=key")
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.Fatalf("run the program: %v", err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// A report is what a world reads of plan's and once's JSON.
type report struct {
	Steps []struct {
		Rule, Sandbox, Task, Step, Verdict, Outcome, Detail, Reason string

		HeldBy any `json:"held_by"`
	}
	Findings []struct{ Rule, Sandbox, Task, Reason string }
}

// look is a pass, or a plan, and its report. A source that is not trusted is no failure.
func (w *world) look(args ...string) report {
	w.Helper()
	code, out, errs := w.run(append(args, "-o", "json")...)
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code < 0 || strings.Contains(errs, "panic:") {
		w.Fatalf("sandkeeper %s: exit code %d, report %v\n%s%s", strings.Join(args, " "), code, err, out, errs)
	}
	if errs != "" && testing.Verbose() {
		w.Logf("sandkeeper %s: exit code %d\n%s", args[0], code, errs)
	}
	return r
}

// then does something before a pass, of which the first has number 1.
func (w *world) then(pass int, do func()) { w.before[pass] = append(w.before[pass], do) }

// always does something before each pass: what goes on while time passes.
func (w *world) always(do func()) { w.lives = append(w.lives, do) }

// pass lets time pass with a pass after each gap, and judges what is true then.
func (w *world) pass() {
	w.Helper()
	w.configure(w.config)
	for n := range len(w.gaps) + 1 {
		if n > 0 {
			w.later(w.gaps[n-1])
		}
		for _, do := range append(w.lives, w.before[n+1]...) {
			do()
		}
		w.facts.hold(w)
		w.reports = append(w.reports, w.look("once", "--wait", "20s"))
		w.facts.spared(w, n+1)
	}
	w.facts.broken(w)
}
