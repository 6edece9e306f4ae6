package propose

import (
	"regexp"
	"slices"
	"strings"
)

// A Catalog is what a database says of its tables.
type Catalog struct{ Tables []Table }

// A Table is one of them.
type Table struct {
	Schema, Name string
	Rows         int64 // as the planner estimates
	Secured      bool  // by row security
	Columns      []Column
	Primary      []string // columns of the primary key
	Unique       []string // columns that are unique alone
	Indexed      []string // columns that an index begins with
	Foreign      []Foreign
	Checks       []string            // check constraints, as SQL
	Words        map[string][]string // values that occur in a column whose values are words
}

// A Column is one column of a table.
type Column struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Default string   `json:"default"`
	Labels  []string `json:"labels"` // of an enum
}

// A Foreign is a foreign key of one column.
type Foreign struct {
	Column string `json:"column"`
	Schema string `json:"schema"`
	Table  string `json:"table"`
}

// SQL is the table's name as a config has it.
func (t *Table) SQL() string { return named(t.Schema) + "." + named(t.Name) }

// column is the one of that name, nil when there is none.
func (t *Table) column(name string) *Column {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Columns[i]
}

// words are all values that a column is known to have: of its enum, its checks, its default and its rows.
func (t *Table) words(c *Column) []string {
	out := slices.Clone(c.Labels)
	for _, check := range t.Checks {
		if mentions(check, c.Name) {
			out = append(out, literals(check)...)
		}
	}
	out = append(append(out, literals(c.Default)...), t.Words[c.Name]...)
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(w string) bool {
		twice := seen[w] || w == ""
		seen[w] = true
		return twice
	})
}

var (
	plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
	literal   = regexp.MustCompile(`'((?:[^']|'')*)'`)
	wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// named is an identifier as SQL has it.
func named(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func literals(sql string) (out []string) {
	for _, m := range literal.FindAllStringSubmatch(sql, -1) {
		out = append(out, strings.ReplaceAll(m[1], "''", "'"))
	}
	return out
}

// mentions reports whether SQL names the column.
func mentions(sql, column string) bool {
	return regexp.MustCompile(`(^|[^\w$])"?` + regexp.QuoteMeta(column) + `"?([^\w$]|$)`).MatchString(sql)
}

// tokens are the words that a name is made of, in lower case.
func tokens(name string) []string {
	name = strings.ToLower(wordStart.ReplaceAllString(name, "${1}_$2"))
	return strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == ' ' || r == '.' || r == '/' || r == ':' })
}

// flat is a name without what people write differently: createdAt and created_at are one.
func flat(name string) string { return strings.Join(tokens(name), "") }

func isText(t string) bool {
	return t == "text" || t == "character varying" || t == "character" || t == "citext" || t == "\"char\""
}

func isMoment(t string) bool {
	return t == "timestamp with time zone" || t == "timestamp without time zone" || t == "date"
}

func isInteger(t string) bool { return t == "integer" || t == "bigint" || t == "smallint" }

// isKey reports whether values of the type can be a task's id.
func isKey(t string) bool {
	return t == "uuid" || isInteger(t) || t == "text" || t == "character varying"
}
