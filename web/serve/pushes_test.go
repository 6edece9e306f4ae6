package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// A pusher stands for the providers: daytona takes pushes, whose body is the id of message and sandbox.
type pusher struct {
	mu       sync.Mutex
	at       time.Duration // when they are sent, from now
	fails    bool          // nobody can look
	looks    []string
	outcomes []string
}

func (p *pusher) Read(provider string, header http.Header, body []byte) (Push, error) {
	id, sandbox, _ := strings.Cut(string(body), " ")
	switch {
	case provider != "daytona":
		return Push{}, reconcile.ErrNotFound
	case header.Get("signed") == "":
		return Push{}, ErrForged
	case id == "":
		return Push{}, ErrUnreadable
	}
	return Push{ID: id, Sandbox: sandbox, At: time.Now().Add(p.at)}, nil
}

func (p *pusher) Look(_ context.Context, provider, sandbox string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails {
		return errors.New("the database is away")
	}
	p.looks = append(p.looks, provider+"/"+sandbox)
	return nil
}

func (p *pusher) Counted(_, outcome string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outcomes = append(p.outcomes, outcome)
}

// send pushes a body to a provider, signed or not, and returns the status and what became of it.
func (p *pusher) send(h http.Handler, provider, body string, signed bool) string {
	r := httptest.NewRequest(http.MethodPost, "/push/"+provider, strings.NewReader(body))
	if signed {
		r.Header.Set("signed", "yes")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	p.mu.Lock()
	defer p.mu.Unlock()
	outcome := "none"
	if len(p.outcomes) > 0 {
		outcome = p.outcomes[len(p.outcomes)-1]
	}
	return fmt.Sprintf("%d %s", w.Code, outcome)
}

func receiving(p *pusher) http.Handler {
	o := options()
	o.Pushes = p
	return New(o)
}

// TestPushesAreReasonsToLook, each once, and nothing else comes of them.
func TestPushesAreReasonsToLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pusher{}
		h := receiving(p)
		time.Sleep(time.Hour)
		for _, c := range []struct {
			what, provider, body string
			signed, fails        bool
			at                   time.Duration
			want                 string
		}{
			{"a provider that takes none", "e2b", "m0 sb", true, false, 0, "404 none"},
			{"no provider", "", "m0 sb", true, false, 0, "404 none"},
			{"a push", "daytona", "m1 sb-1", true, false, 0, "202 looked"},
			{"a replay", "daytona", "m1 sb-1", true, false, 0, "409 replayed"},
			{"a replay that names another one", "daytona", "m1 sb-2", true, false, 0, "409 replayed"},
			{"another message", "daytona", "m2 sb-1", true, false, 0, "202 looked"},
			{"what tells of no end", "daytona", "m3", true, false, 0, "202 nothing-ended"},
			{"without a signature", "daytona", "m4 sb-1", false, false, 0, "401 forged"},
			{"without a message", "daytona", "", true, false, 0, "400 unreadable"},
			{"late", "daytona", "m5 sb-1", true, false, -pushWindow - time.Second, "400 stale"},
			{"nearly late", "daytona", "m6 sb-1", true, false, -pushWindow, "202 looked"},
			{"of a clock that is ahead", "daytona", "m7 sb-1", true, false, pushWindow + time.Second, "400 stale"},
			{"nearly", "daytona", "m8 sb-1", true, false, pushWindow, "202 looked"},
			{"too large", "daytona", "m9 " + strings.Repeat("x", bodyBytes), true, false, 0, "413 too-large"},
			{"when nobody can look", "daytona", "m10 sb-1", true, true, 0, "503 failed"},
			{"the same, sent again", "daytona", "m10 sb-1", true, false, 0, "202 looked"},
		} {
			p.at, p.fails = c.at, c.fails
			if got := p.send(h, c.provider, c.body, c.signed); got != c.want {
				t.Errorf("%s: %s, want %s", c.what, got, c.want)
			}
		}
		if want := slices.Repeat([]string{"daytona/sb-1"}, 5); !slices.Equal(p.looks, want) {
			t.Errorf("looks at %v, want %v", p.looks, want)
		}
		for _, outcome := range p.outcomes {
			if !slices.Contains(PushOutcomes, outcome) {
				t.Errorf("%s is no outcome that is known", outcome)
			}
		}
	})
}

// TestReplaysAreRefusedAsLongAsTheyAreFresh, also that of a clock which is ahead, and after the process was started anew.
func TestReplaysAreRefusedAsLongAsTheyAreFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pusher{at: 4 * time.Minute}
		h := receiving(p)
		sent := time.Now().Add(p.at)
		if got := p.send(h, "daytona", "m1 sb-1", true); got != "202 looked" {
			t.Fatal(got)
		}
		for range 10 {
			time.Sleep(time.Minute)
			p.at = time.Until(sent)
			p.send(h, "daytona", "m1 sb-1", true)
			if again := receiving(p); p.at < 0 {
				if got := p.send(again, "daytona", "m1 sb-1", true); got != "400 stale" {
					t.Errorf("%s after the start of a process that began later", got)
				}
			}
		}
		if len(p.looks) != 1 {
			t.Errorf("a message that was replayed for ten minutes caused %d looks", len(p.looks))
		}
	})
}

// TestPushesAreBounded: many of them come to few looks, and forged ones take nothing from those that are signed.
func TestPushesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pusher{}
		h := receiving(p)
		for range 2 * pushesBurst {
			if got := p.send(h, "daytona", "m sb", false); got != "401 forged" {
				t.Fatal(got)
			}
		}
		for i := range 2 * pushesBurst {
			p.send(h, "daytona", fmt.Sprintf("m%d sb-1", i), true)
		}
		if len(p.looks) != pushesBurst || p.outcomes[len(p.outcomes)-1] != "too-many" {
			t.Errorf("%d looks came of %d pushes at once, want %d; the last is %s", len(p.looks), 2*pushesBurst, pushesBurst,
				p.outcomes[len(p.outcomes)-1])
		}
		time.Sleep(time.Second)
		if got := p.send(h, "daytona", "later sb-1", true); got != "202 looked" {
			t.Errorf("a second later: %s", got)
		}
	})
}

// TestPushesStarveNobody: who sends slowly, and much, keeps neither the page nor the metrics from who reads them.
func TestPushesStarveNobody(t *testing.T) {
	p := &pusher{}
	o := options()
	o.Pushes, o.Ledger = p, fixedOf(web.Reading{Overview: webtest.Healthy()})
	o.Metrics = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	r := serve(t, New(o), configFile(t, users))
	defer r.end(t)
	var senders sync.WaitGroup
	slow := make([]*io.PipeWriter, pushesAtOnce+pushesWait)
	for i := range slow {
		body, w := io.Pipe()
		slow[i] = w
		senders.Go(func() {
			q, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+r.address+"/push/daytona", body)
			if a, err := http.DefaultClient.Do(q); err == nil {
				_ = a.Body.Close()
			}
		})
		_, _ = w.Write([]byte("m"))
	}
	for _, path := range []string{"/metrics", "/", "/healthz"} {
		if got := send(t, r, "GET", path, basic("ana", "secret")); got.StatusCode != http.StatusOK {
			t.Errorf("GET %s = %d while all seats for pushes are taken", path, got.StatusCode)
		}
	}
	for _, w := range slow {
		_ = w.Close()
	}
	senders.Wait()
}
