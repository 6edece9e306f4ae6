package main

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// TestSearchFindsWhatIsPlanted: the search of the next tests would find a secret, however it
// is written.
func TestSearchFindsWhatIsPlanted(t *testing.T) {
	secret := secretOf("a place")
	for _, written := range []string{
		secret, "x" + secret + "y", url.QueryEscape(secret), url.PathEscape(secret), secret[:7] + "...",
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte("ana:" + secret)),
		base64.URLEncoding.EncodeToString([]byte("Bearer " + secret + "!")), base64.RawStdEncoding.EncodeToString([]byte("ab" + secret)),
	} {
		found := false
		for _, s := range spellings(secret) {
			found = found || strings.Contains(written, s)
		}
		if !found {
			t.Errorf("%q is not found in %q", secret, written)
		}
	}
}

// TestNothingShowsASecret plants a secret in every place where one can be, lets everything
// work and then breaks it in many ways, and searches all that is printed, logged, served and
// kept.
func TestNothingShowsASecret(t *testing.T) {
	v := newVault(t)
	ws := v.working(3)
	v.beat(ws)
	orphan := v.box(nobody, time.Hour)
	stale := v.task(row{status: "assigned", key: "omoios-stale", created: time.Hour, updated: 4 * time.Minute,
		err: "an error of the platform"})
	if code, said := v.says("well", "migrate"); code != 0 {
		t.Fatalf("migrate: %s", said)
	}
	for _, args := range [][]string{
		{"check"}, {"plan"}, {"plan", "-o", "json"}, {"once", "--wait", "5s"}, {"once", "-o", "json"}, {"explain", stale},
		{"explain", orphan.ID, "-o", "json"}, {"report"}, {"report", "-o", "json"}, {"affected"}, {"hold", "task:" + ws[0].task},
		{"terminate", orphan.ID, "--reason", "drill"}, {"version"}, {"alerts", "rules"}, {"pass"},
	} {
		v.says("well", args...)
	}
	if status, _ := v.state(stale); status != "failed" {
		t.Errorf("the stale task is %s: nothing was done, so nothing could show anything", status)
	}
	if len(v.hook.Told()) == 0 {
		t.Error("the webhook was told nothing")
	}
	for _, verb := range []string{"run", "serve"} {
		d := v.daemonWith(verb)
		v.pass(2500 * time.Millisecond)
		v.looksAt("well, "+verb, d)
		v.crash("well, "+verb, d)
	}
	v.dump("well")
	v.logIsLoud()
}

// logIsLoud demands that what was searched was there at all.
func (v *vault) logIsLoud() {
	v.Helper()
	all := ""
	for who, text := range v.said {
		if strings.Contains(who, "log and stacks") {
			all += text
		}
	}
	for _, word := range []string{`"level":"INFO"`, `"level":"DEBUG"`, "goroutine "} {
		if !strings.Contains(all, word) {
			v.Errorf("no log has %s: %s", word, tail(all, 800))
		}
	}
}

// brokenSecrets are ways in which what has a secret is broken.
var brokenSecrets = map[string]func(*vault){
	"the provider repeats the token": func(v *vault) {
		token := v.secrets["provider's token"]
		said := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(token + " " + url.QueryEscape(token) + " " + url.PathEscape(token) + " " +
			base64.StdEncoding.EncodeToString([]byte(token)) + " " + base64.StdEncoding.EncodeToString([]byte("Bearer "+token)))
		v.cloud.Inject(simulated.Fault{Effect: simulated.Answer, Status: 400, Body: `{"statusCode":400,"message":"bad key ` + said + `"}`})
	},
	"the provider refuses": func(v *vault) { v.cloud.Inject(simulated.Fault{Effect: simulated.Answer, Status: 401}) },
	"the provider redirects": func(v *vault) {
		v.cloud.Inject(simulated.Fault{Effect: simulated.Answer, Status: 307, Body: "x",
			Header: map[string]string{"Location": "https://evil.example/?was=" + url.QueryEscape(v.secrets["provider's token"])}})
	},
	"no such provider": func(v *vault) { v.write(v.url, "https://nobody.invalid/api") },
	"bad TLS":          func(v *vault) { v.write(v.url, v.certs.URL+"/api") },
	"TLS where none is": func(v *vault) {
		v.write(v.url, strings.Replace(v.url, "http:", "https:", 1), v.hook.URL, strings.Replace(v.hook.URL, "http:", "https:", 1))
	},
	"another token": func(v *vault) { v.write("${TOKEN}", v.secrets["another variable"]) },
	"a token with a line break": func(v *vault) {
		v.write("${TOKEN}", v.secrets["another variable"]+`\nX-Evil: 1`)
	},
	"no database there":   func(v *vault) { v.write(v.dsnHost(), "127.0.0.1:1") },
	"no such host":        func(v *vault) { v.write(v.dsnHost(), "nobody.invalid") },
	"an address cut off":  func(v *vault) { v.write("database: \"postgres://", "database: \"postgres:/") },
	"an address spoiled":  func(v *vault) { v.write("database: \"postgres://", "database: \"postgres://x y%zz:") },
	"no address at all":   func(v *vault) { v.write("database: \"postgres://", "database: \"") },
	"a port that is none": func(v *vault) { v.file("tasks-dsn", v.keyValue()+" port="+v.secrets["another variable"]) },
	"words that are none": func(v *vault) { v.file("tasks-dsn", "host=x password "+v.secrets["tasks' password"]) },
	"a quote left open":   func(v *vault) { v.file("tasks-dsn", "host=x password='"+v.secrets["tasks' password"]) },
	"a service file": func(v *vault) {
		v.file("tasks-dsn", "host=127.0.0.1 port=1 sslkey='"+v.secrets["tasks' password"]+"' sslcert=x sslpassword='"+v.secrets["tasks' password"]+"'")
	},
	"wrong users": func(v *vault) { v.file("web.yml", "basic_auth_users: {ana: '"+v.secrets["page's password"]+"'}\n") },
	"users in a list": func(v *vault) {
		v.file("web.yml", "basic_auth_users: ['"+v.secrets["page's password"]+"']\n")
	},
	"a user in a word":       func(v *vault) { v.file("web.yml", "basic_auth_users: '"+v.secrets["page's password"]+"'\n") },
	"users that are no YAML": func(v *vault) { v.file("web.yml", "basic_auth_users: {ana: '"+v.secrets["page's password"]+"'\n x: [") },
	"a password as a key":    func(v *vault) { v.file("web.yml", "'"+v.secrets["page's password"]+"': x\n") },
	"a key as a header": func(v *vault) {
		v.file("web.yml", "http_server_config: {headers: {X-Frame-Options: '"+v.secrets["page's password"]+"'}}\n")
	},
	"a key in the wrong place": func(v *vault) {
		v.file("web.yml", "tls_server_config: {cert_file: x, key: '"+v.secrets["page's password"]+"'}\n")
	},
	"secrets in odd places": func(v *vault) {
		v.write("installation: test", `installation: "${SOME_SECRET} x"`, "timeout: 1s", "timeout: ${SOME_SECRET}", "@every 1s", "${SOME_SECRET}",
			"preset: omoios", `preset: omoios
  table: "${SOME_SECRET}"
  where: "${SOME_SECRET};"
  columns: {id: "(${SOME_SECRET}", started_at: "${SOME_SECRET}"}`)
	},
	"a table that is a secret": func(v *vault) {
		v.write("preset: omoios", "preset: omoios\n  columns: {started_at: \"${SOME_SECRET}\"}")
	},
	"a config that is no YAML": func(v *vault) { v.write("mode: enforce", `token: "`+v.secrets["another variable"]) },
	"a webhook that repeats all": func(v *vault) {
		v.hook.Answer(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Key", v.secrets["webhook's key"])
			http.Error(w, v.secrets["webhook's key"]+r.URL.String(), http.StatusBadGateway)
		})
	},
	"no webhook there":       func(v *vault) { v.write(v.hook.URL, "http://127.0.0.1:1") },
	"a webhook by the proxy": func(v *vault) { v.write(v.hook.URL, "https://nobody.invalid") },
	"a webhook that is none": func(v *vault) { v.write(v.hook.URL, "ftp://x y") },
	"a secret file that is a folder": func(v *vault) {
		v.write("token_file: token", "token_file: "+filepath.Dir(v.config))
	},
}

// dsnHost is the part of the ledger's address that says where it is.
func (v *vault) dsnHost() string {
	v.Helper()
	u, err := url.Parse(v.withPassword())
	if err != nil {
		v.Fatal(err)
	}
	if u.Host == "" { // a socket's folder in a parameter
		return "@/"
	}
	return u.Host
}

// TestNothingBrokenShowsASecret is the same when something is wrong: the errors tell what,
// and of no secret more than where it stands.
func TestNothingBrokenShowsASecret(t *testing.T) {
	t.Parallel()
	for name, ruin := range brokenSecrets {
		t.Run(name, func(t *testing.T) {
			v := newVault(t)
			v.beat(v.working(3))
			v.box(nobody, time.Hour)
			v.task(row{status: "assigned", key: "omoios-stale", created: time.Hour, updated: 4 * time.Minute})
			if code, said := v.says(name, "migrate"); code != 0 {
				t.Fatalf("migrate: %s", said)
			}
			ruin(v)
			worst := 0
			for _, args := range [][]string{{"check"}, {"once", "--wait", "2s"}, {"explain", nobody}} {
				code, _ := v.says(name, args...)
				worst = max(worst, code)
			}
			if worst == 0 && !strings.Contains(name, "webhook") {
				t.Errorf("nothing is wrong with %s", name)
			}
			v.dump(name)
		})
	}
}

// TestNothingBrokenMeanwhileShowsASecret breaks the config of a daemon that runs: it goes on
// with the one before, and says why on the page and in the log.
func TestNothingBrokenMeanwhileShowsASecret(t *testing.T) {
	v := newVault(t)
	v.beat(v.working(3))
	if code, said := v.says("meanwhile", "migrate"); code != 0 {
		t.Fatalf("migrate: %s", said)
	}
	d := v.daemonWith("run")
	v.looksAt("before", d)
	read := func() int {
		return len(d.logged("config refused, the previous one is still in force")) + len(d.logged("config read again, it is in force"))
	}
	for _, name := range []string{
		"secrets in odd places", "an address spoiled", "no database there", "a port that is none", "a config that is no YAML",
		"a token with a line break",
	} {
		before := read()
		brokenSecrets[name](v)
		v.reaches("read: "+name, func() bool { return read() > before })
		v.looksAt(name, d)
		before = read()
		v.file("tasks-dsn", v.keyValue())
		v.write()
		v.reaches("mended: "+name, func() bool { return read() > before })
	}
	if n := len(d.logged("config refused, the previous one is still in force")); n < 4 {
		t.Errorf("%d configs were refused, want most of them", n)
	}
	for _, name := range []string{"a user in a word", "users that are no YAML", "a password as a key"} {
		brokenSecrets[name](v) // the file of users is read for each request
		v.looksAt(name, d)
	}
	v.file("web.yml", pageUsers)
	v.looksAt("mended", d)
	v.crash("meanwhile", d)
	v.dump("meanwhile")
}
