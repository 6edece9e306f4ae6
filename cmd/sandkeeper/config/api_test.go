package config

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// described is a sound config of a platform that is described as short as can be.
const described = `installation: prod
database: ${DATABASE_URL}
tasks: {preset: omoios}
providers:
  - name: yard
    kind: generic
    url: https://yard.example/v1
    token: ${TOKEN}
    owns: {name_prefix: x-}
    link: {sandbox: id}
    api:
      headers: {X-Key: "{token}"}
      absent: status == 404 and body.kind == "gone"
      list: {path: "/boxes?after={cursor}", items: body.boxes, paging: cursor, size: 10, next: body.after}
      get: {path: "/boxes/{id}"}
      sandbox: {id: id, state: state}
      states: {up: running}
`

func TestDescribedConfigIsSound(t *testing.T) {
	c, err := Parse("c.yaml", []byte(described), soundEnv)
	if err != nil {
		t.Fatal(err)
	}
	api := c.Entries()[0].API
	if api == nil || api.Sandbox.ID != "id" || api.States["up"] != "running" || api.List.Size != 10 {
		t.Errorf("API = %+v, want what is described", api)
	}
	if len(api.Variables) > 0 {
		t.Errorf("Variables = %q, want none", api.Variables)
	}
	with := strings.Replace(described, `"/boxes/{id}"`, `"/${TOKEN}/boxes/{id}?z=${NONE:-usual}"`, 1)
	if c, err := Parse("c.yaml", []byte(with), soundEnv); err != nil {
		t.Error(err)
	} else if got, want := c.Entries()[0].API.Variables, c.Entries()[0].Token; !slices.Contains(got, want) ||
		slices.Contains(got, "usual") {
		t.Errorf("Variables = %q, want what TOKEN stands for, and no default", got)
	}
	if plain, err := Parse("c.yaml", []byte(sound), soundEnv); err != nil || plain.Entries()[0].API != nil {
		t.Errorf("API of a vendor that is known = %+v, %v; want none", plain, err)
	}
}

// Each mistake in a description names its key, the place in the file and the fix.
func TestBrokenDescriptions(t *testing.T) {
	const api = "providers[0].api."
	for name, tt := range map[string]struct {
		old, with string
		want      []string
	}{
		"an expression that does not end": {`status == 404 and body.kind == "gone"`, "status ==",
			[]string{"13:7: " + api + "absent: is no expression: column 9: unexpected token EOF; " +
				"correct it there; docs/generic.md shows the language"}},
		"a name that is not there": {`status == 404`, `statu == 404`,
			[]string{"13:7: " + api + "absent: is no expression: column 1: unknown name statu; " +
				"correct it there; docs/generic.md shows the language"}},
		"a variable's value is not shown": {`status == 404 and body.kind == "gone"`, `"${TOKEN} =="`,
			[]string{"13:7: " + api + `absent: "${TOKEN} ==" does not fit, once its variables are filled in; ` +
				"correct it there; docs/generic.md shows the language"}},
		"a placeholder that is not there": {"{cursor}", "{curser}",
			[]string{"14:14: " + api + "list.path: holds the placeholder {curser}; here there are " +
				"{cursor}, {page}, {offset}, {limit}, {scope}; write it like /sandboxes/{id}?limit=100"}},
		"another host": {`"/boxes/{id}"`, `"//evil.example/{id}"`,
			[]string{"15:13: " + api + "get.path: begins neither with / nor with https://host/ nor with {endpoint}/; " +
				"write it like /sandboxes/{id}?limit=100"}},
		"a get of no sandbox": {`"/boxes/{id}"`, `/boxes`,
			[]string{"15:13: " + api + "get.path: does not say of which sandbox; put {id} into it"}},
		"no id": {"id: id, state", "state",
			[]string{"16:7: " + api + "sandbox.id: is not given; say where the immutable id of a sandbox is"}},
		"a state that is none": {"up: running", "up: running, down: dead",
			[]string{"17:29: " + api + `states.down: "dead" is no state; use one of creating, deleting, ended, failed, ` +
				"running, stopped, stopping, suspended; leave out what you do not know"}},
		"no word for running": {"up: running", "up: stopped",
			[]string{"17:7: " + api + "states: has no word for running; map one, for example {started: running}"}},
		"never gone": {"      absent: status == 404 and body.kind == \"gone\"\n", "",
			[]string{"11:5: " + api + "absent: is not given, so that a sandbox is never known to be gone; " +
				`give it, for example status == 404 and body?.code == "no_such_sandbox"`}},
		"a stop without a way back": {"      states:", "      stop: {path: \"/boxes/{id}/stop\"}\n      states:",
			[]string{
				"17:7: " + api + "stop: and resume belong together; give both: what is stopped must be able to come back",
				"17:7: " + api + "stop: no word stands for stopped or suspended; map the state that it leads to"}},
		"a way of paging that is none": {"paging: cursor", "paging: pages",
			[]string{"14:72: " + api + `list.paging: unknown value "pages"; did you mean "page"?`}},
		"a page that holds nothing": {"size: 10", "size: 0",
			[]string{"14:86: " + api + `list.size: "0" is below 1; use at least 1`}},
		"an unknown key": {"items:", "item:",
			[]string{"14:7: " + api + "list.items: is not given; say where the list is, for example body.sandboxes",
				"14:45: " + api + `list: unknown key "item"; did you mean "items"?`}},
		"a body in a GET": {`get: {`, `get: {body: "{id: id}", `,
			[]string{"15:13: " + api + "get.body: goes with no GET; give method: POST, or put it into path"}},
		"a secret that is not there": {"    token: ${TOKEN}\n", "",
			[]string{"5:5: providers[0].token: is empty, and headers in api need it; give token or token_file"}},
		"a header of more than one line": {`"{token}"`, `"{token}\r\nX-Other: 1"`,
			[]string{"12:17: " + api + `headers.X-Key: is no header's value; write it like "Bearer {token}"`}},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(described, tt.old, tt.with, 1)
			if text == described {
				t.Fatalf("the described config has no %q", tt.old)
			}
			for i := range tt.want {
				tt.want[i] = "c.yaml:" + tt.want[i]
			}
			_, err := Parse("c.yaml", []byte(text), soundEnv)
			if diff := cmp.Diff(tt.want, strings.Split(fmt.Sprint(err), "\n")); diff != "" {
				t.Errorf("Parse (-want +got)\n%s", diff)
			}
		})
	}
}

// What whose a sandbox is goes by has to be described, or nothing is found without a word.
func TestDescriptionWithoutWhatItNeeds(t *testing.T) {
	const (
		nobody   = ": no sandbox will be owned: it goes by api.sandbox."
		taskless = ": no sandbox will name its task: it goes by api.sandbox."
		rowless  = ": no row will lead to a sandbox: it goes by api.sandbox."
	)
	for name, tt := range map[string]struct {
		owns, link, sandbox string
		want                []string
	}{
		"labels, described":     {"labels: {a: b}", "task_label: t", "labels: tags", nil},
		"labels, not described": {"labels: {a: b}", "sandbox: id", "name: n", []string{"owns.labels" + nobody + "labels"}},
		"a name, not described": {"name_prefix: x-", "sandbox: name", "labels: tags",
			[]string{"owns.name_prefix" + nobody + "name", "link.sandbox" + rowless + "name"}},
		"a name, described": {"name_prefix: x-", "sandbox: name", "name: n", nil},
		"tasks by a label that is not described": {"name_prefix: x-", "task_label: t, sandbox: label:s", "name: n",
			[]string{"link.task_label" + taskless + "labels", "link.sandbox" + rowless + "labels"}},
		"by rows alone": {"referenced: true", "sandbox: id", "name: n",
			[]string{"owns.referenced: only rows prove which sandboxes are ours: whoever may write task rows can forge that"}},
		"by rows and a name": {"referenced: true, name_prefix: x-", "sandbox: id", "name: n", nil},
	} {
		text := strings.NewReplacer("owns: {name_prefix: x-}", "owns: {"+tt.owns+"}", "link: {sandbox: id}",
			"link: {"+tt.link+"}", "state: state}", "state: state, "+tt.sandbox+"}").Replace(described)
		c, err := Parse("c.yaml", []byte(text), soundEnv)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, w := range c.Warnings {
			problem, _, _ := strings.Cut(w.Problem, ", which")
			got = append(got, strings.TrimPrefix(w.Key, "providers[0].")+": "+problem)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: warnings (-want +got)\n%s", name, diff)
		}
	}
}

// A vendor with an adapter has no description.
func TestDescriptionOfAnother(t *testing.T) {
	_, err := Parse("c.yaml", []byte(sound+"    api: {absent: x}\n"), soundEnv)
	want := "c.yaml:10:5: providers[0].api: is no key of kind daytona; remove it"
	if err == nil || err.Error() != want {
		t.Errorf("Parse = %v, want %s", err, want)
	}
}

// The worked example is as it stands in docs/generic.md.
func TestWorkedExampleIsRead(t *testing.T) {
	c, err := Load("../../../deploy/examples/generic-boxyard.yaml", env(map[string]string{
		"TASKS_DATABASE_URL": "postgres://db.example/tasks", "DATABASE_URL": "postgres://db.example/x", "YARD_KEY": "k3y"}))
	if err != nil {
		t.Fatal(err)
	}
	if e := c.Entries()[0]; e.Token != "k3y" || e.API.Find.Path == "" {
		t.Errorf("Entries = %+v, want the boxyard", e)
	}
	if _, err := os.Stat("../../../docs/generic.md"); err != nil {
		t.Error(err)
	}
}
