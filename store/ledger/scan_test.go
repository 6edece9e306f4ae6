package ledger

import (
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

var actionList = regexp.MustCompile(`(?s)(?:SELECT|RETURNING) (id, remedy, .*)`)

// TestActionColumns: the queries that list an action's columns list the same ones, in the order in
// which they are scanned.
func TestActionColumns(t *testing.T) {
	fields := scannedFields()
	found := 0
	for name, sql := range queries {
		m := actionList.FindStringSubmatch(sql)
		if m == nil {
			continue
		}
		found++
		words := strings.Fields(strings.ReplaceAll(m[1], ",", " "))
		for i, field := range fields {
			if listed := words[:min(i+1, len(words))]; len(listed) <= i || columnOf(listed[i]) != field {
				t.Errorf("%s.sql: column %d is scanned into %q, and the list begins with %s", name, i+1, field, listed)
				break
			}
		}
	}
	if found < 2 {
		t.Errorf("%d queries list the columns of an action", found)
	}
}

// scannedFields are the fields of an action that its columns are scanned into, as columnOf has them;
// "" for what is read out of one, which has none.
func scannedFields() []string {
	var a reconcile.Action
	names := map[uintptr]string{}
	for field, value := range reflect.ValueOf(&a).Elem().Fields() {
		names[value.Addr().Pointer()] = columnOf(field.Name)
	}
	var row scannedRow
	_ = scanActionAnd(&row, &a) // only asked for where to
	out := make([]string, len(row.into))
	for i, into := range row.into {
		out[i] = names[reflect.ValueOf(into).Pointer()]
	}
	return out
}

// columnOf is the one spelling of a field and of its column: FirstActed is first_acted_at.
func columnOf(name string) string {
	if name == "evidence" || name == "row_before" || name == "waits_for" {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(strings.ReplaceAll(name, "_", "")), "at")
}

// A scannedRow has nothing, and keeps what it is to be scanned into.
type scannedRow struct{ into []any }

func (r *scannedRow) Scan(into ...any) error {
	r.into = into
	return errors.New("nothing is there")
}
