package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestServeOnlyShows: it shows what others did, writes nothing anywhere and asks no
// provider, and a role that may only read the ledger is enough.
func TestServeOnlyShows(t *testing.T) {
	a := newArena(t, settings{rules: "{orphan: {apart: 1s}}"})
	_, stale, orphan, stopped := a.damaged()
	a.once(0)
	a.once(0)
	dsn := a.role("GRANT USAGE ON SCHEMA sandkeeper TO %s", "GRANT SELECT ON ALL TABLES IN SCHEMA sandkeeper TO %s",
		"ALTER ROLE %s SET default_transaction_read_only = on")
	a.configure(settings{dsn: dsn, more: "web: {listen: \"127.0.0.1:0\", health: \"127.0.0.1:0\"}\nlog: {level: info}\n" +
		`schedule: {quick: "@every 1h", full: "@every 1h"}`}) // on which the passes of before are fresh for long
	a.cloud.ResetCalls()
	before := a.everything()
	d := a.daemon("serve")
	alive := d.says("health").text("health")
	for address, want := range map[string]int{alive: 200, strings.TrimSuffix(alive, "healthz"): 404} {
		if status, body := a.read(http.DefaultClient, address); status != want {
			t.Errorf("%s answers %d, want %d: %s", address, status, want, body)
		}
	}
	for range 3 {
		status, page := d.read("/")
		for _, word := range []string{orphan.ID, stopped.ID, stale, "confirmed"} {
			if status != http.StatusOK || !strings.Contains(page, word) {
				t.Errorf("the page answers %d and does not show %q", status, word)
			}
		}
		all := d.series()
		if n, told := all[`sandkeeper_sandboxes_foreign{installation="test",provider="daytona"}`]; told || len(all) == 0 {
			t.Errorf("%q sandboxes of others in %d series, want none said: only ours are asked for", n, len(all))
		}
		if status, text := d.read("/readyz"); status != http.StatusOK {
			t.Errorf("/readyz answers %d: %s", status, text)
		}
		a.pass(1100 * time.Millisecond) // no answer from memory
	}
	d.stop()
	if diff := cmp.Diff(before, a.everything()); diff != "" {
		t.Errorf("serve wrote (-before +after):\n%s", diff)
	}
	if calls := a.cloud.Calls(); len(calls) > 0 {
		t.Errorf("serve called the provider: %v", calls)
	}
}

// TestListeningForOthersNeedsUsers: the page of the whole platform is not for everybody.
func TestListeningForOthersNeedsUsers(t *testing.T) {
	a := newArena(t, settings{})
	a.must("migrate")
	for _, verb := range []string{"run", "serve"} {
		for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
			a.configure(settings{more: fmt.Sprintf("web: {listen: %q}", address)})
			code, _, errs := a.run(verb)
			if code != 1 || !strings.Contains(errs, "anybody who reaches the port") || !strings.Contains(errs, "127.0.0.1") {
				t.Errorf("%s on %s: exit code %d, %s", verb, address, code, errs)
			}
		}
	}
	client := a.secureWeb()
	for _, verb := range []string{"run", "serve"} {
		a.configure(settings{more: "web: {listen: \"0.0.0.0:0\", config_file: web.yml}\nlog: {level: info}"})
		d := a.daemon(verb)
		_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(d.url(), "http://"), "https://"), "/"))
		if err != nil {
			t.Fatal(err)
		}
		at := "127.0.0.1:" + port
		for url, want := range map[string]int{
			"https://" + at + "/":               401,
			"https://" + at + "/metrics":        401,
			"https://ana:wrong@" + at + "/":     401,
			"https://ana:geheim@" + at + "/":    200,
			"https://" + at + "/healthz":        200,
			"http://" + at + "/":                400,
			"https://ana:geheim@" + at + "/nix": 404,
		} {
			if status, body := a.read(client, url); status != want {
				t.Errorf("%s: %s answers %d, want %d: %.200s", verb, url, status, want, body)
			}
		}
		d.stop()
	}
}

// TestPageWithoutTLSIsWarnedOf at start and by check, where others hear what goes over the network, and nowhere else.
func TestPageWithoutTLSIsWarnedOf(t *testing.T) {
	const warning = "passwords and the page go over the network as they are"
	a := newArena(t, settings{})
	a.must("migrate")
	a.secureWeb()
	folder := filepath.Dir(a.config)
	whole, err := os.ReadFile(filepath.Join(folder, "web.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, users, _ := strings.Cut(string(whole), "\n")
	if err := os.WriteFile(filepath.Join(folder, "users.yml"), []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		web    string
		warned bool
	}{
		"for others, as it is": {`{listen: "0.0.0.0:0", config_file: users.yml}`, true},
		"for others, with TLS": {`{listen: "0.0.0.0:0", config_file: web.yml}`, false},
		"on loopback":          {`{listen: "127.0.0.1:0", config_file: users.yml}`, false},
	} {
		a.configure(settings{more: "web: " + c.web + "\nlog: {level: info}"})
		_, said, _ := a.run("check")
		if mark := map[bool]string{true: "warn  web: listen: ", false: "ok    web: listen: "}[c.warned]; !strings.Contains(said, mark) ||
			strings.Contains(said, warning) != c.warned || strings.Contains(said, "fix: add tls_server_config") != c.warned {
			t.Errorf("%s: check says\n%s", name, said)
		}
		for _, verb := range []string{"run", "serve"} {
			d := a.daemon(verb)
			d.stop()
			if log := d.errs.String(); strings.Contains(log, warning) != c.warned {
				t.Errorf("%s: %s says\n%s", name, verb, log)
			}
		}
	}
}

// TestServeKnowsItsNames asks the program by names, as a browser does that was led here: it answers
// to those of the config alone, on loopback and without users too.
func TestServeKnowsItsNames(t *testing.T) {
	a := newArena(t, settings{more: "web: {listen: \"localhost:0\", hosts: [page.example]}\nlog: {level: info}"})
	a.must("migrate")
	for _, verb := range []string{"run", "serve"} {
		d := a.daemon(verb)
		for host, want := range map[string]int{"page.example": 200, "localhost": 200, "evil.example": 421} {
			for _, path := range []string{"", "metrics", "healthz"} {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url()+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				request.Host = host
				answer, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				if answer.StatusCode != want {
					t.Errorf("%s: /%s as %s answers %d, want %d", verb, path, host, answer.StatusCode, want)
				}
			}
		}
		d.stop()
	}
}

// secureWeb writes web.yml with a certificate and one user, and makes a client that knows
// the certificate.
func (a *arena) secureWeb() *http.Client {
	a.Helper()
	folder := filepath.Dir(a.config)
	cert, key := a.certificate()
	text := "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n" +
		"basic_auth_users: {ana: $2a$04$f80DSmJV8UVM6QjvN/0Oo./6TTEz4lSdRgozpG.jDlR78UbFHPq7i, " + // geheim
		"ben: $2a$04$f80DSmJV8UVM6QjvN/0Oo./6TTEz4lSdRgozpG.jDlR78UbFHPq7i}\n"
	for name, content := range map[string]string{"cert.pem": cert, "key.pem": key, "web.yml": text} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			a.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(cert))
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
}

func (a *arena) certificate() (cert, key string) {
	a.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		a.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}))
}
