package docker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/docker/dockertest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestAddresses(t *testing.T) {
	for url, want := range map[string]struct{ host, base string }{
		"":                         {"unix:///var/run/docker.sock", "http://api.moby.localhost"},
		"unix:///run/podman.sock":  {"unix:///run/podman.sock", "http://api.moby.localhost"},
		"tcp://engine:2375":        {"tcp://engine:2375", "http://engine:2375"},
		"tcp://engine:2375/a/":     {"tcp://engine:2375/a", "http://engine:2375/a"},
		"http://engine:2375":       {"tcp://engine:2375", "http://engine:2375"},
		"https://engine.test/x":    {"tcp://engine.test/x", "https://engine.test/x"},
		"unix://relative.sock":     {},
		"unix://":                  {},
		"tcp://":                   {},
		"tcp://user:pass@engine:1": {},
		"tcp://engine:2375?a=b":    {},
		"ssh://engine":             {},
		"/var/run/docker.sock":     {},
		"npipe:////./pipe/docker":  {},
		"unix:///run/x.sock#y":     {},
		"tcp://engine:2375\n":      {},
		"unix:///" + longPath:      {},
		"fd://":                    {},
		"engine:2375":              {},
	} {
		p, err := New(entry.Entry{Name: "lab", URL: url}, entry.Options{})
		if want.host == "" {
			if err == nil || strings.Contains(err.Error(), "pass") {
				t.Errorf("New(%q) = %v, want an error without the credential", url, err)
			}
			continue
		}
		at, _ := wayTo(entry.Entry{URL: url})
		if err != nil || p == nil || at.host != want.host || at.base != want.base {
			t.Errorf("New(%q) = %v; the way is %s, %s, want %+v", url, err, at.host, at.base, want)
		}
	}
}

var longPath = strings.Repeat("x", 200)

// lives is an engine with one container, seen by an adapter.
func lives(t *testing.T, e entry.Entry) error {
	t.Helper()
	e.Name, e.Timeout = "lab", time.Minute
	p, err := New(e, entry.Options{})
	if err != nil {
		return err
	}
	n := 0
	_, err = p.List(t.Context(), func(page []reconcile.Sandbox) error {
		n += len(page)
		for _, s := range page {
			if got := p.Probe(t.Context(), s, reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Minute}); got.Outcome != reconcile.Answered {
				t.Errorf("Probe = %+v, want answered", got)
			}
		}
		return nil
	})
	if err == nil && n != 1 {
		t.Errorf("List shows %d containers, want 1", n)
	}
	return err
}

func engineWithOne() http.Handler {
	world := simulated.New(simulated.Options{IDs: dockertest.IDs})
	world.Put(simulated.Sandbox{})
	return dockertest.New(world, dockertest.Options{})
}

func TestUnixSocket(t *testing.T) {
	folder, err := os.MkdirTemp("", "engine") // short: a socket's path may have 100 letters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	socket := filepath.Join(folder, "s")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: engineWithOne()}}
	server.Start()
	t.Cleanup(server.Close)
	if err := lives(t, entry.Entry{URL: "unix://" + socket}); err != nil {
		t.Error(err)
	}
	if err := lives(t, entry.Entry{URL: "unix://" + socket + "x"}); err == nil || !strings.Contains(err.Error(), socket) {
		t.Errorf("an absent socket = %v, want an error that names it", err)
	}
}

// authority makes certificates for a test.
type authority struct {
	*testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	a := &authority{T: t}
	a.cert, a.key = a.issue(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue signs what is asked for, or itself while there is nobody to sign.
func (a *authority) issue(c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: "lab"}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.Fatal(err)
	}
	out, err := x509.ParseCertificate(der)
	if err != nil {
		a.Fatal(err)
	}
	return out, key
}

// write puts a client's certificate and the authority's own into a folder.
func (a *authority) write(folder string) {
	a.Helper()
	cert, key := a.issue(&x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"ca.pem": {Type: "CERTIFICATE", Bytes: a.cert.Raw},
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert.Raw}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			a.Fatal(err)
		}
	}
}

// An engine that asks for a certificate is reached with one, also when it was replaced, and
// the commands of probes go the same way.
func TestTLS(t *testing.T) {
	ours := newAuthority(t)
	cert, key := ours.issue(&x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	pool := x509.NewCertPool()
	pool.AddCert(ours.cert)
	server := httptest.NewUnstartedServer(engineWithOne())
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
		Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}}
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	url := "tcp://" + server.Listener.Addr().String()
	folder, strange := t.TempDir(), t.TempDir()
	ours.write(folder)
	newAuthority(t).write(strange)
	for name, test := range map[string]struct {
		url, certificates, fails string
	}{
		"with certificates":            {url, folder, ""},
		"with https":                   {strings.Replace(url, "tcp", "https", 1), folder, ""},
		"without":                      {url, "", "HTTP"},
		"of others":                    {url, strange, "certificate"},
		"of nobody":                    {url, t.TempDir(), "ca.pem"},
		"unencrypted with a key of it": {strings.Replace(url, "tcp", "http", 1), folder, "must look like"},
	} {
		err := lives(t, entry.Entry{URL: test.url, Extra: map[string]string{"certificates": test.certificates}})
		if (err != nil) != (test.fails != "") || err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("%s: %v, want %q", name, err, test.fails)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "ca.pem"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(entry.Entry{URL: url, Extra: map[string]string{"certificates": folder}}, entry.Options{}); err == nil {
		t.Error("New with an authority that is none = nil, want an error")
	}
}

// The certificate is read for each connection: one that was replaced is used at the next.
func TestCertificateIsReplaced(t *testing.T) {
	a, folder := newAuthority(t), t.TempDir()
	a.write(folder)
	c, err := readTLS(folder)
	if err != nil {
		t.Fatal(err)
	}
	before, err := c.GetClientCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	a.write(folder)
	after, err := c.GetClientCertificate(nil)
	if err != nil || string(after.Certificate[0]) == string(before.Certificate[0]) {
		t.Errorf("the certificate after it was replaced is the old one, %v", err)
	}
	if err := os.Remove(filepath.Join(folder, "key.pem")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetClientCertificate(nil); err == nil {
		t.Error("a certificate without its key = nil, want an error")
	}
}
