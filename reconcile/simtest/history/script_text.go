package history

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The bounds of a script, so that a broken file is an error and no flood.
const (
	mostLines = 5000
	mostWords = 40
)

// Parse reads a script in its text form: comments that say what it is about, `seed N`,
// `calm D`, the lines of the setup, and one event a line, `@4m10s VERB ARGS...`. It is strict:
// what it does not know is an error that names the file and the line, and all of them are
// reported together. Whether an event is well formed is for check to say.
func Parse(name, text string, check Check) (*Script, error) {
	lines := strings.Split(text, "\n")
	if len(lines) > mostLines {
		return nil, fmt.Errorf("%s: more than %d lines", name, mostLines)
	}
	r := &reader{check: check}
	var errs []error
	for i, line := range lines {
		if err := r.parseLine(strings.TrimSuffix(line, "\r")); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, i+1, err))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &r.Script, nil
}

// A Check refuses an event that is not well formed, as a line of the setup or of what happens later.
type Check func(e Event, setup bool) error

// A reader makes a script of lines.
type reader struct {
	Script
	check Check
}

func (s *reader) parseLine(line string) error {
	if about, isComment := strings.CutPrefix(line, "#"); isComment {
		s.About = append(s.About, strings.TrimSpace(about))
		return nil
	}
	words := strings.Fields(line)
	switch {
	case len(words) == 0:
		return nil
	case len(words) > mostWords:
		return fmt.Errorf("more than %d words", mostWords)
	case slices.ContainsFunc(words, unprintable):
		return errors.New("a word that cannot be printed")
	case words[0] == "seed" || words[0] == "calm":
		return s.parseHead(words)
	case strings.HasPrefix(words[0], "@"):
		return s.parseEvent(words)
	}
	return s.parseSetup(words)
}

func (s *reader) parseHead(words []string) (err error) {
	switch {
	case len(words) != 2:
		return fmt.Errorf("want `%s` and one value", words[0])
	case len(s.Setup)+len(s.Events) > 0:
		return fmt.Errorf("`%s` must stand before the setup", words[0])
	case words[0] == "seed":
		s.Seed, err = strconv.ParseUint(words[1], 10, 64)
	default:
		s.Calm, err = ParseTime(words[1])
	}
	if err != nil {
		return fmt.Errorf("read the %s: %w", words[0], err)
	}
	return nil
}

func (s *reader) parseSetup(words []string) error {
	if len(s.Events) > 0 {
		return errors.New("the setup must stand before the events, which begin with @TIME")
	}
	e := Event{Verb: words[0], Args: words[1:]}
	if err := s.check(e, true); err != nil {
		return err
	}
	s.Setup = append(s.Setup, e)
	return nil
}

func (s *reader) parseEvent(words []string) error {
	at, err := ParseTime(words[0][1:])
	switch {
	case err != nil:
		return fmt.Errorf("read the time of the event: %w", err)
	case len(words) < 2:
		return errors.New("an event needs a verb")
	case len(s.Events) > 0 && at < s.Events[len(s.Events)-1].At:
		return errors.New("events must stand in the order of their times")
	}
	e := Event{At: at, Verb: words[1], Args: words[2:]}
	if err := s.check(e, false); err != nil {
		return err
	}
	s.Events = append(s.Events, e)
	return nil
}

func unprintable(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return !strconv.IsPrint(r) })
}

// Longest is how long a history, and anything in it, may last.
const Longest = 30 * 24 * time.Hour

// ParseTime reads how long after its begin something in a history happens, or how long it lasts:
// not before it, and at most Longest.
func ParseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil && (d < 0 || d > Longest) {
		err = fmt.Errorf("%s is not within 0 and %s", text, Longest)
	}
	return d, err
}

// String is the script's text form. Parsing it gives the same script.
func (s *Script) String() string {
	var b bytes.Buffer
	for _, line := range s.About {
		b.WriteString(strings.TrimSpace("# "+line) + "\n")
	}
	fmt.Fprintf(&b, "seed %d\n", s.Seed)
	if s.Calm > 0 {
		fmt.Fprintf(&b, "calm %s\n", Short(s.Calm))
	}
	for _, e := range s.Setup {
		b.WriteString(e.Text() + "\n")
	}
	for _, e := range s.Events {
		b.WriteString(e.String() + "\n")
	}
	return b.String()
}

// String is the event's line.
func (e Event) String() string { return "@" + Short(e.At) + " " + e.Text() }

// Text is the line without its time: the verb and what it is given.
func (e Event) Text() string { return strings.Join(append([]string{e.Verb}, e.Args...), " ") }

// Short is a duration without the zeros that nobody says: 4m, not 4m0s.
func Short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// SortedKeys are the keys of m in order: a history reads the same each time.
func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
