package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

// A Line is one value of a proposal, with its reason.
type Line struct {
	Key, Value, Why string
	Unsure          bool // somebody has to look at it
}

// A Status is what statuses mean.
type Status struct {
	State string
	Words []string
}

// A Proposal says how the tasks of a database are mapped.
type Proposal struct {
	None string // why no table is taken for that of tasks; then nothing else is said but doubts

	Preset   Line // a platform that is known: the rest is the preset's
	Shape    Line
	Table    Line
	Timezone Line
	Columns  []Line
	Open     []Line // what looks like something and is not mapped
	Statuses []Status
	Fail     Line     // an idea, not in force: rows are only read
	Events   []Line   // table, columns and types, in the order of the config; none without
	Doubts   []string // what could not be decided
}

// Propose decides on what a look at a database found.
func Propose(cat *Catalog) *Proposal {
	if p := known(cat); p != nil {
		return p
	}
	found := candidates(cat)
	if len(found) == 0 {
		return &Proposal{None: "no table was found that has an id, a status whose words are those of tasks, and the " +
			"clocks of work",
			Doubts: []string{fmt.Sprintf("%d tables were looked at%s; map the right one by hand: docs/platforms.md",
				len(cat.Tables), nearest(cat))}}
	}
	p := found[0].propose()
	p.rivals(found)
	p.eventsOf(cat, found[0])
	return p
}

// rivals are other tables that look like tasks.
func (p *Proposal) rivals(found []*candidate) {
	for _, c := range found[1:] {
		if c.score >= found[0].score-3 {
			p.doubt("%s looks like tasks too (%s)", c.SQL(), said(c.why))
		}
	}
}

func (p *Proposal) doubt(form string, args ...any) {
	p.Doubts = append(p.Doubts, fmt.Sprintf(form, args...))
}

// propose maps the table.
func (c *candidate) propose() *Proposal {
	p := &Proposal{Table: Line{Key: "table", Value: c.SQL(), Why: "looks like tasks: " + said(c.why)}}
	taken := map[string]bool{}
	p.identity(c, taken)
	p.state(c, taken)
	p.fields(c, taken)
	p.shape(c)
	p.zone(c, taken)
	p.failIdea(c)
	p.practice(c)
	return p
}

func (p *Proposal) add(field, value, why string, unsure bool) {
	p.Columns = append(p.Columns, Line{field, value, why, unsure})
}

func (p *Proposal) identity(c *candidate, taken map[string]bool) {
	id := c.id()
	taken[id] = true
	why := "the primary key"
	if len(c.Primary) != 1 {
		why = "names a task, but is not the whole primary key"
	}
	p.add("id", named(id), why, len(c.Primary) != 1)
	if len(c.Primary) != 1 && !slices.Contains(c.Unique, id) {
		p.doubt("%s is not unique alone (the primary key is %s): two rows of one id would never be judged", id,
			firstOf(said(c.Primary), "none"))
	}
}

// state maps the status and its words. A queue of locks has its state from them.
func (p *Proposal) state(c *candidate, taken map[string]bool) {
	if c.status == nil {
		locked, attempts, most := named(c.first("lockedat").Name), named(c.first("attempts").Name),
			named(c.first("maxattempts").Name)
		p.add("status", fmt.Sprintf("(CASE WHEN %s IS NOT NULL THEN 'running' WHEN %s >= %s THEN 'failed' ELSE "+
			"'pending' END)",
			locked, attempts, most), "no status: a row is locked while it is worked at", true)
		p.add("started_at", locked, "when the work began: it was locked then", true)
		taken[c.first("lockedat").Name] = true
		p.Statuses = []Status{{"pending", []string{"pending"}}, {"running", []string{"running"}},
			{"failed", []string{"failed"}}}
		p.doubt("done rows seem to be deleted: a sandbox of a done task is explained by no row, so let it be owned by " +
			"a label")
		return
	}
	taken[c.status.Name] = true
	p.add("status", named(c.status.Name), "its values are statuses", false)
	for _, state := range stateOrder {
		if words := c.states[state]; len(words) > 0 {
			p.Statuses = append(p.Statuses, Status{string(state), words})
		}
	}
	if len(c.open) > 0 {
		p.doubt("what %s means is not clear: rows of these are never judged until they are put under a state",
			strings.Join(quoted(c.open), ", "))
	}
	for _, state := range []reconcile.TaskState{reconcile.TaskRunning, reconcile.TaskCompleted} {
		if len(c.states[state]) == 0 {
			p.doubt("no status means %s", state)
		}
	}
}

// fields maps the other columns by their names and types.
func (p *Proposal) fields(c *candidate, taken map[string]bool) {
	for i := range fieldRules {
		r := &fieldRules[i]
		column, weak := r.match(c.Table, taken)
		if column == nil {
			continue
		}
		taken[column.Name] = true
		p.add(r.field, named(column.Name), r.why, weak)
		if weak {
			p.doubt("%s may name something else than the %s", column.Name, r.field)
		}
	}
	for i := range openRules {
		r := &openRules[i]
		if column, _ := r.match(c.Table, taken); column != nil {
			value := named(column.Name)
			if r.field == "timeout" && isInteger(column.Type) {
				value = "(" + value + " * interval '1 second')"
			}
			p.Open = append(p.Open, Line{r.field, value, r.why, true})
		}
	}
}

func (p *Proposal) has(field string) string {
	for _, l := range p.Columns {
		if l.Key == field {
			return l.Value
		}
	}
	return ""
}

// shape is the class of the platform: where nothing names a sandbox, its tasks are taken for those of workers that
// outlive them, whose sandboxes are never ended.
func (p *Proposal) shape(c *candidate) {
	people := slices.ContainsFunc(tokens(c.Name), func(w string) bool {
		return slices.Contains([]string{"workspace", "workspaces", "sandbox", "sandboxes"}, w)
	})
	switch {
	case people || len(c.states[reconcile.TaskParked]) > 0 && p.has("attempts") == "":
		p.Shape = Line{"shape", "workspace", "rows seem to be people's sandboxes, which rest between uses: nothing of " +
			"them is ended", true}
	case p.has("sandbox") == "":
		p.Shape = Line{"shape", "queue-workers", "no column names a sandbox: workers seem to outlive tasks, and are " +
			"not ended", true}
		p.doubt("if each task has a sandbox of its own, write shape: task-per-sandbox, and label sandboxes with the id " +
			"of their task")
	default:
		p.Shape = Line{"shape", "task-per-sandbox", "a column names the sandbox of each task", false}
	}
}

// zone says which zone the clocks without one are in.
func (p *Proposal) zone(c *candidate, taken map[string]bool) {
	for _, column := range c.Columns {
		if taken[column.Name] && (column.Type == "timestamp without time zone" || column.Type == "date") {
			p.Timezone = Line{"timezone", "UTC", "of columns without one, like " + column.Name, true}
			p.doubt("%s has no time zone; UTC is assumed, and a wrong one makes every age wrong", column.Name)
			return
		}
	}
}

// failIdea is what failing a task may write. It is not in force: who repairs rows is for the operator to say.
func (p *Proposal) failIdea(c *candidate) {
	failed := slices.Clone(c.states[reconcile.TaskFailed])
	slices.SortStableFunc(failed, func(a, b string) int { return failRank(a) - failRank(b) })
	if c.status == nil || len(failed) == 0 || p.has("error") == "" {
		return
	}
	set := p.has("error") + `: "@reason"`
	if ended := p.has("ended_at"); ended != "" {
		set += ", " + ended + `: "@now"`
	}
	p.Fail = Line{"fail", fmt.Sprintf("{status: %s, set: {%s}}", failed[0], set), "what a failed row may look like", true}
}

// failRank puts the plainest word for a failure first.
func failRank(word string) int { return slices.Index(stateWords[reconcile.TaskFailed], flat(word)) }

// practice says what a look at the rows will cost, and what hides them.
func (p *Proposal) practice(c *candidate) {
	if c.status != nil && !slices.Contains(c.Indexed, c.status.Name) && c.Rows > 10_000 {
		p.doubt("no index begins with %s: each pass reads all %d rows", c.status.Name, c.Rows)
	}
	if c.Secured {
		p.doubt("row security is on: the login needs a policy that shows every row, or BYPASSRLS")
	}
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return out
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// Sandbox is the column that names the sandbox of a task; "" where none does.
func (p *Proposal) Sandbox() string {
	if p.Preset.Value != "" {
		return tasks.PresetSandbox(p.Preset.Value)
	}
	return p.has("sandbox")
}

// SandboxHolds is what that column seems to hold: a name or an id.
func (p *Proposal) SandboxHolds() string {
	if slices.Contains(tokens(p.Sandbox()), "name") {
		return "name"
	}
	return "id"
}
