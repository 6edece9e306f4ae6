//go:build manual

// With this tag the program can write its own manual pages. It is not in what is shipped, which does without the
// library that formats them.

package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// withManual adds the verb that writes a page for each verb.
func withManual(root *cobra.Command) {
	var seconds int64
	c := &cobra.Command{
		Use: "manual FOLDER", Short: "Write the manual pages", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			root.DisableAutoGenTag = true
			at := time.Unix(seconds, 0).UTC()
			return doc.GenManTree(root, &doc.GenManHeader{Title: "SANDKEEPER", Section: "1", Date: &at,
				Source: "sandkeeper", Manual: "sandkeeper"}, args[0])
		},
	}
	c.Flags().Int64Var(&seconds, "time", 0, "date of the pages, in seconds since 1970")
	root.AddCommand(c)
}
