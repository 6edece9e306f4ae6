package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/deploy"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

func grantsCommand(o *app.Options) *cobra.Command {
	of := ""
	c := &cobra.Command{
		Use:   "grants",
		Short: "Print the SQL of the roles that this config needs; changes nothing",
		Long: `Grants prints the SQL that makes sandkeeper's roles with the least that this config needs: --for tasks
in the platform's database, with the tables and columns of the mapping; --for ledger in that of the
ledger. A superuser or the owner of the tables runs it there. Where the task database can be
reached, further tables are granted by column, else as a whole.`,
		Example: `  sandkeeper grants | psql -v ON_ERROR_STOP=1 -1 "$TASKS_ADMIN_URL"
  sandkeeper grants --for ledger | psql -v ON_ERROR_STOP=1 -1 "$LEDGER_ADMIN_URL"`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runGrants(cmd.Context(), o, of) },
	}
	of = "tasks"
	verb.Word(c, &verb.WordValue{Flag: "for", Value: &of, Known: []string{"tasks", "ledger"}}, "",
		"database that they are for: tasks or ledger")
	return c
}

func runGrants(ctx context.Context, o *app.Options, of string) error {
	c, err := o.Load()
	if err != nil {
		return err
	}
	if of == "ledger" {
		_, err := fmt.Fprint(o.Out, deploy.GrantsLedger)
		return err
	}
	if c.Tasks.None {
		return verb.Misused(errors.New("there are no tasks with tasks: none; the ledger's are printed by --for ledger"))
	}
	a := o.With(c)
	defer a.Close()
	grants, why, err := grantsOf(ctx, a)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	grantsText(&b, grants, why)
	return console.Print(o.Out, &b)
}

// grantsOf are the grants that the mapping needs, and why they are wider than they could be; "" when they are not.
func grantsOf(ctx context.Context, a *app.App) (grants []tasks.Grant, why string, err error) {
	if err = a.OpenTasks(ctx); err == nil {
		if grants, err = a.Tasks.Grants(ctx); err == nil {
			return grants, "", nil
		}
	}
	why = "further tables are granted as a whole, because the task database could not be asked: " +
		text.Clip(err.Error(), 200)
	compiled, err := tasks.Compile(a.Config.Mapping().WithPreset())
	if err != nil { // unreachable: the config was checked
		return nil, "", err
	}
	return compiled.Grants(), why, nil
}

const rolesOfTasks = `-- The platform's side of sandkeeper's roles,
-- for this config. Run it in the database of the platform, as a superuser or as the owner of its tables who may create
-- roles, and again after a change of the config.
--
-- sandkeeper_tasks   tasks.database of the keeper    changes what a repair writes, and does not know the ledger
-- sandkeeper_keeper  where one login is for both     the same
-- sandkeeper_reader  serve, plan, explain, report    reads, and writes nothing anywhere
--
-- They cannot log in. Give each a login of its own:
--   CREATE ROLE sandkeeper_tasks_prod LOGIN PASSWORD '…' IN ROLE sandkeeper_tasks;

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['sandkeeper_tasks', 'sandkeeper_keeper', 'sandkeeper_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        END IF;
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), wanted);
    END LOOP;
END
$$;

`

func grantsText(b *bytes.Buffer, grants []tasks.Grant, why string) {
	fmt.Fprint(b, rolesOfTasks)
	if why != "" {
		fmt.Fprintf(b, "-- %s\n\n", text.Line(why))
	}
	for _, schema := range schemasOf(grants) {
		fmt.Fprintf(b, "GRANT USAGE ON SCHEMA %s TO sandkeeper_tasks, sandkeeper_keeper, sandkeeper_reader;\n", schema)
	}
	for _, g := range grants {
		to, columns := "sandkeeper_tasks, sandkeeper_keeper", ""
		if g.Privilege == "SELECT" {
			to += ", sandkeeper_reader"
		}
		if len(g.Columns) > 0 {
			columns = " (" + strings.Join(g.Columns, ", ") + ")"
		}
		fmt.Fprintf(b, "\n-- %s\nGRANT %s%s ON %s TO %s;\n", text.Line(g.Why), g.Privilege, columns, g.Table, to)
	}
}

// schemasOf are the schemas of the tables, each once, as SQL has them.
func schemasOf(grants []tasks.Grant) (out []string) {
	seen := map[string]bool{}
	for _, g := range grants {
		schema := `"public"`
		if at := strings.Index(g.Table, `"."`); at > 0 {
			schema = g.Table[:at+1]
		}
		if !seen[schema] {
			seen[schema] = true
			out = append(out, schema)
		}
	}
	return out
}
