// Command sandkeeper keeps an AI-agent platform's task table and the sandboxes that really
// exist at its providers in agreement.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/providers"
)

func main() {
	collectSeldom()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends what does not want to stop
	code := process(ctx)
	stop()
	os.Exit(code)
}

// process carries out one verb in a process of its own, whose log and memory are nobody else's.
func process(ctx context.Context) int {
	if err := leaveNoCore(); err != nil {
		fmt.Fprintln(os.Stderr, "warning: a crash may leave a core dump, which holds every secret:", err)
	}
	libraries := console.NewLibraries(os.Stderr)
	providers.LogTo(slog.New(libraries))
	return execute(ctx, os.Args[1:], console.Stdio{Out: os.Stdout, Err: os.Stderr, Libraries: libraries})
}

// execute carries out one verb and returns the exit code.
func execute(ctx context.Context, args []string, io console.Stdio) int {
	io.Out = console.Tidy(io.Out)
	root := newRoot(io) //nolint:contextcheck // cobra hands the context to each verb
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var exit *verb.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.Err != nil {
			complain(io.Err, exit.Err)
		}
		detailed := slices.Contains(args, "--"+detailedExitCode) || slices.Contains(args, "--"+detailedExitCode+"=true")
		if exit.Err != nil && exit.Code == verb.WrongUsage && detailed {
			return 1 // there 2 says that there are steps
		}
		return exit.Code
	}
	complain(io.Err, err)
	return 1
}

// complain shows an error to the operator. It may quote an argument or a provider, so
// control characters do not reach the terminal.
func complain(w io.Writer, err error) {
	fmt.Fprintln(w, "sandkeeper:", console.Lines(err.Error()))
}

func newRoot(io console.Stdio) *cobra.Command {
	o := &app.Options{Stdio: io}
	root := &cobra.Command{
		Use:   "sandkeeper",
		Short: "Keeps tasks and sandboxes in agreement",
		Long: `Sandkeeper compares the tasks that a platform's PostgreSQL says are being worked on
with the sandboxes that exist at its providers. It explains every disagreement with
evidence and, where the config says enforce, repairs it within a budget.

Begin with:  sandkeeper init      a config, proposed from your database
             sandkeeper check     is everything reachable and mapped?
             sandkeeper plan      what would it do? (changes nothing)
             sandkeeper once      one pass, as a CronJob runs it
             sandkeeper run       the daemon: passes on their schedules, page and metrics`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(verb.UsageOf)
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	root.PersistentFlags().StringVarP(&o.ConfigFile, "config", "c", "",
		"config file (default sandkeeper.yaml, then /etc/sandkeeper/sandkeeper.yaml)")
	root.AddCommand(
		initCommand(o), runCommand(o), serveCommand(o), onceCommand(o), planCommand(o),
		completes(explainCommand(o), o, knownIDs),
		checkCommand(o), migrateCommand(o), completes(terminateCommand(o), o, knownIDs), emergencyCommand(o),
		completes(restoreCommand(o), o, knownIDs), passCommand(o), completes(pauseCommand(o), o, pausable),
		completes(resumeCommand(o), o, pausedScopes), completes(holdCommand(o), o, knownTargets),
		completes(unholdCommand(o), o, heldTargets), completes(releaseCommand(o), o, releasable),
		completes(acknowledgeCommand(o), o, knownIncidents), completes(retryCommand(o), o, knownIDs),
		modeCommand(o), armCommand(o), reportCommand(o), backtestCommand(o), tuneCommand(o),
		completes(affectedCommand(o), o, knownIncidents),
		statusCommand(o), findingsCommand(o), holdsCommand(o), pausesCommand(o), incidentsCommand(o), actionsCommand(o),
		sandboxesCommand(o), logCommand(o), auditCommand(o), alertsCommand(o), metricsCommand(o), configCommand(o),
		grantsCommand(o), notifyCommand(o), healthcheckCommand(o), tokenCommand(o), mcpCommand(o),
		demoCommand(), versionCommand(o),
	)
	root.Version = app.Version()
	root.SetVersionTemplate(versionLine())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	withManual(root)
	verb.TellUsage(root)
	return root
}
