// Command attention prints what a sandkeeper finds wrong now, for a chat or a shell prompt, and ends with 1 where
// something needs an operator. It shows the client that is generated from the API's document: reading in parts, and why
// a call was not answered.
//
//	SANDKEEPER_URL=https://sandkeeper.example SANDKEEPER_TOKEN=… go run ./examples/attention
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/sandkeeper/sandkeeper/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	calm, err := run(ctx, os.Getenv("SANDKEEPER_URL"), os.Getenv("SANDKEEPER_TOKEN"), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attention:", err)
	}
	if err != nil || !calm {
		os.Exit(1)
	}
}

// run prints the state in a line and each open finding, and reports whether nothing needs an operator.
func run(ctx context.Context, address, token string, out io.Writer) (calm bool, err error) {
	c, err := client.New(address, token)
	if err != nil {
		return false, err
	}
	status, err := c.GetStatusWithResponse(ctx)
	if err := client.Check(status, err); err != nil {
		return false, err
	}
	s := status.JSON200
	fmt.Fprintf(out, "ready: %t, incidents: %d, sources not trusted: %d\n", s.Ready, s.Incidents, len(s.Untrusted))
	found, err := findings(ctx, c, out)
	return found == 0 && s.Ready && s.Incidents == 0 && len(s.Untrusted) == 0, err
}

// findings prints those that are open, part by part, and how many they are.
func findings(ctx context.Context, c *client.ClientWithResponses, out io.Writer) (n int, err error) {
	for p := (&client.GetFindingsParams{}); ; {
		part, err := c.GetFindingsWithResponse(ctx, p)
		if err := client.Check(part, err); err != nil {
			return n, err
		}
		for _, f := range part.JSON200.Items {
			n++
			fmt.Fprintf(out, "%s\t%s\t%q\n", f.Rule, f.Subject.ID, f.Reason) // a tenant may have a say in it
		}
		if p.Cursor = part.JSON200.Next; p.Cursor == nil {
			return n, nil
		}
	}
}
