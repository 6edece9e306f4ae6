package verb

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A SpanValue is the value of every flag that takes a time. It reads days as the config does, and
// refuses what has no meaning: a hold for -4h would be taken for one without an end.
type SpanValue struct {
	Value *time.Duration
	verb  *cobra.Command
	flag  string
	Zero  bool // 0 means something, which the help says
}

// Span gives a verb a flag that takes a time longer than 0.
func Span(c *cobra.Command, value *time.Duration, flag string, usual time.Duration, help string) {
	*value = usual
	c.Flags().Var(&SpanValue{Value: value, verb: c, flag: flag}, flag, help)
}

// SpanOrNone is the same where 0 means something too.
func SpanOrNone(c *cobra.Command, value *time.Duration, flag string, usual time.Duration, help string) {
	*value = usual
	c.Flags().Var(&SpanValue{Value: value, verb: c, flag: flag, Zero: true}, flag, help)
}

// Type is the word that the help has for the value.
func (s *SpanValue) Type() string { return "duration" }

// String is the default that the help shows; it leaves "0" out.
func (s *SpanValue) String() string {
	if s.Value == nil || *s.Value == 0 {
		return "0"
	}
	return text.Exact(*s.Value)
}

// Set reads the value of the command line.
func (s *SpanValue) Set(given string) error {
	d, ok := text.ParseDuration(given)
	if ok && (d > 0 || s.Zero) {
		*s.Value = d
		return nil
	}
	problem, right := "is not a duration", ""
	positive := strings.TrimPrefix(given, "-")
	switch d, ok := text.ParseDuration(positive); {
	case ok && d == 0:
		problem = "is no time at all"
	case ok && given != positive:
		problem, right = "is below 0", positive
	}
	form := fmt.Sprintf("%s%s --%s %s", s.verb.CommandPath(), strings.TrimPrefix(s.verb.Use, s.verb.Name()), s.flag,
		reconcile.FirstOf(right, s.example()))
	return &flagError{fmt.Sprintf("%s --%s %s: %q %s; write it like `%s`%s",
		s.verb.Name(), s.flag, given, given, problem, form, s.endless())}
}

// example is a value that the flag takes.
func (s *SpanValue) example() string {
	if *s.Value > 0 {
		return text.Exact(*s.Value)
	}
	return "4h"
}

// endless says how to have no end, where that can be had.
func (s *SpanValue) endless() string {
	if *s.Value > 0 {
		return ""
	}
	return fmt.Sprintf(", or leave --%s out for one without an end", s.flag)
}
