package store

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

func TestServerTime(t *testing.T) {
	cases := map[string]struct {
		want time.Duration
		ok   bool
	}{
		"30000": {30 * time.Second, true}, "7s": {7 * time.Second, true}, "250ms": {250 * time.Millisecond, true},
		"5 min": {5 * time.Minute, true}, "2h": {2 * time.Hour, true}, "0": {0, true},
		"": {0, false}, "s": {0, false}, "1 fortnight": {0, false}, "-1": {0, false},
	}
	for text, c := range cases {
		if got, ok := serverTime(text); ok != c.ok || ok && got != c.want {
			t.Errorf("serverTime(%q) = %s, %t, want %s, %t", text, got, ok, c.want, c.ok)
		}
	}
	for text, want := range map[string]time.Duration{"6s": 7 * time.Second, "0": 350 * time.Second, "?": 350 * time.Second} {
		if got := timeoutFor(text).most; got != want {
			t.Errorf("patienceFor(%q) = %s, want %s", text, got, want)
		}
	}
}

// A deafWire carries a connection until it is told to lose everything, with nobody told.
type deafWire struct {
	net.Listener
	mu   sync.Mutex
	deaf bool
}

func (w *deafWire) isDeaf() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.deaf
}

func (w *deafWire) turnDeaf() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deaf = true
}

func (w *deafWire) carry(from, to net.Conn) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			to.Close()
			return
		}
		if !w.isDeaf() {
			_, _ = to.Write(buf[:n]) // who closed is noticed by the other half
		}
	}
}

// A server that falls silent does not keep a call: the session's own time-outs are on the
// other side of the wire.
func TestACallOnASilentConnectionEnds(t *testing.T) {
	c, err := pgtest.Launch(t.Context(), pgtest.Options{TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	to, err := url.Parse(c.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	host := to.Host
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &deafWire{Listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			if far, err := net.Dial("tcp", host); err == nil {
				go w.carry(near, far)
				go w.carry(far, near)
			}
		}
	}()
	to.Host = l.Addr().String()
	pool, err := Open(t.Context(), to.String()+"&statement_timeout=5s", OpenOptions{Name: "ledger"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := pool.Ping(t.Context()); err != nil { // it has a connection now
		t.Fatal(err)
	}
	w.turnDeaf()
	ended := make(chan error, 1)
	patient, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	go func() {
		_, err := pool.Exec(patient, "SELECT 1")
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call that nobody answers = %v, want a deadline", err)
		}
		if said := Outage("ledger", err).Error(); !strings.Contains(said, "does the server hang") {
			t.Errorf("it says %q, want what may be wrong", said)
		}
	case <-time.After(time.Minute):
		t.Fatal("the call waits for ever")
	}
}

func TestOutageSaysWhatMendsIt(t *testing.T) {
	for code, want := range map[string]string{
		"53100": "disk is full", "53300": "max_connections", "57P01": "shut down", "57P03": "recovering",
		"25006": "target_session_attrs",
	} {
		err := Outage("ledger", &pgconn.PgError{Code: code, Message: "said"})
		var kept *pgconn.PgError
		if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "the ledger database: ") || !errors.As(err, &kept) {
			t.Errorf("outage of %s = %v, want it to say %q", code, err, want)
		}
	}
	for name, err := range map[string]error{
		"a constraint": &pgconn.PgError{Code: "23505"}, "a stop": context.Canceled, "something else": errors.New("other"),
	} {
		if got := Outage("ledger", err); !errors.Is(got, err) || got.Error() != err.Error() {
			t.Errorf("outage of %s = %v, want it as it was", name, got)
		}
	}
	_, err := pgconn.Connect(t.Context(), "postgres://ana:s3cret@127.0.0.1:"+closedPort(t)+",127.0.0.1:"+closedPort(t)+"/jobs")
	got := Outage("ledger", err).Error()
	for _, part := range []string{`the ledger database "jobs" at 127.0.0.1:`, ", 127.0.0.1:", "as ana", "refused", "listen"} {
		if !strings.Contains(got, part) || strings.Contains(got, "s3cret") || strings.Contains(got, "\n") {
			t.Errorf("outage of a server that is away = %q, want it to say %q in one line", got, part)
		}
	}
}
