package fleet_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/fleet"
)

var at = time.Date(2026, 11, 27, 8, 0, 0, 123456000, time.UTC)

// usual is a sandbox as most are, and remembered what the ledger has of it.
func usual(i int) (sb reconcile.Sandbox, seen reconcile.SandboxSeen) {
	ref := reconcile.Ref{Provider: "daytona", ID: fmt.Sprint("b", i)}
	sb = reconcile.Sandbox{Ref: ref, Name: fmt.Sprint("n", i), Task: fmt.Sprint("t", i), Raw: "started",
		State: reconcile.SandboxRunning, Template: "light", Kinds: []string{"env=live"}, Owned: true, SandboxKey: ref.ID,
		CreatedAt: at, UpdatedAt: at.Add(time.Second), AsOf: at.Add(time.Hour)}
	return sb, reconcile.SandboxSeen{Ref: ref, Name: sb.Name, Task: sb.Task, CreatedAt: at, State: sb.State}
}

// remembering is a listing where the ledger remembers these.
func remembering(all ...reconcile.SandboxSeen) *fleet.Listing {
	m := &reconcile.Memory{}
	for _, seen := range all {
		m.Sandboxes.Put(seen.Ref, seen)
	}
	return fleet.NewListing(m)
}

// What is put is what is got, to the last bit, whichever field of it is set: alone, and between others that share what
// it shared before.
func TestListingIsWhole(t *testing.T) {
	times := []time.Time{at.Add(time.Nanosecond), time.Unix(0, 0).UTC(), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC),
		time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), at.In(time.FixedZone("CET", 3600)), time.Now(), {}}
	one, seen := usual(1)
	other, of := usual(2)
	check := func(sb reconcile.Sandbox, field string) {
		t.Helper()
		for _, l := range []*fleet.Listing{remembering(seen, of), remembering()} {
			for _, put := range []reconcile.Sandbox{other, sb, other} {
				l.Add(&put)
			}
			if got, want := l.All(), []reconcile.Sandbox{other, sb, other}; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v came back as %+v", field, want, got)
			}
		}
	}
	check(one, "as it is")
	for _, f := range reflect.VisibleFields(reflect.TypeFor[reconcile.Sandbox]()) {
		if f.Name == "Ref" {
			continue // its parts are fields as well
		}
		for _, value := range valuesOf(t, f.Type, times) {
			sb := one
			reflect.ValueOf(&sb).Elem().FieldByIndex(f.Index).Set(value)
			check(sb, f.Name)
		}
	}
}

// valuesOf are values of a type other than a usual one.
func valuesOf(t *testing.T, of reflect.Type, times []time.Time) (out []reflect.Value) {
	t.Helper()
	switch v := reflect.New(of).Elem(); v.Interface().(type) {
	case time.Time:
		for _, at := range times {
			out = append(out, reflect.ValueOf(at))
		}
	case reconcile.Size:
		out = append(out, reflect.ValueOf(reconcile.Size{CPU: 3}))
	case map[string]string:
		out = append(out, reflect.ValueOf(map[string]string{"keep": "yes"}))
	case []string:
		for _, list := range [][]string{nil, {}, {""}, {"env=live", "team=a"}} {
			out = append(out, reflect.ValueOf(list))
		}
	case []reconcile.FurtherKey:
		out = append(out, reflect.ValueOf([]reconcile.FurtherKey{{Value: "x"}}))
	case bool:
		out = append(out, reflect.ValueOf(false), reflect.ValueOf(true))
	default:
		for _, text := range []string{"", "other", "n1", "b2", "t2"} {
			if of.Kind() != reflect.String {
				t.Fatalf("no value of %s is known to this test", of)
			}
			text := reflect.ValueOf(text).Convert(of)
			out = append(out, text)
		}
	}
	return out
}

// Those that are called as the ledger remembers them have a place, those that it does not know as well, each of two that
// are listed twice; what is taken is left out of the rest, and of all nothing is.
func TestListingPlaces(t *testing.T) {
	var seen []reconcile.SandboxSeen
	var listed []reconcile.Sandbox
	for i := range 6 {
		sb, is := usual(i)
		listed, seen = append(listed, sb), append(seen, is)
	}
	listed[1].Task, listed[2].Name, listed[5].Task = "t9", "renamed", "" // that only its row names
	l := remembering(seen[0], seen[1], seen[2], seen[3], seen[5])
	for i := range listed {
		l.Add(&listed[i])
	}
	l.Add(&listed[3])
	var places []string
	for place, was := range l.Each {
		var sb reconcile.Sandbox
		if place.Fresh() {
			place.Know(was.Seen()) // what the ledger is to remember calls it as it is called
		}
		place.Fill(&sb)
		if fresh := sb.ID == "b4"; place.Fresh() != fresh || place.Taken() {
			t.Errorf("%s is new: %v, want %v; taken: %v", sb.ID, place.Fresh(), fresh, place.Taken())
		}
		if !reflect.DeepEqual(sb, listed[slices.IndexFunc(listed, func(b reconcile.Sandbox) bool { return b.ID == sb.ID })]) ||
			was.Seen().Ref != sb.Ref {
			t.Errorf("%+v came back, of %v", sb, was.Seen().Ref)
		}
		if places = append(places, sb.ID); sb.ID == "b0" {
			place.Take()
		}
		if place.Taken() != (sb.ID == "b0") {
			t.Errorf("%s is taken: %v", sb.ID, place.Taken())
		}
	}
	if want := []string{"b0", "b3", "b4", "b5", "b3"}; !slices.Equal(places, want) {
		t.Errorf("places are of %v, want %v", places, want)
	}
	if rest := l.Rest(); !reflect.DeepEqual(rest, append(listed[1:6:6], listed[3])) {
		t.Errorf("left are %+v", rest)
	}
	if n := len(l.All()); n != 7 || l.Len() != 7 {
		t.Errorf("%d of %d, want 7", n, l.Len())
	}
	for task, want := range map[string]bool{"t0": false, "t1": true, "t9": true, "t2": true, "t3": false, "t4": false, "t5": true} {
		if l.Strange(task) != want {
			t.Errorf("%s is strange: %v, want %v", task, !want, want)
		}
	}
}
