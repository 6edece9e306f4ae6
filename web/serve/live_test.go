package serve

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// moving is a ledger that changes when it is told to, and counts how often it is asked.
type moving struct {
	webtest.Ledger
	now   atomic.Pointer[string]
	asked atomic.Int32
}

func (m *moving) Changed(context.Context) (string, error) {
	m.asked.Add(1)
	if now := m.now.Load(); now != nil {
		return *now, nil
	}
	return "", nil
}

func (m *moving) move(to string) { m.now.Store(&to) }

// TestPagesHearOfChanges: two hundred pages hear of each change within a second, of one goroutine that asks, and nobody
// asks once they are gone.
func TestPagesHearOfChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger, forgot := &moving{}, 0
		h := newHerald(ledger, func() { forgot++ })
		var all sync.WaitGroup
		for range 200 {
			heard, leave, ok := h.join()
			if !ok {
				t.Fatal("a page was sent away")
			}
			all.Go(func() {
				defer leave()
				for range 3 {
					<-heard
				}
			})
		}
		for _, to := range []string{"a", "b", "c"} {
			synctest.Wait()
			began := time.Now()
			ledger.move(to)
			time.Sleep(time.Second)
			if time.Since(began) > time.Second {
				t.Error("time is not the bubble's")
			}
		}
		all.Wait()
		if n := ledger.asked.Load(); n > 10 || forgot != 3 {
			t.Errorf("the ledger was asked %d times in 3 seconds, and a new reading made %d times", n, forgot)
		}
		asked := ledger.asked.Load()
		time.Sleep(time.Minute)
		if ledger.asked.Load() != asked {
			t.Error("the ledger is asked though nobody looks")
		}
	})
}

// telling is a ledger that tells when it moves, until it is shut.
type telling struct {
	moving
	tells chan bool
}

func (l *telling) Listen(ctx context.Context, told func(begun bool)) error {
	told(false)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case begun, open := <-l.tells:
			if !open {
				return io.EOF
			}
			told(begun)
		}
	}
}

// TestPagesAreTold: where the ledger tells of changes it is asked seldom, and pages hear at once; a pass that begins and
// ends is one change. Once it tells no more it is asked as often as before.
func TestPagesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &telling{tells: make(chan bool)}
		h := newHerald(ledger, func() {})
		heard, leave, _ := h.join()
		defer leave()
		time.Sleep(time.Minute + askSeldom/2) // between two looks that the herald makes by itself
		asked := ledger.asked.Load()
		if asked > 8 {
			t.Errorf("the ledger was asked %d times in a quiet minute", asked)
		}
		hears := func(what string, within time.Duration) {
			t.Helper()
			began := time.Now()
			if <-heard; time.Since(began) > within {
				t.Errorf("heard that %s after %s, want %s at most", what, time.Since(began), within)
			}
			time.Sleep(tellEach)
		}
		ledger.move("asked")
		ledger.tells <- false
		hears("somebody asked for something", 0)
		ledger.move("begun")
		ledger.tells <- true
		hears("a pass began that takes long", endsSoon)
		ledger.move("begun once more")
		ledger.tells <- true
		time.Sleep(endsSoon / 2)
		ledger.move("ended")
		ledger.tells <- false
		hears("it ended", 0)
		if len(heard) > 0 {
			t.Error("a pass that ends at once is two changes")
		}
		close(ledger.tells)
		synctest.Wait()
		ledger.move("untold")
		hears("it was not told", askEvery)
	})
}

// TestPagesRest: while the ledger changes all the time, pages hear of it once in 0.9 seconds and no more often; of a
// change after a quiet time they hear in less than a second.
func TestPagesRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &moving{}
		h := newHerald(ledger, func() {})
		heard, leave, _ := h.join()
		defer leave()
		hears := 0
		for i := range 180 { // each 50 ms, for 9 seconds
			time.Sleep(50 * time.Millisecond)
			ledger.move(strconv.Itoa(i))
			select {
			case <-heard:
				hears++
			default:
			}
		}
		if hears < 9 || hears > 11 {
			t.Errorf("a page heard %d times in 9 seconds of changes, want about 10", hears)
		}
		time.Sleep(10 * time.Second)
		for len(heard) > 0 {
			<-heard
		}
		began := time.Now()
		ledger.move("at last")
		if <-heard; time.Since(began) > askEvery {
			t.Errorf("heard after %s, want %s at most", time.Since(began), askEvery)
		}
	})
}

// TestTooManyPages: one more than the most is sent away, and has room once another has left.
func TestTooManyPages(t *testing.T) {
	s := &streams{herald: newHerald(&moving{}, func() {})}
	var leave func()
	for range mostLive {
		_, l, _ := s.herald.join()
		defer l()
		leave = l
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/live", nil)
	r.Header.Set("Accept", "text/event-stream")
	if s.live(w, r); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one too many got %d", w.Code)
	}
	leave()
	if _, _, ok := s.herald.join(); !ok {
		t.Error("there is no room although one has left")
	}
}

// TestStream: a page hears of a change over a real connection, does not take a seat, and does not keep the server from
// its end.
func TestStream(t *testing.T) {
	ledger := &moving{}
	o := options()
	o.Ledger = ledger
	r := serve(t, New(o), "")
	request, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+r.address+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	var open []*http.Response
	for range atOnce + 3 { // more than have a seat
		answer, err := (&http.Transport{}).RoundTrip(request)
		if err != nil || answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("stream %d: %v, %v", len(open), answer, err)
		}
		defer answer.Body.Close()
		open = append(open, answer)
	}
	for ledger.asked.Load() < 2 { // what it asked first is what a change is one against
		time.Sleep(time.Millisecond)
	}
	ledger.move("now")
	lines := bufio.NewScanner(open[len(open)-1].Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "changed") {
	}
	if lines.Text() != "data: changed" {
		t.Errorf("the stream said %q, %v", lines.Text(), lines.Err())
	}
	r.end(t)
	for lines.Scan() { // until the server ends it
	}
}
