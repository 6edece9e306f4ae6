package tasks

import (
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A lookup is what was asked for, in the spelling that the column itself has.
type lookup struct {
	keys       []string            // each once, as the database prints them
	spellings  map[string][]string // key: how it was asked for, where that differs
	unparsable []string
}

// parse sorts the given texts into keys of the type and others, so that one bad id never
// aborts the statement for all.
func (t columnType) parse(texts []string) lookup {
	l := lookup{keys: make([]string, 0, len(texts)), spellings: map[string][]string{}}
	seen := make(map[string]bool, len(texts))
	for _, text := range texts {
		key, ok := t.canonical(text)
		if !ok {
			l.unparsable = append(l.unparsable, text)
			continue
		}
		if !seen[key] {
			seen[key] = true
			l.keys = append(l.keys, key)
		}
		if key != text {
			l.spellings[key] = append(l.spellings[key], text)
		}
	}
	return l
}

// canonical is the id as the database prints it.
func (t columnType) canonical(id string) (string, bool) {
	if id == "" || !text.Storable(id) {
		return "", false
	}
	if t.tuple != nil {
		return t.canonicalTuple(id)
	}
	switch t.oid {
	case pgtype.UUIDOID:
		return canonicalUUID(id)
	case pgtype.Int2OID:
		return canonicalInt(id, 16)
	case pgtype.Int4OID:
		return canonicalInt(id, 32)
	case pgtype.Int8OID:
		return canonicalInt(id, 64)
	}
	return id, true
}

// canonicalUUID takes the two common spellings, in either case.
func canonicalUUID(id string) (string, bool) {
	var u pgtype.UUID
	if err := u.Scan(id); err != nil {
		return "", false
	}
	key := u.String()
	same := strings.EqualFold(id, key) || strings.EqualFold(id, strings.ReplaceAll(key, "-", ""))
	return key, same
}

func canonicalInt(id string, bits int) (string, bool) {
	n, err := strconv.ParseInt(id, 10, bits)
	return strconv.FormatInt(n, 10), err == nil
}

// among is SQL that compares a column with the texts of a parameter, in the column's own
// type where that can be done, so that its index is used.
func (t columnType) among(column, parameter string) string {
	switch {
	case t.tuple != nil:
		return t.amongTuples(column, parameter)
	case t.text():
		return column + " = ANY (@" + parameter + "::text[])"
	case t.keyed(), t.enum():
		return column + " = ANY (@" + parameter + "::text[]::" + t.name + "[])"
	}
	return "(" + column + ")::text = ANY (@" + parameter + "::text[])"
}

// value is SQL of one text parameter in the column's own type; "" is null.
func (t columnType) value(parameter string) string {
	if t.keyed() || t.enum() {
		return "NULLIF(@" + parameter + "::text, '')::" + t.name
	}
	return "NULLIF(@" + parameter + "::text, '')"
}
