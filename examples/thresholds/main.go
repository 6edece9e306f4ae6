// Command thresholds prints what each rule of sandkeeper finds, how long it waits by default, and the least that a
// config may set. It shows how the table of rules in package reconcile is read, for a page or a report of your own.
package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "thresholds:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RULE\tAFTER\tAT LEAST\tREMEDIES\tMEANS")
	for i := range reconcile.Rules {
		r := &reconcile.Rules[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%v\t%s\n", r.Name, r.Default.After, max(r.Floor, time.Second), r.Remedies, r.Means)
	}
	return w.Flush()
}
