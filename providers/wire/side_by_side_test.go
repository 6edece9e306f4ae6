package wire

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A shelf lists sandboxes in the order of their creation, ten a page.
type shelf struct {
	mu       sync.Mutex
	boxes    []reconcile.Sandbox
	takes    time.Duration                                        // each page
	filter   func(s *reconcile.Sandbox, made time.Time) bool      // nil: what was made at that moment or later
	breaks   func(made time.Time, page int, boxes []string) error // nil: never
	between  func(sh *shelf, pages int)                           // what happens after each page
	pages    int
	now, top int // pages that are being asked for
}

const shelfPage = 10

func (sh *shelf) read(made time.Time) ReadPage {
	n := 0
	return func(ctx context.Context, cursor string) (Page, error) {
		sh.mu.Lock()
		sh.now++
		sh.top = max(sh.top, sh.now)
		sh.mu.Unlock()
		wait := reconcile.Sleep(ctx, sh.takes)
		sh.mu.Lock()
		defer sh.mu.Unlock()
		sh.now--
		if wait != nil {
			return Page{}, wait
		}
		sh.pages++
		n++
		out := Page{Date: theStart}
		var ids []string
		for _, s := range sh.boxes {
			if !made.IsZero() && !sh.filter(&s, made) || cursor != "" && s.Name <= cursor {
				continue
			}
			if len(out.Sandboxes) == shelfPage {
				out.Next = out.Sandboxes[shelfPage-1].Name
				break
			}
			out.Sandboxes, ids = append(out.Sandboxes, s), append(ids, s.ID)
		}
		if sh.breaks != nil {
			if err := sh.breaks(made, n, ids); err != nil {
				return Page{}, err
			}
		}
		if sh.between != nil {
			sh.between(sh, sh.pages)
		}
		return out, nil
	}
}

var theStart = time.Date(2026, 1, 20, 9, 0, 0, 0, time.UTC)

func inclusive(s *reconcile.Sandbox, made time.Time) bool { return !s.CreatedAt.Before(made) }
func exclusive(s *reconcile.Sandbox, made time.Time) bool { return s.CreatedAt.After(made) }

// put adds a sandbox. Its name tells its place in the order.
func (sh *shelf) put(i int, made time.Time) {
	s := reconcile.Sandbox{Name: fmt.Sprintf("%020d-%06d", made.Sub(theStart)+time.Hour, i), CreatedAt: made}
	s.ID = strconv.Itoa(i)
	at, _ := slices.BinarySearchFunc(sh.boxes, s, func(a, b reconcile.Sandbox) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	sh.boxes = slices.Insert(sh.boxes, at, s)
}

func (sh *shelf) list(ctx context.Context) (ids []string, l reconcile.Listing, err error) {
	return sh.listBy(ctx, &Base{Entry: entry.Entry{Name: "shelf"}})
}

func (sh *shelf) listBy(ctx context.Context, f *Base) (ids []string, l reconcile.Listing, err error) {
	l, err = f.List(ctx, func(page []reconcile.Sandbox) error {
		for i := range page {
			ids = append(ids, page[i].ID)
		}
		return nil
	}, Scope{Read: sh.read(time.Time{}), From: sh.read})
	return ids, l, err
}

// fleets are ways in which sandboxes may have been made over time.
func fleets(r *rand.Rand) map[string]func(i, n int) time.Time {
	return map[string]func(i, n int) time.Time{
		"one after the other": func(i, _ int) time.Time { return theStart.Add(time.Duration(i) * time.Second) },
		"all at once":         func(int, int) time.Time { return theStart },
		"in four bursts": func(i, n int) time.Time {
			return theStart.Add(time.Duration(4*i/n)*24*time.Hour + time.Duration(i%7)*time.Millisecond)
		},
		"at any time": func(int, int) time.Time { return theStart.Add(rand.N(1000 * time.Hour)) },
		"ever more": func(i, n int) time.Time {
			return theStart.Add(1000*time.Hour - 1000*time.Hour/time.Duration(i+1))
		},
		"at few moments": func(int, int) time.Time { return theStart.Add(time.Duration(r.IntN(30)) * time.Minute) },
	}
}

// Whatever the fleet is like, and whatever the provider makes of the filter, a listing side by side shows each sandbox,
// and each once.
func TestStretchesAreTheWhole(t *testing.T) {
	filters := map[string]func(*reconcile.Sandbox, time.Time) bool{
		"inclusive": inclusive, "exclusive": exclusive,
		"ignored":     func(*reconcile.Sandbox, time.Time) bool { return true },
		"of nothing":  func(*reconcile.Sandbox, time.Time) bool { return false },
		"the reverse": func(s *reconcile.Sandbox, made time.Time) bool { return s.CreatedAt.Before(made) },
		"too late":    func(s *reconcile.Sandbox, made time.Time) bool { return inclusive(s, made.Add(3*time.Hour)) },
		"of the hour": func(s *reconcile.Sandbox, made time.Time) bool { return inclusive(s, made.Truncate(time.Hour)) },
	}
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 0))
		for fleet, made := range fleets(r) {
			for filter, shows := range filters {
				for _, n := range []int{0, 9, 41, 100, 1003} {
					t.Run(fmt.Sprint(fleet, "/", filter, "/", n, "/", seed), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							sh := &shelf{filter: shows, takes: time.Second}
							for i := range n {
								sh.put(i, made(i, n))
							}
							f := &Base{Entry: entry.Entry{Name: "shelf"}}
							for _, when := range []string{"first", "again", "when many are gone"} {
								sh.pages = 0
								sh.isWholeBy(t, f, n)
								// Few fleets take more than 7/4 of the pages that there are: a few at few moments do.
								if most := 2 + n/shelfPage*15/8; sh.pages > most && when != "when many are gone" {
									t.Errorf("%s it took %d pages, want %d at most", when, sh.pages, most)
								}
								if when == "again" {
									sh.boxes = slices.Delete(sh.boxes, n/5, n-n/5)
									n = len(sh.boxes)
								}
							}
						})
					})
				}
			}
		}
	}
}

func (sh *shelf) isWhole(t *testing.T, n int) {
	t.Helper()
	sh.isWholeBy(t, &Base{Entry: entry.Entry{Name: "shelf"}}, n)
}

func (sh *shelf) isWholeBy(t *testing.T, f *Base, n int) {
	t.Helper()
	ids, l, err := sh.listBy(t.Context(), f)
	if err != nil || !l.Complete || len(ids) != n {
		t.Fatalf("List = %d sandboxes, %+v, %v; want %d, complete", len(ids), l, err, n)
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != n {
		t.Error("one is listed twice")
	}
}

// A part that fails leaves its work to the first, also after another one has ended where it began.
func TestStretchThatFailsIsReadByTheFirst(t *testing.T) {
	for fails := range 6 {
		synctest.Test(t, func(t *testing.T) {
			sh := &shelf{filter: inclusive, takes: time.Second}
			for i := range 1003 {
				sh.put(i, theStart.Add(time.Duration(i)*time.Second))
			}
			failed := false
			sh.breaks = func(made time.Time, page int, _ []string) error {
				if !made.IsZero() && page > fails {
					failed = true
					return errors.New("503")
				}
				return nil
			}
			if sh.isWhole(t, 1003); !failed {
				t.Error("none failed")
			}
		})
	}
}

// What fails in the first, which is the whole listing, fails the listing, and so does who is listed to.
func TestStretchesFail(t *testing.T) {
	stop := errors.New("enough")
	for name, test := range map[string]func(t *testing.T, sh *shelf) (reconcile.Listing, error){
		"a page of the first": func(t *testing.T, sh *shelf) (reconcile.Listing, error) {
			sh.breaks = func(made time.Time, page int, _ []string) error {
				if made.IsZero() && page == 6 {
					return stop
				}
				return nil
			}
			_, l, err := sh.list(t.Context())
			return l, err
		},
		"who is listed to": func(t *testing.T, sh *shelf) (reconcile.Listing, error) {
			pages := 0
			return (&Base{}).List(t.Context(), func([]reconcile.Sandbox) error {
				if pages++; pages == 20 {
					return stop
				}
				return nil
			}, Scope{Read: sh.read(time.Time{}), From: sh.read})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sh := &shelf{filter: inclusive, takes: time.Second}
				for i := range 1003 {
					sh.put(i, theStart.Add(time.Duration(i)*time.Second))
				}
				if l, err := test(t, sh); !errors.Is(err, stop) || l.Complete {
					t.Errorf("List = %+v, %v; want it to fail", l, err)
				}
			})
		})
	}
}

// What is there all the while is listed once, whatever is made and ended between the pages.
func TestStretchesWhileTheFleetChanges(t *testing.T) {
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			sh := &shelf{filter: inclusive, takes: time.Second}
			for i := range 1000 {
				sh.put(i, theStart.Add(time.Duration(i)*time.Second))
			}
			made := 0
			sh.between = func(sh *shelf, _ int) {
				for range 3 { // of each even number, at any place
					at := r.IntN(len(sh.boxes))
					if n, _ := strconv.Atoi(sh.boxes[at].ID); n%2 == 0 {
						sh.boxes = slices.Delete(sh.boxes, at, at+1)
					}
				}
				if made++; made < 200 {
					sh.put(1000+2*made, theStart.Add(1000*time.Second+time.Duration(made)*time.Second))
				}
			}
			ids, l, err := sh.list(t.Context())
			if err != nil || !l.Complete {
				t.Fatalf("List = %+v, %v; want it complete", l, err)
			}
			count := map[string]int{}
			for _, id := range ids {
				count[id]++
			}
			for i := 1; i < 1000; i += 2 {
				if n := count[strconv.Itoa(i)]; n != 1 {
					t.Errorf("seed %d: sandbox %d was there all the while and is listed %d times", seed, i, n)
				}
			}
		})
	}
}

// A large fleet is read with several pages in flight, a small one with one.
func TestStretchesTakeLessTime(t *testing.T) {
	for pages, test := range map[int]struct {
		most time.Duration // by the clock of the test
		top  int
	}{
		4:   {4 * time.Second, 1},
		50:  {25 * time.Second, readers}, // half of what one after the other takes: who begins first is not decided
		500: {125 * time.Second, readers},
	} {
		synctest.Test(t, func(t *testing.T) {
			sh := &shelf{filter: inclusive, takes: time.Second}
			for i := range pages * shelfPage {
				sh.put(i, theStart.Add(time.Duration(i)*time.Second))
			}
			began := time.Now()
			sh.isWhole(t, pages*shelfPage)
			took := time.Since(began)
			t.Logf("%d pages: %d calls, %d at once, %s", pages, sh.pages, sh.top, took)
			if took > test.most || sh.top > test.top || sh.pages > pages+pages/2 {
				t.Errorf("%d pages took %s and %d calls, %d at once", pages, took, sh.pages, sh.top)
			}
		})
	}
}

// Where an earlier listing has shown how far it goes, a small one is read in two parts from its beginning.
func TestListingAgainTakesHalfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sh := &shelf{filter: inclusive, takes: time.Second}
		for i := range 60 {
			sh.put(i, theStart.Add(time.Duration(i)*time.Second))
		}
		f := &Base{Entry: entry.Entry{Name: "shelf"}}
		sh.isWholeBy(t, f, 60)
		sh.pages = 0
		began := time.Now()
		sh.isWholeBy(t, f, 60)
		if took := time.Since(began); took > 4*time.Second || sh.pages > 7 {
			t.Errorf("it took %s and %d pages, want 4 s and 7 at most", took, sh.pages)
		}
	})
}
