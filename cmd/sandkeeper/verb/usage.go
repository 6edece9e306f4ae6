package verb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

const (
	// WrongUsage is the exit code for a command line that asks for something impossible. Nothing
	// was done and nothing was recorded.
	WrongUsage = 2
	// NotTrusted is the exit code of a pass that is complete, but held what rests on a source.
	NotTrusted = 3
)

// Misused ends the program with the code of wrong usage.
func Misused(err error) error { return &ExitError{Code: WrongUsage, Err: err} }

// UsageOf is misused for what the command line alone shows, with where to look.
func UsageOf(c *cobra.Command, err error) error {
	var bad *flagError
	if errors.As(err, &bad) {
		err = bad // without what the parser of the flags puts around it
	}
	if near := nearFlag(c, err); near != "" {
		err = fmt.Errorf("%w; %s", err, text.DidYouMean(near))
	}
	and := ";"
	if strings.HasSuffix(err.Error(), "?") {
		and = ""
	}
	return Misused(fmt.Errorf("%w%s see `%s`", err, and, helpOf(c)))
}

// nearFlag is the flag that was probably meant by one that a verb does not have.
func nearFlag(c *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := text.Nearest(unknown.GetSpecifiedName(), known); near != "" {
		return "--" + near
	}
	return ""
}

// helpOf is the command that shows the help of a verb.
func helpOf(c *cobra.Command) string {
	name, verb, _ := strings.Cut(c.CommandPath(), " ")
	return strings.TrimSpace(name + " help " + strings.TrimPrefix(verb, "help"))
}

// TellUsage has a verb, and those below it, say in one way what is wrong with how it was called.
func TellUsage(c *cobra.Command) {
	for _, below := range c.Commands() {
		TellUsage(below)
	}
	takes := c.Args
	if c.HasSubCommands() {
		takes, c.RunE = knownVerb, func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	if c.Name() == "help" {
		takes = func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil { // unreachable: each verb says itself what is wrong with its arguments
				return err
			}
			return knownVerb(found, rest)
		}
	}
	if does := c.RunE; does != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			err := does(c, args)
			var exit *ExitError
			if errors.As(err, &exit) && exit.Code == WrongUsage && exit.Err != nil {
				return UsageOf(c, exit.Err)
			}
			return err
		}
	}
	if takes != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := takes(c, args); err != nil {
				return UsageOf(c, err)
			}
			return nil
		}
	}
}

// knownVerb refuses a word that is no verb, and names the one that was probably meant.
func knownVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("%q is no verb of %s", args[0], c.Name())
	var known []string
	for _, below := range c.Commands() {
		if slices.Contains(below.SuggestFor, args[0]) {
			return fmt.Errorf("%w; %s", err, text.DidYouMean(below.Name()))
		}
		known = append(known, below.Name())
	}
	if near := text.Nearest(args[0], known); near != "" {
		return fmt.Errorf("%w; %s", err, text.DidYouMean(near))
	}
	return err
}

// Needs refuses a verb without exactly the arguments that it takes, and names them.
func Needs(what ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == len(what):
			return nil
		case len(what) == 0:
			return fmt.Errorf("%s takes no argument, and was given %q", c.Name(), args[0])
		}
		return fmt.Errorf("%s needs one %s", c.Name(), strings.Join(what, " and one "))
	}
}

// OneOf lets a verb do without an argument, or with one of these.
func OneOf(words ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 && !slices.Contains(words, args[0]) {
			return fmt.Errorf("%s has no %q; %s", c.Name(), args[0], text.Unknown(args[0], words))
		}
		return UpTo(1)(c, args)
	}
}

// UpTo lets a verb do without some of its arguments.
func UpTo(most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > most {
			return fmt.Errorf("%s takes at most %s, and was given %d", c.Name(), console.Plural(most, "argument"), len(args))
		}
		return nil
	}
}

// A WordValue is the value of a flag that takes one of some words.
type WordValue struct {
	Flag  string
	Value *string
	Known []string
}

// Form gives a verb the flag that chooses the form of its result.
func Form(c *cobra.Command, value *string, usual, help string, known ...string) {
	*value = usual
	Word(c, &WordValue{Flag: "output", Value: value, Known: known}, "o", help)
}

// Word gives a verb a flag that takes one of some words.
func Word(c *cobra.Command, v *WordValue, short, help string) {
	c.Flags().VarP(v, v.Flag, short, help)
	_ = c.RegisterFlagCompletionFunc(v.Flag, cobra.FixedCompletions(v.Known, cobra.ShellCompDirectiveNoFileComp))
}

// Type is the word that the help has for the value.
func (f *WordValue) Type() string { return "string" }

// String is the default that the help shows.
func (f *WordValue) String() string {
	if f.Value == nil {
		return ""
	}
	return *f.Value
}

// Set reads the value of the command line.
func (f *WordValue) Set(given string) error {
	if !slices.Contains(f.Known, given) {
		return &flagError{fmt.Sprintf("--%s %s: %s", f.Flag, given, text.Unknown(given, f.Known))}
	}
	*f.Value = given
	return nil
}

// A flagError is a value that a flag does not take.
type flagError struct{ text string }

func (e *flagError) Error() string { return e.text }
