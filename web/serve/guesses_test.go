package serve

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// asAnswered is what a request with these words in its Authorization header is answered.
func asAnswered(t *testing.T, h http.Handler, sent string) int {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	if sent != "" {
		r.Header.Set("Authorization", sent)
	}
	h.ServeHTTP(w, r)
	return w.Code
}

// A flood of wrong passwords takes the seats of who guesses, and of nobody else.
func TestGuessesStarveNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		checked := make(chan struct{})
		var asked atomic.Int32
		g := newGuesses(slog.New(slog.DiscardHandler), &Refusals{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.Header.Get("Authorization") {
			case "wrong":
				asked.Add(1)
				<-checked
				fallthrough
			case "":
				w.WriteHeader(http.StatusUnauthorized)
			}
		}))
		if got := asAnswered(t, g, "right"); got != http.StatusOK {
			t.Fatalf("a right password is answered with %d", got)
		}
		var flood sync.WaitGroup
		for range guessesAtOnce + guessesWait {
			flood.Go(func() {
				if got := asAnswered(t, g, "wrong"); got != http.StatusUnauthorized && got != http.StatusServiceUnavailable {
					t.Errorf("a wrong password is answered with %d", got)
				}
			})
			synctest.Wait()
		}
		if asked.Load() != guessesAtOnce {
			t.Errorf("%d passwords are checked at once, want %d", asked.Load(), guessesAtOnce)
		}
		for sent, want := range map[string]int{"right": http.StatusOK, "": http.StatusUnauthorized, "wrong": http.StatusServiceUnavailable} {
			if got := asAnswered(t, g, sent); got != want {
				t.Errorf("in a flood %q is answered with %d, want %d", sent, got, want)
			}
		}
		close(checked)
		flood.Wait()
	})
}

// Who was let in is no longer known when his password is refused.
func TestAPasswordThatWasChanged(t *testing.T) {
	status := http.StatusOK
	g := newGuesses(slog.New(slog.DiscardHandler), &Refusals{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	asAnswered(t, g, "right")
	if !g.known(g.mark("right")) {
		t.Error("who was let in is not known")
	}
	status = http.StatusUnauthorized
	asAnswered(t, g, "right")
	if g.known(g.mark("right")) {
		t.Error("who was refused is still known")
	}
}

// Refused log-ins are told of, with how many they were, and without what was sent.
func TestRefusedLogInsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a busy machine takes long to look at a password
		var log bytes.Buffer
		l := newPipes()
		s := &Server{Listener: l, Handler: shown(web.Reading{Overview: webtest.Healthy()}), ConfigFile: configFile(t, users),
			Log: slog.New(slog.NewTextHandler(&log, nil)), Refused: &Refusals{}}
		r := served(t, s)
		for range 3 {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.address+"/", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.SetBasicAuth("m\x1b[31mallory", "hunter2-a-guess")
			answer, err := l.transport().RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusUnauthorized {
				t.Errorf("a guess is answered with %s", answer.Status)
			}
		}
		r.end(t)
		if n := s.Refused.LogIns(); n != 3 {
			t.Errorf("%d refused log-ins are counted, want 3", n)
		}
		said := log.String()
		if strings.Count(said, "log-ins to the page were refused") != 1 || !strings.Contains(said, "allory") ||
			!strings.Contains(said, "127.0.0.1:") {
			t.Errorf("refused log-ins are not told of once, with who and from where:\n%s", said)
		}
		if strings.Contains(said, "hunter2") || strings.Contains(said, "\x1b") {
			t.Errorf("the log has what was sent:\n%s", said)
		}
	})
}
