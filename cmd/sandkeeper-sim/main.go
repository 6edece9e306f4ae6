// Command sandkeeper-sim answers as a provider of sandboxes does, by the provider's own protocol over real HTTP, from a
// world of sandboxes in memory. It is for the tests of whoever calls such a provider: its own clients work with it, and
// it fails in the ways that providers fail, when it is asked to.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func execute(ctx context.Context, args []string, out, errs io.Writer) int {
	root := &cobra.Command{
		Use:   "sandkeeper-sim",
		Short: "A simulated provider of sandboxes, by its own protocol",
		Long: `Sandkeeper-sim answers as a provider does, from a world of sandboxes in memory. When it listens it
prints one line of JSON: the address and the key for the provider's client, and the address of the
controls, by which a test puts sandboxes, injects faults and reads which calls were made.`,
		SilenceUsage: true, SilenceErrors: true,
	}
	for _, k := range kinds() {
		root.AddCommand(verb(k, out)) //nolint:contextcheck // cobra hands it on
	}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(errs, "sandkeeper-sim:", err)
		return 1
	}
	return 0
}

// verb is the command of one kind.
func verb(k kind, out io.Writer) *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use: k.name, Short: "Answer as " + k.title + " does", Args: cobra.NoArgs,
		Example: "  sandkeeper-sim " + k.name + " --listen 127.0.0.1:0 --control 127.0.0.1:0",
		RunE:    func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), k, s, out) },
	}
	f := c.Flags()
	f.StringVar(&s.listen, "listen", "127.0.0.1:0", "address of the provider; port 0: a free one")
	f.StringVar(&s.control, "control", "127.0.0.1:0", "address of the controls, which ask for no key")
	f.StringVar(&s.key, "key", "sim-key", "what the provider's client has to show")
	f.StringVar(&s.label, "task-label", "", "label that names a task: a listing by it counts as a find")
	f.StringArrayVar(&s.templates, "template", nil, "a template or snapshot that is there and active; can be repeated")
	f.IntVar(&s.sandboxes, "sandboxes", 0, "so many running sandboxes to begin with")
	f.StringToStringVar(&s.labels, "labels", nil, "labels of these: project=mine,stage=2")
	f.DurationVar(&s.pace.StartAfter, "start-after", 0, "how long a sandbox takes to come up")
	f.DurationVar(&s.pace.StopAfter, "stop-after", 0, "how long one takes to stop")
	f.DurationVar(&s.pace.DeleteAfter, "delete-after", 0, "how long one takes to be gone after a delete")
	f.DurationVar(&s.pace.IndexLag, "index-lag", 0, "listings show the world as it was this long ago")
	f.IntVar(&s.pace.PageSize, "page-size", 0, "sandboxes on a page of a listing that names no number")
	f.Uint64Var(&s.pace.Seed, "seed", 1, "of ids, and of faults that strike by chance")
	return c
}
