package serve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// raw sends bytes as they are and reads what comes until the connection is closed.
func raw(t *testing.T, r *running, request string) string {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(io.LimitReader(c, 1<<20))
	if err != nil && len(text) == 0 {
		t.Fatal(err)
	}
	return string(text)
}

// TestOddRequests: what is no request as it should be is refused, and the server lives on.
func TestOddRequests(t *testing.T) {
	r := serve(t, shown(web.Reading{Overview: webtest.Healthy()}), configFile(t, users))
	defer r.end(t)
	host := "Host: " + r.address + "\r\nConnection: close\r\n"
	cases := map[string]struct {
		request string
		want    []string // one of these statuses
	}{
		"no host":                     {"GET / HTTP/1.1\r\n\r\n", []string{"400"}},
		"two hosts":                   {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", []string{"400"}},
		"two lengths":                 {"POST / HTTP/1.1\r\n" + host + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", []string{"400"}},
		"a length and chunks":         {"POST / HTTP/1.1\r\n" + host + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", []string{"400", "401"}},
		"an odd encoding":             {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", []string{"501", "400"}},
		"a header with a line break":  {"GET / HTTP/1.1\r\n" + host + "X: a\n\tb\r\n\r\n", []string{"401", "400"}},
		"a header with a NUL":         {"GET / HTTP/1.1\r\n" + host + "X: a\x00b\r\n\r\n", []string{"400"}},
		"a path with a line break":    {"GET /\r\nX-Evil: 1 HTTP/1.1\r\n" + host + "\r\n", []string{"400"}},
		"an escaped line break":       {"GET /healthz/..%0d%0aX-Evil:1 HTTP/1.1\r\n" + host + "\r\n", []string{"301", "307", "401"}},
		"all of the server":           {"OPTIONS * HTTP/1.1\r\n" + host + "\r\n", []string{"400"}},
		"a tunnel":                    {"CONNECT db.internal:5432 HTTP/1.1\r\n" + host + "\r\n", []string{"421"}},
		"another protocol":            {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", []string{"400"}},
		"a preface of HTTP/2":         {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []string{"505", "400"}},
		"large headers":               {"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 2*headerBytes) + "\r\n\r\n", []string{"431"}},
		"many headers":                {"GET / HTTP/1.1\r\n" + host + strings.Repeat("X: y\r\n", headerBytes) + "\r\n", []string{"431"}},
		"a long address":              {"GET /?" + strings.Repeat("x", 2*headerBytes) + " HTTP/1.1\r\n" + host + "\r\n", []string{"431"}},
		"a body that nobody wants":    {"POST /healthz HTTP/1.1\r\n" + host + "Content-Length: 100000\r\n\r\n" + strings.Repeat("x", 1000), []string{"405"}},
		"who asks before he sends it": {"POST / HTTP/1.1\r\n" + host + "Expect: 100-continue\r\nContent-Length: 1000000000\r\n\r\n", []string{"401"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := raw(t, r, c.request)
			if strings.Contains(got, "\nX-Evil") || strings.Contains(got, "100 Continue") {
				t.Errorf("%q is answered:\n%.400s", c.request[:min(60, len(c.request))], got)
			}
			status, _, _ := strings.Cut(strings.TrimPrefix(got, "HTTP/1.1 "), " ")
			if !strings.Contains(strings.Join(c.want, " "), status) || status == "" {
				t.Errorf("%.60q = %s, want one of %v:\n%.300s", c.request, status, c.want, got)
			}
		})
	}
	if status, _, _ := get(t, client(t, ""), "http://"+r.address+"/", "ana"); status != 200 {
		t.Errorf("afterwards the page answers %d", status)
	}
}

// TestBodiesAreBounded: whoever reads a body one day gets no more of it than the limit.
func TestBodiesAreBounded(t *testing.T) {
	for size, fits := range map[int]bool{bodyBytes: true, bodyBytes + 1: false} {
		var err error
		h := guarded(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, err = io.Copy(io.Discard, r.Body) }))
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", size))))
		var large *http.MaxBytesError
		if errors.As(err, &large) == fits {
			t.Errorf("a body of %d bytes: %v", size, err)
		}
	}
}

// TestInflightLimit: so many requests are under way at once, and others wait for a moment; the health checks come
// through all the same, and when one leaves the next is let in.
func TestInflightLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		behind := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				<-let
			}
			_, _ = io.WriteString(w, "done")
		})
		h := guarded((&Server{Handler: behind}).open(behind))
		var waiting sync.WaitGroup
		for range atOnce {
			waiting.Go(func() { ask(h, "GET", "/wait") })
		}
		synctest.Wait()
		if w := ask(h, "GET", "/"); w.Code != 503 || w.Header().Get("Retry-After") == "" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("one too many: %d %v", w.Code, w.Header())
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			if w := ask(h, "GET", path); w.Code != 200 {
				t.Errorf("%s at the limit: %d", path, w.Code)
			}
		}
		for range mostLive { // all open pages, when something has changed
			waiting.Go(func() {
				if w := ask(h, "GET", "/"); w.Code != 200 {
					t.Errorf("who waited for a seat: %d", w.Code)
				}
			})
		}
		synctest.Wait()
		close(let)
		waiting.Wait()
	})
}

// pipes are a listener without a network, so that time can be the bubble's.
type pipes struct {
	offered chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newPipes() *pipes { return &pipes{offered: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.offered:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.offered <- nearby{theirs}
	return ours
}

// transport makes each request over a connection of its own.
func (p *pipes) transport() *http.Transport {
	return &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial(), nil }}
}

// nearby is a connection of somebody on this machine.
type nearby struct{ net.Conn }

func (nearby) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }

// TestSlowOnesAreSentAway: who sends his request byte by byte, leaves a connection idle, or
// does not read what he asked for, holds nothing for long.
func TestSlowOnesAreSentAway(t *testing.T) {
	cases := map[string]struct {
		visit  func(net.Conn)
		within time.Duration
	}{
		"says nothing":                {func(net.Conn) {}, headersWithin},
		"drips headers":               {drip("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", "X: y\r\n"), headersWithin},
		"drips the first line":        {drip("", "G"), headersWithin},
		"drips a body":                {drip("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n", "x"), writeWithin},
		"stays after an answer":       {stay, idleFor},
		"does not read what he asked": {func(c net.Conn) { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") }, writeWithin},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newPipes()
				s := (&Server{Handler: shown(web.Reading{Overview: webtest.Healthy()})}).complete().server("127.0.0.1:1")
				ended := make(chan error, 1)
				go func() { ended <- s.Serve(l) }()
				conn := l.dial()
				began := time.Now()
				left := make(chan struct{})
				go func() { c.visit(conn); close(left) }()
				hungUp(t, conn, name)
				if took := time.Since(began); took > c.within+time.Second {
					t.Errorf("he held the connection for %s, want at most %s", took, c.within)
				}
				conn.Close()
				<-left
				_ = s.Shutdown(context.WithoutCancel(t.Context()))
				<-ended
			})
		})
	}
}

// drip sends a beginning and then a little every second until nobody listens.
func drip(first, then string) func(net.Conn) {
	return func(c net.Conn) {
		_, err := io.WriteString(c, first)
		for err == nil {
			time.Sleep(time.Second)
			_, err = io.WriteString(c, then)
		}
	}
}

func stay(c net.Conn) { _, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") }

// hungUp waits until the server has closed the connection.
func hungUp(t *testing.T, c net.Conn, name string) {
	t.Helper()
	if strings.HasPrefix(name, "does not read") {
		time.Sleep(writeWithin + time.Millisecond) // the answer is cut off then
		text, _ := io.ReadAll(c)
		if strings.Contains(string(text), "</html>") {
			t.Error("the answer was kept for him")
		}
		return
	}
	r := bufio.NewReader(c)
	for {
		if _, err := r.ReadByte(); err != nil {
			return
		}
	}
}
