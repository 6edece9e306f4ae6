package config

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A sectionField is a key of a section. Its tags: yaml names it (or says ",inline": a map
// of further keys), enum lists what it may be, keys names what the keys of a map may be,
// min is the least a number or duration may be.
type sectionField struct {
	reflect.StructField
	inline bool
}

// mapKeys are the keys of maps that the file may not invent.
var mapKeys = map[string][]string{
	"task fields": {
		"id", "status", "state", "sandbox", "provider", "template",
		"created_at", "assigned_at", "started_at", "heartbeat_at", "activity_at", "updated_at", "deadline_at", "fails_at",
		"state_since", "ended_at", "due_at", "sleeps_at",
		"timeout", "keep_alive_until", "deleted_at", "session", "worker", "error", "attempts", "max_attempts",
		"activity_mark", "attempt_mark", "sandboxes", "tenant", "trace",
	},
	"states":       {"pending", "assigned", "running", "completed", "failed", "stopped", "parked", "waiting"},
	"event fields": {"sandbox", "type", "at", "data", "task"},
}

// isSection reports whether the type is a struct that is written as a mapping.
func isSection(t reflect.Type) bool { return t.Kind() == reflect.Struct && len(sectionFields(t)) > 0 }

// sectionFields are the keys of a section, with the further keys of an inline map.
func sectionFields(t reflect.Type) map[string]sectionField {
	fields := map[string]sectionField{}
	for i := range t.NumField() {
		f := t.Field(i)
		switch name := f.Tag.Get("yaml"); name {
		case "", "-":
		case ",inline":
			for key := range ownKeys {
				if _, section := fields[key]; !section && isSecret(key) == (f.Type.Elem() == secretType) {
					fields[key] = sectionField{f, true}
				}
			}
		default:
			fields[name] = sectionField{f, false}
		}
	}
	return fields
}

func keysOf[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// checkTags holds a value that was read against the tags of its field.
func (d *decoder) checkTags(e entry, value reflect.Value, tag reflect.StructTag) {
	if enum := tag.Get("enum"); enum != "" {
		d.checkEnum(e, value, strings.Split(enum, ","))
	}
	if least := tag.Get("min"); least != "" && below(value, least) {
		d.reject(e.value, e.path, misfit{problem: d.quote(e.path) + " is below " + least, fix: "use at least " + least})
	}
	if keys := tag.Get("keys"); keys != "" {
		d.checkKeys(e.path, value, mapKeys[keys])
	}
}

func (d *decoder) checkEnum(e entry, value reflect.Value, known []string) {
	if !slices.Contains(known, value.String()) {
		problem, fix := unknownWord("value", rawText(e.value), known)
		d.reject(e.value, e.path, misfit{problem: problem, fix: fix})
	}
}

// checkKeys reports the keys of a map that nothing would read, and drops them.
func (d *decoder) checkKeys(key string, value reflect.Value, known []string) {
	for _, k := range value.MapKeys() {
		if !slices.Contains(known, k.String()) {
			problem, fix := unknownWord("key", k.String(), known)
			d.failAt(d.locate(joinKey(key, k.String())), Error{Key: key, Problem: problem, Fix: fix})
			value.SetMapIndex(k, reflect.Value{}) // said once is enough
		}
	}
}

// below compares a whole number or a duration with the text of a tag.
func below(value reflect.Value, least string) bool {
	if value.Type() == reflect.TypeFor[time.Duration]() {
		floor, ok := text.ParseDuration(least)
		return ok && value.Int() < int64(floor)
	}
	floor, err := strconv.ParseInt(least, 10, 64)
	return err == nil && value.Int() < floor
}
