package tasks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// A tuple is an id of several columns, as tasks.columns.id: (org, n). Its text is that of the parts with a / between
// them, in which a part's own / and % are %2F and %25. What finds a row is that text; the parts are compared besides,
// so that an index of theirs answers.
type tuple []string // SQL of each part

// tuple compiles an id that may have several parts; nil where it has one.
func (c *compiler) tuple(key, text string) tuple {
	parts := sqltext.Tuple(text)
	if len(parts) > sqltext.MostParts {
		c.wrong(key, fmt.Sprintf("has %d parts", len(parts)), fmt.Sprintf("use at most %d", sqltext.MostParts))
	}
	var out tuple
	for _, part := range parts {
		sql, _ := c.value(key, part)
		out = append(out, sql)
	}
	return out
}

// SQL is the tuple's text.
func (t tuple) SQL() string {
	parts := make([]string, len(t))
	for i, part := range t {
		parts[i] = "replace(replace((" + part + ")::text, '%', '%25'), '/', '%2F')"
	}
	return "(" + strings.Join(parts, " || '/' || ") + ")"
}

// described is the type of the tuple's text, with those of its parts.
func (t tuple) described(ctx context.Context, tx pgx.Tx, from string, whole columnType) (columnType, error) {
	if t == nil {
		return whole, nil
	}
	columns := map[string]string{}
	for i, part := range t {
		columns[fmt.Sprint(i)] = part
	}
	types, err := describe(ctx, tx, from, columns)
	if err != nil {
		return columnType{}, err
	}
	for i := range t {
		whole.parts = append(whole.parts, types[fmt.Sprint(i)])
	}
	whole.tuple = t
	return whole, nil
}

// canonicalTuple is a tuple's text as the database prints it.
func (t columnType) canonicalTuple(id string) (string, bool) {
	parts := strings.Split(id, "/")
	if len(parts) != len(t.parts) {
		return "", false
	}
	for i, part := range t.parts {
		if parts[i] == "" {
			continue
		}
		key, ok := part.canonical(parts[i])
		if !ok {
			return "", false
		}
		parts[i] = key
	}
	return strings.Join(parts, "/"), true
}

// comparable are the first parts that can be compared in their own types, with SQL of their values in a text.
func (t columnType) comparable(text string) (parts, values []string) {
	for i, part := range t.parts {
		if !part.keyed() && !part.text() {
			break
		}
		value := sqltext.PartOf(text, i+1)
		if part.keyed() {
			value = "NULLIF(" + value + ", '')::" + part.name
		}
		parts, values = append(parts, t.tuple[i]), append(values, value)
	}
	return parts, values
}

// equals is the condition that SQL of an id is the text parameter's.
func (t columnType) equals(id, parameter string) string {
	parts, values := t.comparable("@" + parameter + "::text")
	conditions := []string{id + " = " + t.value(parameter)}
	for i, part := range parts {
		conditions = append(conditions, "("+part+") = "+values[i])
	}
	slices.Reverse(conditions)
	return strings.Join(conditions, " AND ")
}

// amongTuples is the same for a list of texts.
func (t columnType) amongTuples(id, parameter string) string {
	whole := id + " = ANY (@" + parameter + "::text[])"
	parts, values := t.comparable("sk_k.id")
	if len(parts) == 0 {
		return whole
	}
	return fmt.Sprintf("(%s) IN (SELECT %s FROM unnest(@%s::text[]) AS sk_k (id)) AND %s", strings.Join(parts, ", "),
		strings.Join(values, ", "), parameter, whole)
}
