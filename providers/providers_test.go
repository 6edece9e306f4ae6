package providers_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// described is the least that kind generic needs to know of a platform.
var described = func() *providers.API {
	api := &providers.API{Absent: "status == 404", States: map[string]string{"up": "running"}}
	api.List.Path, api.List.Items, api.Get.Path = "/boxes", "body", "/boxes/{id}"
	api.Sandbox.ID, api.Sandbox.State = "id", "state"
	return api
}()

func TestOpen(t *testing.T) {
	for name, test := range map[string]struct {
		entry providers.Entry
		want  string // in the error; "" when it opens
	}{
		"daytona":   {providers.Entry{Name: "a", Kind: "daytona", Token: "key"}, ""},
		"simulated": {providers.Entry{Name: "a", Kind: "simulated"}, ""},
		"e2b":       {providers.Entry{Name: "a", Kind: "e2b", Token: "key"}, ""},
		"no kind":   {providers.Entry{Name: "a"}, `no kind ""; known are [agentuity`},
		"daytona, no token": {
			providers.Entry{Name: "a", Kind: "daytona"}, "open provider a: token: is empty; daytona needs a credential",
		},
		"daytona, no real url": {providers.Entry{Name: "a", Kind: "daytona", Token: "key", URL: "localhost"}, "url"},
		"generic, not described": {
			providers.Entry{Name: "a", Kind: "generic", URL: "https://yard.test"}, "open provider a: generic needs api:",
		},
		"generic, described with a mistake": {
			providers.Entry{Name: "a", Kind: "generic", URL: "https://yard.test", API: &providers.API{}}, "api.absent is not given",
		},
		"a kind in other cases": {providers.Entry{Name: "a", Kind: "Daytona"}, "no kind"},
	} {
		p, err := providers.Open(test.entry, providers.Options{})
		if test.want == "" && (p == nil || err != nil) {
			t.Errorf("%s: Open = %v, %v; want a provider", name, p, err)
		}
		if test.want != "" && (p != nil || err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: Open = %v, %v; want %q", name, p, err, test.want)
		}
	}
}

// What can be told of an entry without opening it is what its adapter says of itself.
func TestLacks(t *testing.T) {
	whole := *described
	whole.Delete.Path, whole.Stop.Path, whole.Resume.Path = "/boxes/{id}", "/boxes/{id}/stop", "/boxes/{id}/go"
	control := map[string]string{"account": "a", "application": "b"}
	worker := map[string]string{"worker_url": "https://w.test", "worker_token": "w"}
	for name, test := range map[string]struct {
		entry providers.Entry
		want  []string
	}{
		"daytona":             {providers.Entry{Kind: "daytona"}, nil},
		"e2b":                 {providers.Entry{Kind: "e2b"}, nil},
		"agentuity":           {providers.Entry{Kind: "agentuity"}, nil},
		"simulated":           {providers.Entry{Kind: "simulated"}, nil},
		"docker":              {providers.Entry{Kind: "docker"}, nil},
		"vercel":              {providers.Entry{Kind: "vercel"}, []string{"quarantine"}},
		"kubernetes":          {providers.Entry{Kind: "kubernetes"}, []string{"quarantine"}},
		"the control plane":   {providers.Entry{Kind: "cloudflare", Extra: control}, []string{"quarantine", "terminate"}},
		"a Worker":            {providers.Entry{Kind: "cloudflare", Extra: worker}, []string{"quarantine"}},
		"generic, whole":      {providers.Entry{Kind: "generic", API: &whole}, nil},
		"generic, reads only": {providers.Entry{Kind: "generic", API: described}, []string{"terminate", "quarantine"}},
		"nobody knows it":     {providers.Entry{Kind: "modal"}, nil},
	} {
		if slices.Contains(providers.Kinds(), test.entry.Kind) && !providers.Built(test.entry.Kind) {
			continue // left out by a tag
		}
		if got := providers.Lacks(test.entry); !slices.Equal(got, test.want) {
			t.Errorf("%s: Lacks = %v, want %v", name, got, test.want)
		}
		e := test.entry
		e.Name, e.Token, e.URL = "a", "key", "https://x.test"
		if e.Kind == "cloudflare" && e.Extra["worker_url"] != "" {
			e.Token = ""
		}
		p, err := providers.Open(e, providers.Options{})
		if err != nil {
			continue // it needs more than it is asked about here
		}
		can := reconcile.CapabilitiesOf(p)
		if got := slices.Contains(test.want, "quarantine"); got == (can.Suspender != nil) {
			t.Errorf("%s: quarantine is lacking %t, and its adapter suspends %t", name, got, can.Suspender != nil)
		}
		if got := can.NoTerminate; got != slices.Contains(test.want, "terminate") {
			t.Errorf("%s: its adapter lacks terminate %t, want %t", name, got, !got)
		}
	}
}

func TestEveryKnownKindOpens(t *testing.T) {
	if !slices.Contains(providers.Kinds(), "daytona") {
		t.Error("daytona is not known")
	}
	for _, kind := range providers.Kinds() {
		e := providers.Entry{Name: "a", Kind: kind, Token: "key"}
		if kind == "cloudflare" {
			e.Extra = map[string]string{"account": "a", "application": "b"}
		}
		if kind == "vercel" {
			e.Extra = map[string]string{"team": "team_1", "project": "prj_1"}
		}
		if kind == "kubernetes" {
			e.URL = "https://cluster.test" // a token alone does not say which cluster
		}
		if kind == "generic" {
			e.URL, e.API = "https://yard.test", described
		}
		_, err := providers.Open(e, providers.Options{})
		if opened := err == nil; opened != providers.Built(kind) ||
			!opened && !strings.Contains(err.Error(), "this build has no "+kind) {
			t.Errorf("Open(%s) = %v, but Built = %t", kind, err, providers.Built(kind))
		}
	}
}

func TestSimulatedIsAnEmptyWorld(t *testing.T) {
	p, err := providers.Open(providers.Entry{Name: "a", Kind: "simulated"}, providers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
		if len(page) > 0 {
			return errors.New("not empty")
		}
		return nil
	})
	if err != nil || !l.Complete {
		t.Errorf("List = %+v, %v; want a complete, empty one", l, err)
	}
}

// Each key of a kind's own tells editors what it is, and an address has an example.
func TestKeysAreDescribed(t *testing.T) {
	for _, kind := range providers.Kinds() {
		for _, key := range providers.KeysOf(kind) {
			own := key.Name != "url" && key.Name != "token" && key.Name != "api"
			if own && !strings.HasSuffix(key.Doc, ".") {
				t.Errorf("%s says of %s %q, want a sentence", kind, key.Name, key.Doc)
			}
			if len(key.Schemes) > 0 && (key.Like == "" || key.Credential == "") {
				t.Errorf("the address %s of %s lacks an example or its credential", key.Name, kind)
			}
			if key.Default != "" && len(key.Words) > 0 && !slices.Contains(key.Words, key.Default) {
				t.Errorf("the default %q of %s of %s is none of its words", key.Default, key.Name, kind)
			}
		}
	}
}

// What is wrong with an entry is told by its kind, without opening anything and without showing
// what it holds.
func TestCheck(t *testing.T) {
	whole := providers.Entry{Kind: "vercel", Token: "key", URL: "http://vercel.test", Extra: map[string]string{"team": "t", "project": "p"}}
	if got := providers.Check(whole); len(got) != 1 || !got[0].Odd || got[0].Key != "url" {
		t.Errorf("Check(%+v) = %+v, want a warning of the url", whole, got)
	}
	bare := providers.Entry{Kind: "vercel", URL: "https://u:s3cret@x.test", Extra: map[string]string{"terminate": "s3cret"}}
	var keys []string
	for _, m := range providers.Check(bare) {
		keys = append(keys, m.Key)
		if m.Problem == "" || m.Fix == "" || strings.Contains(m.Problem+m.Fix, "s3cret") {
			t.Errorf("Check = %+v, want a problem and a fix, and no value", m)
		}
	}
	if want := []string{"token", "team", "project", "terminate", "url"}; !slices.Equal(keys, want) {
		t.Errorf("Check finds %q, want %q", keys, want)
	}
}
