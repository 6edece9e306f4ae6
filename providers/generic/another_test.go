package generic_test

import (
	"errors"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An answer about another sandbox is no absence, unless it was found by its name.
func TestAnother(t *testing.T) {
	for body, gone := range map[string]bool{
		`{"box":{"box_id":"b-2","title":"b-1","phase":"placed"}}`: true,
		`{"box":{"box_id":"b-2","title":"two","phase":"placed"}}`: false,
		`{"box":{"box_id":"B-1","phase":"placed"}}`:               false,
		`{"box":{}}`:    false,
		`{"box":null}`:  false,
		`{}`:            false,
		`{"box":[]}`:    false,
		`{"box":"b-1"}`: false,
	} {
		s := &script{answer: says(reply{status: 200, body: body})}
		if got, err := ask(t, s).Get(t.Context(), "b-1"); err == nil || errors.Is(err, reconcile.ErrNotFound) != gone {
			t.Errorf("Get answered %s = %+v, %v; want gone %t", body, got, err, gone)
		}
		how, err := ask(t, s).Terminate(t.Context(), mine)
		if (how == reconcile.TerminateChanged) != gone || (err == nil) != gone {
			t.Errorf("Terminate answered %s = %q, %v; want changed %t", body, how, err, gone)
		}
		for _, r := range s.asked {
			if r.Method != "GET" {
				t.Errorf("answered %s, it made %s", body, r.Method)
			}
		}
	}
}
