package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A hall is what calls come through before they reach the provider. What it does to them
// can be changed while it stands.
type hall struct {
	mu   sync.Mutex
	does http.HandlerFunc // instead of the provider; nil: nothing
}

func (h *hall) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		does := h.does
		h.mu.Unlock()
		if does == nil {
			does = next.ServeHTTP
		}
		does(w, r)
	})
}

func (h *hall) become(does http.HandlerFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.does = does
}

// answeredWith lets every call of the provider be answered so.
func answeredWith(does http.HandlerFunc) func(*siege) func() {
	return func(s *siege) func() {
		s.hall.become(does)
		return func() { s.hall.become(nil) }
	}
}

// What is said of a provider that cannot be listed: by the page and by the log.
const (
	noPage = "Frozen The listing of daytona failed"
	noList = "list sandboxes of daytona: page 1: "
	noPass = noPage + "|Full passes missing|Not running" // its calls take so long that passes do
)

// injected is a fault that the simulated provider knows itself.
func injected(f simulated.Fault) func(*siege) func() {
	return func(s *siege) func() { return s.cloud.Inject(f) }
}

// most is the memory that a replica may ever take: a quarter of what it is sent, and little
// beside what it takes anyway.
const mostMemory = 160

// impatient has calls that hang end sooner, so that a test need not wait for many of them.
func impatient(s *siege) { s.settings.call = "2s" }

func smallMemory(s *siege) {
	s.Helper()
	for _, d := range s.replicas {
		peak := d.peak()
		n, err := strconv.Atoi(strings.TrimSuffix(peak, " MB"))
		must(s, err)
		s.Logf("peak memory of replica %d: %s", d.cmd.Process.Pid, peak)
		if n > mostMemory {
			s.Errorf("replica %d took %s, want at most %d MB", d.cmd.Process.Pid, peak, mostMemory)
		}
	}
}

func providerFaults() map[string]fault {
	const json = "application/json"
	return map[string]fault{
		"hangs":     {stage: impatient, strike: injected(simulated.Fault{Effect: simulated.Hang}), page: noPass, log: noList},
		"slow drip": {stage: impatient, strike: answeredWith(drip), page: noPass, log: noList},
		"100 MB of garbage": {
			strike: answeredWith(garbage(http.StatusOK, json)), page: noPage, log: noList + "the answer is larger than 16777216 bytes", after: smallMemory,
		},
		"100 MB of an error": {
			strike: answeredWith(garbage(http.StatusInternalServerError, json)), page: noPage, log: noList,
			after: smallMemory,
		},
		"100 MB of headers": {strike: answeredWith(headers), page: noPage, log: noList, after: smallMemory},
		"a gzip bomb": {
			strike: answeredWith(bomb()), page: noPage, log: noList, after: smallMemory,
		},
		"reset in the middle of a page": {strike: answeredWith(torn), page: noPage, log: noList},
		"redirected for ever":           {strike: answeredWith(astray), page: noPage, log: noList},
		"redirected elsewhere": {strike: answeredWith(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/api/sandbox", http.StatusTemporaryRedirect)
		}), page: noPage, log: noList},
	}
}

// drip sends one byte at a time, and would go on for minutes.
func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	flush := http.NewResponseController(w)
	for _, b := range `{"items": [` + strings.Repeat(" ", 3000) {
		if _, err := io.WriteString(w, string(b)); err != nil || flush.Flush() != nil {
			return
		}
		if reconcile.Sleep(r.Context(), 100*time.Millisecond) != nil {
			return
		}
	}
}

// garbage is 100 MB that look like JSON for a long time.
func garbage(status int, kind string) http.HandlerFunc {
	piece := []byte(strings.Repeat(`{"id": "garbage", "labels": {"a": "b"}}, `, 2000))
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, err := io.WriteString(w, `{"items": [`)
		for sent := 0; sent < 100<<20 && err == nil; sent += len(piece) {
			_, err = w.Write(piece)
		}
	}
}

// headers never end.
func headers(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
	for i := 0; i < 100<<10 && err == nil; i++ {
		_, err = fmt.Fprintf(conn, "X-Garbage-%d: %s\r\n", i, strings.Repeat("x", 1000))
	}
}

// bomb is 10 GB of blanks in some 10 MB.
func bomb() http.HandlerFunc {
	var member bytes.Buffer
	z, _ := gzip.NewWriterLevel(&member, gzip.BestSpeed) // a level that exists
	blanks := bytes.Repeat([]byte(" "), 1<<20)
	for range 64 {
		_, _ = z.Write(blanks) // memory takes all
	}
	_ = z.Close()
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		for range 160 {
			if _, err := w.Write(member.Bytes()); err != nil {
				return
			}
		}
	}
}

// torn promises a page and resets the connection in its middle.
func torn(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"+
		`{"items": [{"id": "half a sandb`)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}

// astray leads each call back to itself.
func astray(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, r.URL.String(), http.StatusFound)
}
