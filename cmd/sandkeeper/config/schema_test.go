package config

import (
	"encoding/json"
	"flag"
	"log/slog"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const schemaFile = "sandkeeper.schema.json"

var updateSchema = flag.Bool("update-schema", false, "write "+schemaFile)

// The schema for editors is made of the types that the config is read into.
func TestSchemaIsUpToDate(t *testing.T) {
	want := configSchema(t)
	if *updateSchema {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not up to date, run go generate ./cmd/sandkeeper/config (-want +got)\n%s", schemaFile, diff)
	}
}

// Each key of the reference config is in the schema, with a sentence on what it is.
func TestSchemaKnowsTheReference(t *testing.T) {
	var schema struct {
		Required   []string
		Properties map[string]struct{ Description string }
		Defs       map[string]struct {
			AdditionalProperties any
			Properties           map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(configSchema(t), &schema); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"installation", "tasks", "rules", "retention", "database_file"} {
		if schema.Properties[key].Description == "" {
			t.Errorf("the schema does not describe %s", key)
		}
	}
	for section, key := range map[string]string{
		"ProviderConfig": "owns", "RuleConfig": "sightings", "TasksConfig": "columns", "ProbeConfig": "every",
	} {
		def := schema.Defs[section]
		if def.Properties[key].Description == "" || def.AdditionalProperties != false {
			t.Errorf("the schema of %s does not describe %s, or lets unknown keys through", section, key)
		}
	}
	if diff := cmp.Diff([]string{"installation", "tasks"}, schema.Required); diff != "" {
		t.Errorf("required keys (-want +got)\n%s", diff)
	}
}

func configSchema(t *testing.T) []byte {
	t.Helper()
	r := jsonschema.Reflector{
		FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true, ExpandedStruct: true, Anonymous: true,
		Mapper: textSchema,
	}
	if err := r.AddGoComments(reflect.TypeFor[Config]().PkgPath(), "."); err != nil {
		t.Fatal(err)
	}
	if err := r.AddGoComments(reflect.TypeFor[Config]().PkgPath(), "../../../providers/entry"); err != nil {
		t.Fatal(err)
	}
	root := r.Reflect(Config{})
	root.Title = "sandkeeper.yaml"
	addTags(root, reflect.TypeFor[Config]())
	for _, section := range []reflect.Type{
		reflect.TypeFor[TasksConfig](), reflect.TypeFor[EventsConfig](), reflect.TypeFor[ProviderConfig](),
		reflect.TypeFor[ProbeConfig](), reflect.TypeFor[ProofConfig](), reflect.TypeFor[RuleConfig](), reflect.TypeFor[LogConfig](),
	} {
		addTags(root.Definitions[section.Name()], section)
	}
	api := reflect.TypeFor[providers.API]()
	for i := range api.NumField() {
		if section := api.Field(i).Type; isSection(section) {
			addTags(root.Definitions[section.Name()], section)
		}
	}
	addWords(root)
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// withVariable is a value that may also come from a variable.
func withVariable(s *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "string", Pattern: `\$\{`}}}
}

func words[T ~string](list []T) []any {
	out := make([]any, len(list))
	for i, w := range list {
		out[i] = w
	}
	return out
}

// textSchema describes the values that are written as one scalar.
func textSchema(t reflect.Type) *jsonschema.Schema {
	pattern := func(p string) *jsonschema.Schema {
		return withVariable(&jsonschema.Schema{Type: "string", Pattern: p})
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return withVariable(&jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Type: "string", Pattern: `^([0-9]+d)?([0-9.]+(ns|us|µs|ms|s|m|h))*$`}, {Const: 0},
		}})
	case reflect.TypeFor[Threshold]():
		return withVariable(&jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Type: "string", Pattern: `^([0-9]+d)?([0-9.]+(ns|us|µs|ms|s|m|h))*$`}, {Enum: []any{0, autoWord}},
		}})
	case reflect.TypeFor[Percent]():
		return withVariable(&jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Type: "string", Pattern: `^[0-9.]+ *%$`}, {Type: "number", ExclusiveMinimum: "0", ExclusiveMaximum: "1"},
		}})
	case reflect.TypeFor[Rate]():
		return pattern(`^[0-9]+/[smh]$`)
	case reflect.TypeFor[reconcile.Mode]():
		return withVariable(&jsonschema.Schema{Enum: append(words(modeWords), false)})
	case reflect.TypeFor[reconcile.Remedy]():
		return withVariable(&jsonschema.Schema{Enum: words(remedyWords)})
	case reflect.TypeFor[slog.Level]():
		return withVariable(&jsonschema.Schema{Enum: []any{"debug", "info", "warn", "error"}})
	case reflect.TypeFor[Secret](), reflect.TypeFor[CronLine](), reflect.TypeFor[netip.Prefix]():
		return &jsonschema.Schema{Type: "string"}
	case reflect.TypeFor[int]():
		return withVariable(&jsonschema.Schema{Type: "integer"})
	case reflect.TypeFor[float64]():
		return withVariable(&jsonschema.Schema{Type: "number", Minimum: "0"})
	case reflect.TypeFor[bool]():
		return withVariable(&jsonschema.Schema{Type: "boolean"})
	}
	return nil
}

// addTags describes what the fields' own tags allow.
func addTags(section *jsonschema.Schema, t reflect.Type) {
	fields := sectionFields(t)
	for _, name := range slices.Sorted(keysOf(fields)) {
		f := fields[name]
		if f.inline {
			section.Properties.Set(name, ownKeySchema(name))
			continue
		}
		property, ok := section.Properties.Get(name)
		if !ok {
			continue
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			property.Enum = words(strings.Split(enum, ","))
		}
		if keys := f.Tag.Get("keys"); keys != "" {
			property.PropertyNames = &jsonschema.Schema{Enum: words(mapKeys[keys])}
		}
	}
}

// ownKeySchema describes a key that only some kinds have, as each of them says it.
func ownKeySchema(name string) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "string"}
	var says []string
	for _, kind := range ownKeys[name] {
		key, found := providers.KeysOf(kind).Find(name)
		if !found {
			base, _ := strings.CutSuffix(name, "_file")
			key.Doc = "File that holds the credential, instead of " + base + "."
		}
		says = append(says, kind+": "+key.Doc)
		if len(key.Words) > 0 {
			list := words(key.Words)
			if key.Words[0] == "true" {
				list = append(list, true, false) // YAML makes that of them without quotes
			}
			out = withVariable(&jsonschema.Schema{Enum: list})
		}
	}
	out.Description = strings.Join(says, " ")
	return out
}

// addWords describes the sections that may also be written as one word, and the names of
// rules and kinds.
func addWords(root *jsonschema.Schema) {
	rules, _ := root.Properties.Get("rules")
	rules.PropertyNames = &jsonschema.Schema{Enum: words(reconcile.RuleNames)}
	rules.AdditionalProperties = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		rules.AdditionalProperties, {Enum: append(words(modeWords), false)}, {Type: "null"},
	}}
	orWord(root, "tasks", "none")
	orWord(root, "events", "none")
	orWord(root, "proof", "off", false)
	orWord(root.Definitions["TasksConfig"], "fail", "none")
	orWord(root.Definitions["TasksConfig"], "requeue", "none")
	events := root.Definitions["EventsConfig"]
	for _, kind := range []string{"started", "heartbeat", "waiting", "finished"} {
		list, _ := events.Properties.Get(kind)
		list.Items = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{list.Items, {Type: "string"}}}
	}
	provider := root.Definitions["ProviderConfig"]
	orWord(provider, "probe", "off", false)
	kind, _ := provider.Properties.Get("kind")
	kind.Enum = words(providers.Kinds())
}

func orWord(section *jsonschema.Schema, key string, also ...any) {
	property, _ := section.Properties.Get(key)
	section.Properties.Set(key, &jsonschema.Schema{
		AnyOf:       []*jsonschema.Schema{{Ref: property.Ref}, {Enum: also}},
		Description: property.Description,
	})
}
