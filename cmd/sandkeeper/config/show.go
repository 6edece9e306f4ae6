package config

import (
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// A Setting is one value of the config in force, and where it comes from. No setting holds a secret.
type Setting struct {
	Path   []string // the key in its parts; "[0]" for the place in a list
	Value  any      // string, bool, int, float64 or []string
	Source string   // "sandkeeper.yaml:12", "default", "preset omoios"
}

// Key is the key as errors have it: "providers[0].timeout".
func (s Setting) Key() string {
	out := ""
	for _, part := range s.Path {
		if strings.HasPrefix(part, "[") {
			out += part
		} else {
			out = joinKey(out, part)
		}
	}
	return out
}

// Settings are all values in force, in the order of the types. What is not given and has no default is left out.
func (c *Config) Settings() []Setting {
	shown := *c
	shown.Rules = nil
	if !c.Tasks.None {
		shown.fillIn(c.Mapping().WithPreset())
	}
	s := settings{c: c}
	s.section(nil, reflect.ValueOf(shown))
	return s.out
}

// fillIn lays what the preset gives over what the file says.
func (c *Config) fillIn(m mapping.Mapping) {
	t, e := &c.Tasks, &c.Events
	t.Table, t.From, t.Key, t.Where, t.Timezone, t.Columns, t.Statuses = m.Table, m.From, m.Key, m.Where, m.Timezone,
		m.Columns, m.Statuses
	t.Fail = RowConfig{None: m.Fail.None, Status: m.Fail.Status, Set: m.Fail.Set, SQL: m.Fail.SQL}
	t.Requeue = RowConfig{None: m.Requeue.None, Status: m.Requeue.Status, Set: m.Requeue.Set, SQL: m.Requeue.SQL}
	t.ExplainedBy = nil
	for _, x := range m.ExplainedBy {
		t.ExplainedBy = append(t.ExplainedBy, ExplainerConfig{Table: x.Table, Key: x.Key, Where: x.Where, Label: x.Label,
			Name: x.Name})
	}
	e.Table, e.From, e.Columns, e.Set, e.Write = m.Events.Table, m.Events.From, m.Events.Columns, m.Events.Set,
		m.Events.Write
	e.Started, e.Heartbeat = typesOf(m.Events.Started), typesOf(m.Events.Heartbeat)
	e.Waiting, e.Finished = typesOf(m.Events.Waiting), typesOf(m.Events.Finished)
}

func typesOf(list []mapping.EventType) (out []EventTypeConfig) {
	for _, t := range list {
		out = append(out, EventTypeConfig{Type: t.Type, Where: t.Where})
	}
	return out
}

// settings collects them.
type settings struct {
	c   *Config
	out []Setting
}

// section adds the fields of a struct, in their order.
func (s *settings) section(path []string, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch name := f.Tag.Get("yaml"); {
		case name == "-" || name == "":
		case name == ",inline":
			for _, key := range slices.Sorted(maps.Keys(ownKeys)) {
				s.own(append(slices.Clone(path), key), v.Field(i), key)
			}
		case name == "rules" && len(path) == 0:
			s.rules()
		default:
			s.value(append(slices.Clone(path), name), v.Field(i))
		}
	}
}

// own adds a key that only some kinds have.
func (s *settings) own(path []string, from reflect.Value, key string) {
	if value := from.MapIndex(reflect.ValueOf(key)); from.Len() > 0 && value.IsValid() {
		s.value(path, value)
	}
}

func (s *settings) value(path []string, v reflect.Value) {
	t := v.Type()
	switch {
	case s.word(path, v):
	case isSection(t):
		s.section(path, v)
	case t.Kind() == reflect.Slice && !scalar(t.Elem()):
		for i := range v.Len() {
			s.value(append(slices.Clone(path), fmt.Sprintf("[%d]", i)), v.Index(i))
		}
	case t.Kind() == reflect.Slice:
		var list []string
		for i := range v.Len() {
			element := fmt.Sprintf("%s[%d]", Setting{Path: path}.Key(), i)
			list = append(list, fmt.Sprint(s.shown(element, v.Index(i))))
		}
		if v.Len() > 0 || s.c.report.given(Setting{Path: path}.Key()) {
			s.add(path, list)
		}
	case t.Kind() == reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			s.value(append(slices.Clone(path), key.String()), v.MapIndex(key))
		}
	case !v.IsZero() || s.c.report.given(Setting{Path: path}.Key()):
		s.add(path, s.shown(Setting{Path: path}.Key(), v))
	}
}

// word adds a section that is written as one word, and reports whether it is.
func (s *settings) word(path []string, v reflect.Value) bool {
	word := ""
	switch x := v.Interface().(type) {
	case TasksConfig:
		word = map[bool]string{true: "none"}[x.None]
	case RowConfig:
		word = map[bool]string{true: "none"}[x.None]
	case ProbeConfig:
		word = map[bool]string{true: "off"}[x.Off]
	case ProofConfig:
		word = map[bool]string{true: "off"}[x.Off]
	case EventTypeConfig:
		word = map[bool]string{true: x.Type}[x.Where == ""]
	}
	if raw := s.c.report.raw[Setting{Path: path}.Key()]; word != "" && strings.Contains(raw, "${") {
		word = raw
	}
	if word != "" {
		s.add(path, word)
	}
	return word != ""
}

// scalar reports whether values of the type are written as one word, always.
func scalar(t reflect.Type) bool { return textParsers[t] != nil && !isSection(t) }

// shownAs is a value as a file has it.
func shownAs(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case Secret:
		return hidden
	case time.Duration:
		return text.Exact(x)
	case Threshold:
		return x.String()
	case Percent:
		return strconv.FormatFloat(float64(x)*100, 'f', -1, 64) + "%"
	case Rate:
		return fmt.Sprintf("%d/%s", x.Count,
			map[time.Duration]string{time.Second: "s", time.Minute: "m", time.Hour: "h"}[x.Per])
	case CronLine:
		return x.Text
	case slog.Level:
		return strings.ToLower(x.String())
	case netip.Prefix:
		return x.String()
	case bool, int, float64:
		return x
	}
	return v.String()
}

// add notes a value with its source. Of a secret only a variable is shown, never a text.
func (s *settings) add(path []string, value any) {
	set := Setting{Path: path, Value: value}
	key := set.Key()
	if value == hidden {
		if s.c.report.given(key + "_file") {
			return // the file is named by the key that was given
		}
		set.Value = hiddenAs(s.c.report.raw[key])
	}
	set.Source = s.source(key)
	s.out = append(s.out, set)
}

// shown is a value as a file has it. A text with a variable stays as it is given: what a variable holds is never
// shown, for it may be a credential in a header.
func (s *settings) shown(key string, v reflect.Value) any {
	if raw := s.c.report.raw[key]; v.Type() == reflect.TypeFor[string]() && strings.Contains(raw, "${") {
		return raw
	}
	return shownAs(v)
}

var lonelyVariable = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*(:-)?\}$`)

// hiddenAs is a secret as it may be shown: a variable alone tells nothing of it.
func hiddenAs(raw string) string {
	if lonelyVariable.MatchString(raw) {
		return raw
	}
	return hidden
}

var variableIn = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)`)

// source is where a value comes from.
func (s *settings) source(key string) string {
	r := s.c.report
	given := key
	for !r.given(given) && given != "" { // a list is given as a whole
		given = given[:max(strings.LastIndexAny(given, ".["), 0)]
	}
	whole := given == key || strings.HasSuffix(given, "]") && r.raw[given] != "" || isList(r, given)
	if given != "" && whole {
		said := fmt.Sprintf("%s:%d", r.file, r.at[given].line)
		for _, m := range variableIn.FindAllStringSubmatch(r.raw[given], -1) {
			said += ", environment " + m[1]
		}
		return said
	}
	if key == "tasks.database" && !s.c.Tasks.None {
		return "default: that of database"
	}
	preset := s.c.Tasks.Preset
	if preset != "" && preset != "none" && ofPreset.MatchString(key) {
		return "preset " + preset
	}
	return "default"
}

// ofPreset are the keys that a preset fills.
var ofPreset = regexp.MustCompile(
	`^(tasks\.(table|from|key|where|columns|statuses|fail|requeue|explained_by)|events)\b`)

// isList reports whether the key is one whose elements are given without keys of their own.
func isList(r *report, key string) bool {
	_, first := r.at[key+"[0]"]
	return first
}

// rules adds the settings of every rule that is in force.
func (s *settings) rules() {
	shape := s.c.shape()
	for i := range reconcile.Rules {
		spec := &reconcile.Rules[i]
		p, usual := s.c.ruled[spec.Name], spec.Settings(s.c.Tasks.Preset, shape)
		s.rule(spec, "mode", string(p.Mode), s.modeSource(spec, shape))
		if p.Mode == reconcile.Off {
			continue
		}
		from := "default"
		if usual.After != spec.Default.After {
			from = "preset " + firstOf(s.c.Tasks.Preset, shape)
		}
		if s.c.auto(spec.Name) {
			s.rule(spec, "after", autoWord, from)
		} else if p.After > 0 {
			s.rule(spec, "after", text.Exact(p.After), from)
		}
		s.rule(spec, "remedy", string(p.Remedy), "default")
		if p.Rollout != 100 {
			s.rule(spec, "rollout", p.Rollout, "default")
		}
		for _, key := range spec.Keys {
			s.ruleOwn(spec, &p, key)
		}
	}
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" && t != "none" {
			return t
		}
	}
	return ""
}

// modeSource is where the mode of a rule comes from when its own key does not say it.
func (s *settings) modeSource(spec *reconcile.Rule, shape string) string {
	r := s.c.report
	switch key := "rules." + spec.Name; {
	case r.raw[key] != "":
		return s.source(key)
	case !r.given(key) && spec.OffIn(shape):
		return "default: runs when it is named"
	case r.given("mode"):
		return s.source("mode")
	}
	return "default"
}

// ruleOwn adds a key that only some rules have.
func (s *settings) ruleOwn(spec *reconcile.Rule, p *reconcile.RulePolicy, key string) {
	f, known := sectionFields(reflect.TypeFor[RuleConfig]())[key]
	if !known {
		return
	}
	v := reflect.ValueOf(*p).FieldByName(f.Name)
	if !v.IsValid() || v.IsZero() {
		return
	}
	value := shownAs(v)
	if f.Type == reflect.TypeFor[Percent]() {
		value = fmt.Sprintf("%d%%", v.Int())
	}
	s.rule(spec, key, value, "default")
}

func (s *settings) rule(spec *reconcile.Rule, name string, value any, otherwise string) {
	set := Setting{Path: []string{"rules", spec.Name, name}, Value: value, Source: otherwise}
	if key := set.Key(); s.c.report.given(key) {
		set.Source = s.source(key)
	}
	s.out = append(s.out, set)
}
