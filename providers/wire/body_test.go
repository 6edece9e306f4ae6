package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Large answers are read two at a time, so that garbage does not fill the memory.
func TestLargeAnswersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Client{large: make(chan struct{}, largeAtOnce)}
		answer := func(size int) *http.Response {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(strings.Repeat("x", size))),
				ContentLength: -1}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		for range largeAtOnce {
			c.large <- struct{}{}
		}
		if body, err := c.readBody(ctx, answer(usualBody), MaxPage); err != nil || len(body) != usualBody {
			t.Errorf("an answer of a usual size = %d bytes, %v, want it whole", len(body), err)
		}
		if _, err := c.readBody(ctx, answer(usualBody+1), MaxPage); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a large answer beside two others = %v, want that it waits", err)
		}
		<-c.large
		for size, want := range map[int]error{0: nil, 1: nil, usualBody + 1: nil, MaxPage: nil, MaxPage + 1: ErrLarge} {
			body, err := c.readBody(t.Context(), answer(size), MaxPage)
			if !errors.Is(err, want) || err == nil && len(body) != size {
				t.Errorf("an answer of %d bytes = %d bytes, %v, want %v", size, len(body), err, want)
			}
			if most := MaxPage + MaxPage/4; cap(body) > most {
				t.Errorf("it took %d bytes, want at most %d", cap(body), most)
			}
		}
		if len(c.large) != largeAtOnce-1 {
			t.Errorf("%d places are taken afterwards, want %d", len(c.large), largeAtOnce-1)
		}
	})
}

// A provider that asks to wait for a day is asked again after minutes.
func TestGateIsNotShutForADay(t *testing.T) {
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	c := &Client{now: func() time.Time { return at }}
	k := Call{Method: http.MethodGet}
	c.learn(k, Answer{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"86400"}}, Date: at})
	if err := c.gateOf(k).pass(t.Context(), at.Add(longestOpen-longestWait-1)); err == nil {
		t.Error("a call long before the pause is over was let through")
	}
	if err := c.gateOf(k).pass(t.Context(), at.Add(longestOpen)); err != nil {
		t.Errorf("a call after the pause = %v, want it let through", err)
	}
}
