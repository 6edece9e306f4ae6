package platforms

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

var updateGrants = flag.Bool("update-grants", false, "write grants.sql beside the configs in deploy/examples")

// TestGrantsOfExamples: what is handed out beside each config is what sandkeeper prints for it on the platform's
// tables, and the database takes it.
func TestGrantsOfExamples(t *testing.T) {
	for name, tables := range map[string]string{
		"omoios-daytona": tablesOf(t, "omoios"), "coding-agent-vercel": tablesOf(t, "coding-agent"),
		"monotask-cloudflare": mono,
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join("..", "..", "deploy", "examples", name)
			w := &world{T: t, platform: &platform{}, dsn: pgtest.Database(t), url: "https://boxes.example.com",
				path: filepath.Join(folder, "sandkeeper.yaml")}
			w.db = connect(t, w.dsn)
			t.Cleanup(w.db.Close)
			w.sql(tables)
			code, got, errs := w.run("grants")
			if code != 0 {
				t.Fatalf("grants: exit code %d\n%s", code, errs)
			}
			w.sql("BEGIN;\n" + got + ";\nROLLBACK") // roles are of the whole server
			file := filepath.Join(folder, "grants.sql")
			if *updateGrants {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s is stale, see -update-grants (-want +got):\n%s", file, diff)
			}
		})
	}
}
