package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Results that come close together are saved together, in order, and each of those who wait
// hears how it went.
func TestLetterbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent [][]string
		broken := errors.New("the database is away")
		b := &probeBatch{send: func(_ context.Context, results []reconcile.ProbeResult) error {
			var ids []string
			for _, r := range results {
				ids = append(ids, r.ID+" "+string(r.Outcome))
			}
			sent = append(sent, ids)
			if len(sent) == 2 {
				return broken
			}
			return nil
		}}
		var wg sync.WaitGroup
		put := func(id string, o reconcile.ProbeOutcome, want error) {
			wg.Go(func() {
				if err := b.save(t.Context(), reconcile.ProbeResult{Ref: reconcile.Ref{Provider: "lab", ID: id}, Outcome: o}); !errors.Is(err, want) {
					t.Errorf("save %s: %v, want %v", id, err, want)
				}
			})
			time.Sleep(100 * time.Millisecond)
		}
		put("s2", reconcile.Hung, nil)
		put("s1", reconcile.Answered, nil)
		put("s2", reconcile.Answered, nil)
		wg.Wait()
		put("s3", reconcile.Answered, broken)
		wg.Wait()
		began := time.Now()
		for i := range collectMost + 1 {
			wg.Go(func() {
				if err := b.save(t.Context(), reconcile.ProbeResult{Ref: reconcile.Ref{Provider: "lab", ID: fmt.Sprint("m", i)}, Outcome: reconcile.Answered}); err != nil {
					t.Error(err)
				}
				if full := time.Since(began) == 0; full != (len(sent) == 3) {
					t.Errorf("result %d was saved after %s, with %d letters sent", i, time.Since(began), len(sent))
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if len(sent) != 4 || len(sent[2]) != collectMost || len(sent[3]) != 1 {
			t.Errorf("sent %v, want a full letter at once and one more", sent[2:])
		}

		sent = sent[:2]
		want := [][]string{{"s1 answered", "s2 answered"}, {"s3 answered"}}
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}
