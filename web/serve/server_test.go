package serve

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// certificate writes one for 127.0.0.1 that is its own authority.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, bytes []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret)
}

// A running server, and how it ended.
type running struct {
	address string
	stop    context.CancelFunc
	ended   chan error
}

func serve(t *testing.T, h http.Handler, config string) *running {
	t.Helper()
	l, err := Listen(t.Context(), "web.listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return served(t, &Server{Listener: l, Handler: h, ConfigFile: config})
}

func served(t *testing.T, s *Server) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &running{s.Listener.Addr().String(), stop, make(chan error, 1)}
	go func() { r.ended <- s.Serve(ctx) }()
	return r
}

// end stops the server and expects that it ends without an error.
func (r *running) end(t *testing.T) {
	t.Helper()
	r.stop()
	if err := <-r.ended; err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
}

func get(t *testing.T, c *http.Client, url, user string) (int, string, http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		request.SetBasicAuth(user, "secret")
	}
	answer, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body), answer.Header
}

// client trusts the certificate and keeps no connections.
func client(t *testing.T, cert string) *http.Client {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true}
	if cert != "" {
		text, err := os.ReadFile(cert)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(text)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestUsers asks the toolkit itself, over plain HTTP and over TLS.
func TestUsers(t *testing.T) {
	cert, key := certificate(t)
	for scheme, config := range map[string]string{
		"http":  users,
		"https": users + "tls_server_config: {cert_file: " + cert + ", key_file: " + key + "}\n",
	} {
		t.Run(scheme, func(t *testing.T) {
			r := serve(t, shown(web.Reading{Overview: webtest.Healthy()}), configFile(t, config))
			defer r.end(t)
			c := client(t, cert)
			cases := map[string]struct {
				path, user string
				want       int
			}{
				"the page without a user":      {"/", "", 401},
				"the live part without a user": {"/?part=live", "", 401},
				"assets without a user":        {"/static/page.css", "", 401},
				"metrics without a user":       {"/metrics", "", 401},
				"no page without a user":       {"/healthz/x", "", 401},
				"the page with another user":   {"/", "eve", 401},
				"the page with a user":         {"/", "ana", 200},
				"metrics with a user":          {"/metrics", "ana", 200},
				"alive without a user":         {"/healthz", "", 200},
				"ready without a user":         {"/readyz", "", 200},
				"alive with a user":            {"/healthz", "ana", 200},
			}
			for name, e := range cases {
				status, body, headers := get(t, c, scheme+"://"+r.address+e.path, e.user)
				if status != e.want || status == 401 && strings.Contains(body, "sandkeeper") {
					t.Errorf("%s: %d, want %d: %s", name, status, e.want, body)
				}
				if headers.Get("Content-Security-Policy") != contentPolicy || headers.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("%s: headers are missing: %v", name, headers)
				}
			}
		})
	}
}

// TestUsersAreTakenAway: the toolkit reads its file anew for each request, so a page that
// everybody reaches would be open.
func TestUsersAreTakenAway(t *testing.T) {
	file := configFile(t, users)
	asked := func(h http.Handler) int { return ask(h, "GET", "http://10.0.0.5:8080/").Code }
	server := (&Server{Handler: shown(web.Reading{Overview: webtest.Healthy()}), ConfigFile: file}).complete().server("10.0.0.5:8080")
	server.BaseContext(nil)
	if got := asked(server.Handler); got != 200 { // the toolkit is not around it here
		t.Fatalf("with users: %d, want 200", got)
	}
	if err := os.WriteFile(file, []byte("basic_auth_users: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := asked(server.Handler); got != 503 {
		t.Errorf("without users: %d, want 503", got)
	}
	if w := ask(server.Handler, "GET", "http://10.0.0.5:8080/"); strings.Contains(w.Body.String(), file) {
		t.Errorf("the answer names the file: %s", w.Body)
	}
	if got := ask(server.Handler, "GET", "http://10.0.0.5:8080/healthz").Code; got != 200 {
		t.Errorf("healthz without users: %d, want 200", got)
	}
	if err := os.WriteFile(file, []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := asked(server.Handler); got != 200 {
		t.Errorf("with users again: %d, want 200", got)
	}
}

func TestServeRefuses(t *testing.T) {
	cases := map[string]struct{ address, config, want string }{
		"everybody":     {"0.0.0.0:0", "", "is refused: anybody"},
		"a broken file": {"127.0.0.1:0", configFile(t, "x: 1\n"), "is refused"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l, err := Listen(t.Context(), "web.listen", c.address)
			if err != nil {
				t.Fatal(err)
			}
			err = (&Server{Listener: l, Handler: shown(web.Reading{}), ConfigFile: c.config}).Serve(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Serve = %v, want %q", err, c.want)
			}
			if err := l.Close(); err == nil {
				t.Error("the listener is still open")
			}
		})
	}
}

func TestListenerThatBreaks(t *testing.T) {
	r := serve(t, shown(web.Reading{}), "")
	l, err := Listen(t.Context(), "web.listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := (&Server{Listener: l, Handler: shown(web.Reading{})}).Serve(t.Context()); err == nil || !strings.Contains(err.Error(), "serve the page on ") {
		t.Errorf("Serve on a closed listener = %v", err)
	}
	r.end(t)
}

// TestGracefulEnd ends the server while one request is open: it is answered, and new ones
// are not taken.
func TestGracefulEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // open requests get some seconds
		inside, let := make(chan struct{}), make(chan struct{})
		l := newPipes()
		r := served(t, &Server{Listener: l, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(inside)
			<-let
			_, _ = io.WriteString(w, "done")
		})})
		answered := make(chan string, 1)
		go func() {
			_, body, _ := get(t, &http.Client{Transport: l.transport()}, "http://"+r.address+"/", "")
			answered <- body
		}()
		<-inside
		r.stop()
		<-l.closed // nobody takes connections any more
		close(let)
		if got := <-answered; got != "done" {
			t.Errorf("the open request got %q, want done", got)
		}
		if err := <-r.ended; err != nil {
			t.Errorf("Serve = %v, want nil", err)
		}
	})
}

// TestNothingIsLeft looks at the stacks after a server with connections has ended.
func TestNothingIsLeft(t *testing.T) {
	r := serve(t, shown(web.Reading{Overview: webtest.Healthy()}), configFile(t, users))
	keeping := &http.Client{Transport: &http.Transport{}}
	get(t, keeping, "http://"+r.address+"/", "ana")
	get(t, client(t, ""), "http://"+r.address+"/readyz", "")
	r.end(t)
	keeping.CloseIdleConnections()
	for range 10_000 { // a goroutine that was told to end is seen for a moment more
		if !left() {
			return
		}
		runtime.Gosched()
	}
	t.Error("a goroutine of the server is left")
}

// left reports whether anything of a server still runs.
func left() bool {
	stacks := make([]byte, 1<<20)
	text := string(stacks[:runtime.Stack(stacks, true)])
	return strings.Contains(text, "net/http.(*Server).Serve(") || strings.Contains(text, "net/http.(*conn).serve(") ||
		strings.Contains(text, "web.(*Server)")
}

func TestLimits(t *testing.T) {
	s := (&Server{Handler: shown(web.Reading{})}).complete().server("127.0.0.1:1")
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= patience || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 {
		t.Errorf("limits of the server: %+v", s)
	}
	r := serve(t, shown(web.Reading{Overview: webtest.Healthy()}), "")
	defer r.end(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.address+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Large", strings.Repeat("x", 2*headerBytes))
	answer, err := client(t, "").Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("large headers: %d, want 431", answer.StatusCode)
	}
}
