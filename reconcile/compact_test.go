package reconcile

import (
	"reflect"
	"testing"
	"time"
)

// What is put is what is got, to the last bit, whichever field of it is set and whatever moment it names: a judgement
// from what is kept compact is the judgement from the rows themselves.
func TestCompactIsWhole(t *testing.T) {
	at := time.Date(2026, 11, 27, 8, 0, 0, 123456000, time.UTC)
	moments := []time.Time{at, at.Add(time.Nanosecond), time.Unix(0, 0).UTC(), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC),
		time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), at.In(time.FixedZone("CET", 3600)), at.Local(), time.Now()}
	usual := TaskSeen{ID: "t1", Status: "running", State: TaskRunning, Sandbox: "s1", Named: "s1", Since: at, FirstSeen: at,
		UpdatedAt: at, EntrySum: 7, Live: true}
	wholly(t, usual, TaskSeen.Compact, (*CompactTask).Seen, moments)
	wholly(t, TaskSeen{}, TaskSeen.Compact, (*CompactTask).Seen, moments)
	box := SandboxSeen{Ref: Ref{"daytona", "s1"}, Name: "n", Task: "t1", State: SandboxRunning, CreatedAt: at}
	wholly(t, box, SandboxSeen.Compact, (*CompactSandbox).Seen, moments)
	wholly(t, SandboxSeen{}, SandboxSeen.Compact, (*CompactSandbox).Seen, moments)

	if c := usual.Compact(); c.whole != nil {
		t.Error("a usual task does not fit")
	}
	if c := box.Compact(); c.whole != nil {
		t.Error("a usual sandbox does not fit")
	}
	if (*CompactTask)(nil).Seen().ID != "" || (*CompactSandbox)(nil).Seen() != (SandboxSeen{}) {
		t.Error("of nothing something is remembered")
	}
}

// wholly sets each field of one in turn, and compares what comes back.
func wholly[V, C any](t *testing.T, one V, compact func(V) *C, seen func(*C) V, moments []time.Time) {
	t.Helper()
	check := func(v V, field string) {
		t.Helper()
		if got := seen(compact(v)); !reflect.DeepEqual(got, v) {
			t.Errorf("%s: %+v came back as %+v", field, v, got)
		}
	}
	check(one, "as it is")
	for _, f := range reflect.VisibleFields(reflect.TypeFor[V]()) {
		for _, value := range valuesOf(f.Type, moments) {
			v := one
			reflect.ValueOf(&v).Elem().FieldByIndex(f.Index).Set(value)
			check(v, f.Name)
		}
	}
}

// valuesOf are values of a type other than its zero value.
func valuesOf(of reflect.Type, moments []time.Time) (out []reflect.Value) {
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.String:
		v.SetString("other")
	case reflect.Bool:
		yes := reflect.New(of).Elem()
		yes.SetBool(true)
		out = append(out, yes)
	case reflect.Int, reflect.Int64:
		v.SetInt(-3)
	case reflect.Uint64:
		v.SetUint(1 << 63)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Slice:
		v.Set(reflect.ValueOf(moments[:2]))
		out = append(out, reflect.MakeSlice(of, 0, 0))
	default:
		if of != reflect.TypeFor[time.Time]() {
			for i := range of.NumField() { // a struct within: each of its fields
				for _, value := range valuesOf(of.Field(i).Type, moments) {
					within := reflect.New(of).Elem()
					within.Field(i).Set(value)
					out = append(out, within)
				}
			}
			return out
		}
		for _, at := range moments {
			out = append(out, reflect.ValueOf(at))
		}
	}
	return append(out, v)
}
