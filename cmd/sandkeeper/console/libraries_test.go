package console_test

import (
	"bytes"
	"errors"
	"log"
	"log/slog"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
)

// TestLibrariesQuoteNothing: what libraries log by themselves is in our log, in its form, without what
// they quote.
func TestLibrariesQuoteNothing(t *testing.T) {
	before, flags, prefix, out := slog.Default(), log.Flags(), log.Prefix(), log.Writer()
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(out)
		log.SetFlags(flags)
		log.SetPrefix(prefix)
	})
	var early, said bytes.Buffer
	l := console.NewLibraries(&early)
	log.Print("before the config is read") //nolint:forbidigo // what a library does
	l.Use(console.NewLog(&said, "json", slog.LevelDebug))
	log.Printf("Unsolicited response received on idle HTTP channel starting with %q; err=%v", `a "s3cret" b`, "odd") //nolint:forbidigo // what a library does
	log.Print(`cut off "s3cr`)                                                                                       //nolint:forbidigo // what a library does
	slog.New(l).With("who", "x 's3cret'").WithGroup("g").Error("bad `s3cret`", "err", errors.New(`read "s3cret"`))
	if strings.Contains(said.String(), "s3cr") || early.Len() > 0 {
		t.Errorf("libraries say %s, and %s before", said.String(), early.String())
	}
	for _, want := range []string{`"level":"INFO"`, "on idle HTTP channel starting with …; err=odd", "cut off …",
		`"who":"x …"`, `"err":"read …"`} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the log lacks %s: %s", want, said.String())
		}
	}
}
