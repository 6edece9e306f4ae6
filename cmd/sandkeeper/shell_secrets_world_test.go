package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	program "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app/webhooktest"
	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// secretPlaces are all places where an operator puts a secret, or where one may be by chance.
var secretPlaces = []string{
	"ledger's password", "tasks' password", "provider's token", "token in a file", "webhook's path", "webhook's key",
	"page's password", "page's hash", "notify's password", "notify's path", "proxy's password", "PGPASSWORD", "another variable",
	"operator key",
}

// pageHash is of the page's password, as cheap as it can be.
const pageHash = "$2a$04$0wNappJ58LVtnUu78n.pauWhC9iuqNv3jn/iKGhVNbA7nhOiloDTK"

// pageUsers is the file of the page's users.
const pageUsers = "basic_auth_users: {ana: '" + pageHash + "'}\n"

// secretOf makes a secret for a place: of its own, recognized by its beginning and its end, and
// with characters that addresses, JSON and base64 write differently.
func secretOf(place string) string {
	sum := sha256.Sum256([]byte(place))
	text := base64.RawURLEncoding.EncodeToString(sum[:])
	return "p" + strings.ReplaceAll(text[:9], "-", "x") + "/+=&%~:" + "q" + strings.ReplaceAll(text[20:29], "-", "y")
}

// spellings are the ways in which a secret may be written, also a part of it.
func spellings(secret string) []string {
	all := []string{
		secret[:7], secret[len(secret)-7:], url.QueryEscape(secret), url.PathEscape(secret), hex.EncodeToString([]byte(secret)),
	}
	for shift := range 3 { // base64 differs by where in a longer text the secret begins
		text := base64.StdEncoding.EncodeToString(append(make([]byte, shift), secret...))
		part := text[(shift*8+5)/6 : len(text)-4]
		all = append(all, part, strings.NewReplacer("+", "-", "/", "_").Replace(part))
	}
	return all
}

// A vault is an arena with a secret in every place, and everything that was said in it.
type vault struct {
	*arena
	secrets map[string]string
	said    map[string]string // by who said it
	env     []string
	hook    *webhooktest.Receiver
	certs   *httptest.Server
	other   string // where the second provider is
}

func newVault(t *testing.T) *vault {
	t.Helper()
	v := &vault{arena: newArena(t, settings{}), secrets: map[string]string{}, said: map[string]string{}, hook: webhooktest.NewReceiver(t)}
	for _, place := range secretPlaces {
		v.secrets[place] = secretOf(place)
	}
	v.secrets["page's hash"] = pageHash[7:] // what is before it tells the way of hashing alone
	proxy := url.UserPassword("proxy", v.secrets["proxy's password"])
	v.env = []string{
		"HTTPS_PROXY=http://" + proxy.String() + "@127.0.0.1:1", "HTTP_PROXY=http://" + proxy.String() + "@127.0.0.1:1",
		"PGPASSWORD=" + v.secrets["PGPASSWORD"], "SOME_SECRET=" + v.secrets["another variable"],
		"TOKEN=" + v.secrets["provider's token"], "GOTRACEBACK=all",
	}
	v.file("token", v.secrets["token in a file"]+"\n")
	v.file("operator.key", strings.Repeat(v.secrets["operator key"], 2)+"\n")
	v.file("hook", v.secrets["webhook's key"]+"\n")
	v.file("tasks-dsn", v.keyValue()+"\n")
	v.file("web.yml", pageUsers)
	server := httptest.NewServer(daytonatest.New(v.cloud, daytonatest.Options{TaskLabel: "task_id", Key: v.secrets["provider's token"]}))
	t.Cleanup(server.Close)
	v.url = server.URL + "/api"
	other := httptest.NewServer(daytonatest.New(simulated.New(simulated.Options{}), daytonatest.Options{Key: v.secrets["token in a file"]}))
	t.Cleanup(other.Close)
	v.other = other.URL + "/api"
	v.certs = httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(v.certs.Close)
	v.write()
	return v
}

func (v *vault) file(name, text string) {
	v.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(v.config), name), []byte(text), 0o600); err != nil {
		v.Fatal(err)
	}
}

// withPassword is the ledger's address as a URL, with its password.
func (v *vault) withPassword() string {
	v.Helper()
	u, err := url.Parse(v.dsn)
	if err != nil || u.Scheme == "" {
		v.Fatalf("the test's database is given as %q, want a URL", v.dsn)
	}
	u.User = url.UserPassword(cmp.Or(u.User.Username(), "postgres"), v.secrets["ledger's password"])
	return u.String()
}

// keyValue is the address of the tasks in the other form.
func (v *vault) keyValue() string {
	v.Helper()
	u, err := url.Parse(v.dsn)
	if err != nil {
		v.Fatal(err)
	}
	host, port := u.Query().Get("host"), u.Query().Get("port")
	return fmt.Sprintf("host='%s' port=%s user='%s' password='%s' dbname='%s' sslmode=disable", cmp.Or(host, u.Hostname()),
		cmp.Or(port, u.Port(), "5432"), cmp.Or(u.User.Username(), "postgres"), v.secrets["tasks' password"], strings.TrimPrefix(u.Path, "/"))
}

// write writes the config, with texts of it exchanged.
func (v *vault) write(changes ...string) {
	v.Helper()
	text := strings.NewReplacer(changes...).Replace(fmt.Sprintf(`installation: test
mode: enforce
proof: off
database: %q
operator_key_file: operator.key
tasks:
  preset: omoios
  database_file: tasks-dsn
  webhook: {url: %q, secret_file: hook}
providers:
  - {name: daytona, kind: daytona, url: %q, token: "${TOKEN}", owns: {labels: {project: omoios}, exclusive: true},
     link: {task_label: task_id}, rate: 1000/s, timeout: 1s, templates: [ai-agent-dev-light]}
  - {name: other, kind: daytona, url: %q, token_file: token, owns: {labels: {project: omoios}, exclusive: true},
     link: {task_label: task_id}, rate: 1000/s, timeout: 1s}
schedule: {quick: "@every 1s", full: "@every 2s"}
limits: {share: 100%%, breaker: 100%%}
web: {listen: "127.0.0.1:0", config_file: web.yml}
alerts: {notify: ["https://bot:%s@chat.example/%s"]}
log: {level: debug}
`, v.withPassword(), v.hook.URL+"/hooks/"+url.PathEscape(v.secrets["webhook's path"])+"?key="+url.QueryEscape(v.secrets["webhook's path"]),
		v.url, v.other, url.QueryEscape(v.secrets["notify's password"]), url.PathEscape(v.secrets["notify's path"])))
	v.rewrite(text)
}

// hear keeps what somebody said, and complains of each secret in it.
func (v *vault) hear(who, text string) {
	v.Helper()
	v.said[who] += text
	for _, place := range slices.Sorted(maps.Keys(v.secrets)) {
		for _, spelling := range spellings(v.secrets[place]) {
			if at := strings.Index(text, spelling); at >= 0 {
				v.Errorf("%s shows the %s as %q: …%s…", who, place, spelling, text[max(0, at-200):min(len(text), at+120)])
				break
			}
		}
	}
}

// says runs a verb in a process of its own, with the variables, and hears all of it.
func (v *vault) says(when string, args ...string) (code int, said string) {
	v.Helper()
	cmd := program.CommandContext(v.Context(), os.Args[0], append(args, "-c", v.config)...)
	cmd.Env = append(append(os.Environ(), runAsEnv+"=1"), v.env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		v.Fatalf("run %v: %v", args, err)
	}
	v.hear(when+": "+strings.Join(args, " "), string(out))
	return cmd.ProcessState.ExitCode(), string(out)
}

// daemonWith is a daemon with the variables.
func (v *vault) daemonWith(verb string) *daemonChild {
	v.Helper()
	d := &daemonChild{v.prepare(verb), v.arena}
	d.cmd.Env = append(d.cmd.Env, v.env...)
	d.start(v.T)
	d.says("page")
	return d
}

// looksAt asks for every page of a daemon, as everybody.
func (v *vault) looksAt(when string, d *daemonChild) {
	v.Helper()
	base := strings.TrimSuffix(d.url(), "/")
	for _, path := range []string{"/", "/?part=live", "/metrics", "/healthz", "/readyz", "/static/page.css", "/nowhere", "/findings", "/actions?state=closed", "/sources", "/rules",
		"/stops", "/operators", "/passes"} {
		for who, password := range map[string]string{"": "", "ana": v.secrets["page's password"], "eve": v.secrets["another variable"]} {
			request, err := http.NewRequestWithContext(v.Context(), http.MethodGet, base+path, nil)
			if err != nil {
				v.Fatal(err)
			}
			if who != "" {
				request.SetBasicAuth(who, password)
			}
			status, headers, body := v.fetch(request)
			if path == "/" && who == "ana" && status != 200 && status != 503 {
				v.Errorf("%s: the page answers %d: %.200s", when, status, body)
			}
			v.hear(when+": "+path+" for "+who, headers+body)
		}
	}
}

func (v *vault) fetch(r *http.Request) (status int, headers, body string) {
	v.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.Fatal(err)
	}
	return answer.StatusCode, fmt.Sprint(answer.Header), string(text)
}

// dump hears all that is in the database: the ledger, the jobs, and the platform's own tables.
func (v *vault) dump(when string) {
	v.Helper()
	for name, content := range v.everything() {
		v.hear(when+": table "+name, content)
	}
}

// crash ends a daemon with the stacks of all that it was doing.
func (v *vault) crash(when string, d *daemonChild) {
	v.Helper()
	d.signal(v.T, syscall.SIGQUIT)
	select {
	case <-d.done:
	case <-time.After(5 * time.Minute):
		v.Fatal("the daemon does not crash")
	}
	if text := d.errs.String(); !strings.Contains(text, "goroutine ") {
		v.Errorf("%s: a crash shows no stacks: %s", when, tail(text, 500))
	}
	v.hear(when+": log and stacks", d.errs.String())
}
