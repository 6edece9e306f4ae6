package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func configShowCommand(o *app.Options) *cobra.Command {
	output := ""
	c := &cobra.Command{
		Use:   "show",
		Short: "Print the config in force: with defaults, and where each value comes from",
		Long: `Show prints every value that is in force, as YAML, and behind it where it comes from: a line of the file,
a variable of the environment, the preset, or the default. Secrets are hidden. It asks nobody.`,
		Example: "  sandkeeper config show | grep -v default\n  sandkeeper config show -o json",
		Args:    verb.Needs(),
		RunE: func(*cobra.Command, []string) error {
			c, err := o.Load()
			if err != nil {
				return err
			}
			if output == "json" {
				return console.PrintJSON(o.Out, settingsOf(c))
			}
			var b bytes.Buffer
			settingsText(&b, c.Settings())
			return console.Print(o.Out, &b)
		},
	}
	verb.Form(c, &output, "text", "form of the result: text or json", "text", "json")
	return c
}

// A settingReport is one value in force. Its JSON is a public contract.
type settingReport struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"`
}

func settingsOf(c *config.Config) []settingReport {
	out := []settingReport{}
	for _, s := range c.Settings() {
		out = append(out, settingReport{s.Key(), s.Value, s.Source})
	}
	return out
}

// settingsText writes settings as YAML, each with its source behind it.
func settingsText(b *bytes.Buffer, all []config.Setting) {
	var before []string
	for _, s := range all {
		same := 0
		for same < len(before) && same < len(s.Path)-1 && before[same] == s.Path[same] {
			same++
		}
		dash := false
		for depth := same; depth < len(s.Path)-1; depth++ {
			if strings.HasPrefix(s.Path[depth], "[") {
				dash = true
				continue
			}
			fmt.Fprintf(b, "%s%s:\n", lead(s.Path, depth, &dash), console.YAMLText(s.Path[depth]))
		}
		last := len(s.Path) - 1
		if strings.HasPrefix(s.Path[last], "[") {
			dash = true
			fmt.Fprintf(b, "%s%s", lead(s.Path, last+1, &dash), settingValue(s.Value))
		} else {
			fmt.Fprintf(b, "%s%s: %s", lead(s.Path, last, &dash), console.YAMLText(s.Path[last]), settingValue(s.Value))
		}
		fmt.Fprintf(b, "  # %s\n", text.Line(s.Source))
		before = s.Path
	}
}

// lead is what a line begins with: two blanks for each key around it, and a dash where an element of a list begins.
func lead(path []string, depth int, dash *bool) string {
	out := strings.Repeat("  ", depth)
	if *dash && slices.ContainsFunc(path[:depth], func(p string) bool { return strings.HasPrefix(p, "[") }) {
		*dash = false
		return strings.TrimSuffix(out, "  ") + "- "
	}
	return out
}

func settingValue(v any) string {
	switch v := v.(type) {
	case string:
		return console.YAMLText(v)
	case []string:
		var list []string
		for _, one := range v {
			list = append(list, console.YAMLText(one))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	return fmt.Sprint(v)
}
