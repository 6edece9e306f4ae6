package tasks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A tuple is an id of several columns, as tasks.columns.id: (org, n). Its text is that of the parts with a / between
// them, in which a part's own / and % are %2F and %25. What finds a row is that text; the parts are compared besides, so
// that an index of theirs answers.
type tuple []string // SQL of each part

// mostParts is how many parts an id may have.
const mostParts = 8

// splitTuple is the parts of a tuple as the config has it; nil where the text is one expression.
func splitTuple(text string) []string {
	text = strings.TrimSpace(text)
	if e := scanExpression(text); e.problem != "" || !e.enclosed() {
		return nil
	}
	var parts []string
	depth, begin, quote := 0, 1, byte(0)
	for i := 1; i < len(text)-1; i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == ',' && depth == 0:
			parts, begin = append(parts, strings.TrimSpace(text[begin:i])), i+1
		}
	}
	if parts == nil {
		return nil
	}
	return append(parts, strings.TrimSpace(text[begin:len(text)-1]))
}

// tuple compiles an id that may have several parts; nil where it has one.
func (c *compiler) tuple(key, text string) tuple {
	parts := splitTuple(text)
	if len(parts) > mostParts {
		c.wrong(key, fmt.Sprintf("has %d parts", len(parts)), fmt.Sprintf("use at most %d", mostParts))
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

// partOf is SQL of one part, from 1, of a tuple's text.
func partOf(text string, n int) string {
	return fmt.Sprintf("replace(replace(split_part(%s, '/', %d), '%%2F', '/'), '%%25', '%%')", text, n)
}

// partNames are the names by which statements of the config know the parts of the id.
func partNames() map[string]string {
	out := map[string]string{"id": "@id::text"}
	for n := range mostParts {
		out[fmt.Sprintf("id_%d", n+1)] = partOf("@id::text", n+1)
	}
	return out
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
		value := partOf(text, i+1)
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
