package platform

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The args of an event are the words behind its verb, plain ones and key=value.
type args struct {
	words []string
	keys  map[string]string
}

func argsOf(words []string) *args {
	a := &args{keys: map[string]string{}}
	for _, w := range words {
		if key, value, ok := strings.Cut(w, "="); ok && key != "" {
			a.keys[key] = value
			continue
		}
		a.words = append(a.words, w)
	}
	return a
}

// word is the plain word of this place, "" when there are fewer.
func (a *args) word(i int) string {
	if i < len(a.words) {
		return a.words[i]
	}
	return ""
}

// dur is a duration, or what holds when it is not given. Well-formedness was checked before.
func (a *args) dur(key string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(a.keys[key]); err == nil {
		return d
	}
	return otherwise
}

func (a *args) num(key string, otherwise int) int {
	if n, err := strconv.Atoi(a.keys[key]); err == nil {
		return n
	}
	return otherwise
}

func (a *args) text(key, otherwise string) string {
	if v, ok := a.keys[key]; ok {
		return v
	}
	return otherwise
}

func (a *args) yes(key string) bool { return a.keys[key] == "yes" }

// span is the duration behind the word `for`, 0 when there is none.
func (a *args) span() time.Duration {
	if i := slices.Index(a.words, "for"); i >= 0 {
		d, _ := time.ParseDuration(a.word(i + 1)) // checked before
		return d
	}
	return 0
}

// count is the number at a place, or what holds when there is none.
func (a *args) count(i, otherwise int) int {
	if n, err := strconv.Atoi(a.word(i)); err == nil {
		return n
	}
	return otherwise
}

// The kinds of values by key; others are plain words.
var (
	durationKeys = strings.Fields("age pick assign start boot work beat act row keep limit timeout deadline delete stop " +
		"lag retry idle after every by activate again bind rowafter conclusive apart ahead for window")
	numberKeys = strings.Fields("part max attempts per_pass share breaker per_hour rollout looks sightings failures " +
		"count budget " +
		"critical escalate quota cpu kept")
)

// check refuses a value that its key cannot have, and a `for` without a duration.
func (a *args) check(allowed string) error {
	for _, key := range slices.Sorted(maps.Keys(a.keys)) {
		if err := checkKey(key, a.keys[key], allowed); err != nil {
			return err
		}
	}
	if i := slices.Index(a.words, "for"); i >= 0 {
		if d, err := time.ParseDuration(a.word(i + 1)); err != nil || d <= 0 {
			return fmt.Errorf("`for` needs a duration behind it, like `for 2m`")
		}
	}
	return nil
}

func checkKey(key, value, allowed string) error {
	if !slices.Contains(strings.Fields(allowed), key) {
		return fmt.Errorf("no key %q here; it has: %s", key, allowed)
	}
	if slices.Contains(durationKeys, key) {
		if _, err := time.ParseDuration(value); err != nil {
			return fmt.Errorf("%s=%s is no duration", key, value)
		}
	}
	if slices.Contains(numberKeys, key) {
		if _, err := strconv.Atoi(value); err != nil {
			return fmt.Errorf("%s=%s is no number", key, value)
		}
	}
	return nil
}
