package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

// mostIncidents is how many incidents the list shows: the open ones and the newest closed ones.
const mostIncidents = 100

func affectedCommand(o *app.Options) *cobra.Command {
	form := ""
	c := &cobra.Command{
		Use:        "affected [INCIDENT]",
		SuggestFor: []string{"victims"}, // its name before the first release
		Short:      "List the tasks that were failed under an incident, so that they can be retried",
		Long: `Affected lists the tasks that sandkeeper failed or requeued while their failures were one
incident: as ids, one a line; as JSON with the reason and the time of each; or as SQL that
has those run again which still are as sandkeeper left them. The SQL is printed and never
run by sandkeeper. Release the incident first and let the old sandboxes be terminated: one that
is held stays beside the new one for as long as its task runs. Without an incident it lists
the incidents.`,
		Example: `  sandkeeper affected
  sandkeeper affected i-3k9f2
  sandkeeper affected i-3k9f2 -o sql > again.sql`,
		Args: verb.UpTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAffected(cmd.Context(), o, form, args)
		},
	}
	verb.Form(c, &form, "", "form of the result: ids, json or sql (default ids; a list without an incident)",
		"ids", "json", "sql")
	return c
}

func runAffected(ctx context.Context, o *app.Options, form string, args []string) error {
	return onLedger(ctx, o, func(a *app.App) error {
		if len(args) == 0 {
			return listIncidents(ctx, a, o.Out, form)
		}
		id, _ := reconcile.OfType(reconcile.SubjectIncident, args[0])
		return listAffected(ctx, a, o.Out, form, id)
	})
}

func listIncidents(ctx context.Context, a *app.App, out io.Writer, form string) error {
	all, err := a.Ledger.Incidents(ctx, mostIncidents)
	if err != nil {
		return err
	}
	if err := sayCauses(ctx, a, all); err != nil {
		return err
	}
	switch form {
	case "json":
		return console.PrintJSON(out, result.IncidentsOf(all))
	case "sql":
		return verb.Misused(errors.New("affected -o sql: say which incident; affected alone lists them"))
	}
	var b bytes.Buffer
	for i := range all {
		result.IncidentLine(&b, console.NewPaint(out), result.IncidentOf(&all[i]))
	}
	if len(all) == 0 {
		fmt.Fprintln(&b, "no incident is on record")
	}
	return console.Print(out, &b)
}

func listAffected(ctx context.Context, a *app.App, out io.Writer, form, id string) error {
	incident, err := a.Operator().FindIncident(ctx, id)
	if err != nil {
		return err
	}
	verdicts, err := a.Ledger.Affected(ctx, id)
	if err != nil {
		return err
	}
	said := []reconcile.Incident{incident}
	if err := sayCauses(ctx, a, said); err != nil {
		return err
	}
	found := result.AffectedOf(verdicts)
	var b bytes.Buffer
	switch form {
	case "json":
		return console.PrintJSON(out, struct {
			Incident result.Incident     `json:"incident"`
			Affected []result.FailedTask `json:"affected"`
		}{result.IncidentOf(&said[0]), found})
	case "sql":
		if err := affectedSQL(a, &b, id, found); err != nil {
			return err
		}
	default:
		for _, v := range found {
			fmt.Fprintln(&b, text.Line(v.Task))
		}
	}
	return console.Print(out, &b)
}

// affectedSQL prints what a person may run. Ids of tasks are in it, so a comment must not be
// left by one: they stand in constants alone.
func affectedSQL(a *app.App, b *bytes.Buffer, id string, found []result.FailedTask) error {
	if a.Config.Tasks.None {
		return errors.New("affected -o sql: the config has no task table")
	}
	if len(found) == 0 {
		fmt.Fprintf(b, "-- no task was failed under this incident\n")
		return nil
	}
	compiled, err := tasks.Compile(a.Config.Mapping().WithPreset()) // has passed when the config was read
	if err != nil {
		return err
	}
	ids := make([]string, len(found))
	for i := range found {
		ids[i] = found[i].Task
	}
	fmt.Fprintf(b, "-- %s of incident %s.\n", console.Plural(len(found), "task"), text.Line(id))
	b.WriteString(compiled.RunAgain(ids, "run again after incident "+id))
	return nil
}
