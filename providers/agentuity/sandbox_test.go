package agentuity

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestNewRefusesWhatCannotWork(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*entry.Entry)
		want   string // "": it works
	}{
		"one region":                     {extra("region", "usc"), ""},
		"several":                        {extra("region", "usc, usw,use"), ""},
		"none named":                     {extra("region", ""), ""},
		"no token":                       {func(e *entry.Entry) { e.Token = "" }, "needs a credential"},
		"a region that leads elsewhere":  {extra("region", "evil.test/"), "is no region"},
		"an address of its own":          {func(e *entry.Entry) { e.URL = "http://lab.test:1" }, ""},
		"two regions at one address":     {func(e *entry.Entry) { e.URL = "http://lab.test"; e.Extra["region"] = "usc,usw" }, "no {region} in it"},
		"data planes of their own":       {extra("catalyst", "https://{region}.lab.test"), ""},
		"an address that is none":        {extra("catalyst", "catalyst.lab.test"), "must look like https://catalyst-"},
		"an address with a credential":   {extra("catalyst", "https://a:b@lab.test"), "must look like https://catalyst-"},
		"owned by the project":           {func(e *entry.Entry) { e.Owns = entry.Owns{Labels: map[string]string{"project": "p"}} }, ""},
		"owned by metadata":              {func(e *entry.Entry) { e.Owns = entry.Owns{Labels: map[string]string{"owner": "me"}} }, "does not show owner"},
		"linked by metadata":             {func(e *entry.Entry) { e.Link.TaskLabel = "task_id" }, "use link.sandbox: id or name"},
		"linked by metadata, other way":  {func(e *entry.Entry) { e.Link.Sandbox = "label:task" }, "use link.sandbox: id or name"},
		"linked by name":                 {func(e *entry.Entry) { e.Link.Sandbox = "name" }, ""},
		"a control plane without scheme": {func(e *entry.Entry) { e.URL = "api.agentuity.com"; e.Extra["catalyst"] = DefaultCatalyst }, "must look like"},
	} {
		_, err := New(lab(test.change), entry.Options{})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: New = %v, want %q", name, err, test.want)
		}
	}
}

func TestStates(t *testing.T) {
	for word, want := range map[string]reconcile.SandboxState{
		"creating": reconcile.SandboxCreating, "idle": reconcile.SandboxRunning, "running": reconcile.SandboxRunning,
		"paused": reconcile.SandboxSuspended, "suspended": reconcile.SandboxSuspended,
		"stopping": reconcile.SandboxDeleting, "terminated": reconcile.SandboxEnded, "deleted": reconcile.SandboxEnded,
		"failed": reconcile.SandboxFailed, "Idle": reconcile.SandboxUnknown, "evacuating": reconcile.SandboxUnknown,
		"": reconcile.SandboxUnknown,
	} {
		got, err := over(t, answering(with("GET usc /sandbox/sbx_1", reply{200, being(word), nil}))).Get(t.Context(), "sbx_1")
		if err != nil || got.State != want || got.Raw != word {
			t.Errorf("Get of one that is %q = %q (%q), %v; want %q", word, got.State, got.Raw, err, want)
		}
	}
}

func TestGetShowsWhatThereIs(t *testing.T) {
	d := answering(with("GET usc /sandbox/sbx_1", reply{200, one, nil}))
	got, err := over(t, d).Get(t.Context(), "sbx_1")
	if err != nil || got.Name != "mine-a" || !got.Owned || got.SandboxKey != "sbx_1" || got.Template != "base:v2" ||
		got.Region != "usc" || !got.CreatedAt.Equal(noon.Add(-time.Hour)) || !got.AsOf.Equal(noon) {
		t.Errorf("Get = %+v, %v", got, err)
	}
	if want := "GET usc /sandbox/sbx_1?includeDeleted=true&orgId=org_1 "; d.sent[0] != want {
		t.Errorf("sent %q, want %q", d.sent[0], want)
	}
}

// What is gone, and what only looks so.
func TestGetTellsGoneFromUnknown(t *testing.T) {
	for name, test := range map[string]struct {
		answer reply
		want   error
	}{
		"its code says so":               {reply{404, none, nil}, reconcile.ErrNotFound},
		"its words say so":               {reply{404, `{"success":false,"message":"Sandbox sbx_1 not found"}`, nil}, reconcile.ErrNotFound},
		"in the other form":              {reply{404, `{"error":"sandbox not found"}`, nil}, reconcile.ErrNotFound},
		"200 and no success":             {reply{200, none, nil}, reconcile.ErrNotFound},
		"410":                            {reply{410, `{"success":false,"message":"terminated"}`, nil}, reconcile.ErrNotFound},
		"a gateway's Not Found":          {reply{404, `{"error":"Not Found"}`, nil}, errAny},
		"no words":                       {reply{404, `{}`, nil}, errAny},
		"a page":                         {reply{404, `<html>sandbox not found`, []string{"Content-Type", "text/html"}}, errAny},
		"another thing is not found":     {reply{404, `{"success":false,"code":"ORG_NOT_FOUND","message":"sandbox org not found"}`, nil}, errAny},
		"an execution is not found":      {reply{404, `{"success":false,"code":"EXECUTION_NOT_FOUND","message":"x"}`, nil}, errAny},
		"200 and no success, other code": {reply{200, `{"success":false,"code":"X","message":"sandbox not found"}`, nil}, errAny},
		"200 without success":            {reply{200, `{"data":{"sandboxId":"sbx_1"}}`, nil}, errAny},
		"200 without an id":              {reply{200, `{"success":true,"data":{}}`, nil}, errAny},
		"another sandbox":                {reply{200, strings.Replace(one, "sbx_1", "sbx_2", 1), nil}, errAny},
		"a page that says 200":           {reply{200, `<html>`, []string{"Content-Type", "text/html"}}, errAny},
		"no credential":                  {reply{401, `{"success":false,"message":"Unauthorized"}`, nil}, reconcile.ErrUnauthorized},
		"no right":                       {reply{403, `{"success":false,"message":"no"}`, nil}, reconcile.ErrUnauthorized},
		"no plan":                        {reply{402, `{"success":false,"message":"upgrade"}`, nil}, errAny},
		"an old client":                  {reply{426, `{"success":false,"code":"UPGRADE_REQUIRED"}`, nil}, errAny},
		"a limit":                        {reply{429, `{}`, []string{"Retry-After", "3600"}}, reconcile.ErrThrottled},
		"a fault":                        {reply{500, `{"success":false,"message":"Internal Server Error"}`, nil}, errAny},
		"not implemented":                {reply{501, `{}`, nil}, errAny},
		"elsewhere, nobody knows where":  {reply{421, `{"success":false,"message":"misdirected"}`, nil}, errAny},
		"elsewhere, at an odd place":     {reply{421, `{}`, []string{"X-Agentuity-Region", "evil.test/x"}}, errAny},
	} {
		_, err := over(t, answering(with("GET usc /sandbox/sbx_1", test.answer))).Get(t.Context(), "sbx_1")
		if !is(err, test.want) {
			t.Errorf("%s: Get = %v, want %v", name, err, test.want)
		}
	}
	_, err := over(t, answering(with("GET usc /sandbox/sbx_1", reply{500, `{}`, nil}))).Get(t.Context(), "sbx_1")
	if err == nil || !strings.Contains(err.Error(), "sess_12ab") {
		t.Errorf("Get with a fault = %v, want the number of the session in it", err)
	}
}

// One region after the other is asked. It is gone only when all are certain.
func TestGetOverRegions(t *testing.T) {
	const usc, usw, all = "GET usc /sandbox/sbx_1", "GET usw /sandbox/sbx_1", "GET api /cli/sandbox/sbx_1"
	in := func(region string) []reply {
		return []reply{{200, `{"success":true,"data":{"id":"sbx_1","region":"` + region + `","status":"running"}}`, nil}}
	}
	moved := reply{421, `{"success":false,"message":"misdirected"}`, []string{"X-Agentuity-Region", "use"}}
	for name, test := range map[string]struct {
		replies map[string][]reply
		want    error
		asked   []string
	}{
		"the first has it":  {map[string][]reply{usc: {{200, one, nil}}}, nil, []string{usc}},
		"the second has it": {map[string][]reply{usc: {{404, none, nil}}, usw: {{200, one, nil}}}, nil, []string{usc, usw}},
		"none has it":       {map[string][]reply{usc: {{404, none, nil}}, usw: {{404, none, nil}}}, reconcile.ErrNotFound, []string{usc, usw, all}},
		"a region has it that is not asked": {map[string][]reply{usc: {{404, none, nil}}, usw: {{404, none, nil}}, all: in("use"),
			"GET use /sandbox/sbx_1": {{200, one, nil}}}, nil, []string{usc, usw, all, "GET use /sandbox/sbx_1"}},
		"a region had it that is not asked": {map[string][]reply{usc: {{404, none, nil}}, usw: {{404, none, nil}}, all: in("use"),
			"GET use /sandbox/sbx_1": {{404, none, nil}}}, reconcile.ErrNotFound, []string{usc, usw, all, "GET use /sandbox/sbx_1"}},
		"which region has it cannot be asked": {map[string][]reply{usc: {{404, none, nil}}, usw: {{404, none, nil}},
			all: {{500, `{}`, nil}}}, errAny, []string{usc, usw, all}},
		"which region has it may not be asked": {map[string][]reply{usc: {{404, none, nil}}, usw: {{404, none, nil}},
			all: {{403, `{}`, nil}}}, reconcile.ErrNotFound, []string{usc, usw, all}},
		"an odd region has it": {map[string][]reply{usc: {{404, none, nil}}, usw: {{404, none, nil}}, all: in("evil.test/x")},
			errAny, []string{usc, usw, all}},
		"one does not know":                            {map[string][]reply{usc: {{404, none, nil}}, usw: {{500, `{}`, nil}}}, errAny, []string{usc, usw}},
		"the first does not know":                      {map[string][]reply{usc: {{500, `{}`, nil}}, usw: {{404, none, nil}}}, errAny, []string{usc, usw}},
		"the first is out of order, the second has it": {map[string][]reply{usc: {{500, `{}`, nil}}, usw: {{200, one, nil}}}, nil, []string{usc, usw}},
		"another one, which is named":                  {map[string][]reply{usc: {moved}, "GET use /sandbox/sbx_1": {{200, one, nil}}}, nil, []string{usc, "GET use /sandbox/sbx_1"}},
		"another one, which is lost":                   {map[string][]reply{usc: {moved}, "GET use /sandbox/sbx_1": {moved}, usw: {{404, none, nil}}}, errAny, []string{usc, "GET use /sandbox/sbx_1", usw}},
		"the named one does not have it": {map[string][]reply{usc: {moved}, "GET use /sandbox/sbx_1": {{404, none, nil}}, usw: {{404, none, nil}}}, reconcile.ErrNotFound,
			[]string{usc, "GET use /sandbox/sbx_1", usw, all}},
	} {
		d := answering(test.replies)
		_, err := over(t, d, extra("region", "usc,usw")).Get(t.Context(), "sbx_1")
		if !is(err, test.want) || strings.Join(d.asked, "; ") != strings.Join(test.asked, "; ") {
			t.Errorf("%s: Get = %v after %v; want %v after %v", name, err, d.asked, test.want, test.asked)
		}
	}
}

// Another organization's or project's is not ours, whatever its name is.
func TestOwned(t *testing.T) {
	inProject := func(id string) string {
		return strings.Replace(one, `"executions"`, `"project":{"id":"`+id+`","name":"x"},"executions"`, 1)
	}
	byLabel := func(e *entry.Entry) { e.Owns = entry.Owns{Labels: map[string]string{"project": "proj_1"}} }
	for name, test := range map[string]struct {
		body   string
		change []func(*entry.Entry)
		want   bool
	}{
		"by its name":                     {one, nil, true},
		"another name":                    {strings.Replace(one, "mine-a", "theirs", 1), nil, false},
		"of another organization":         {strings.Replace(one, `"id":"org_1"`, `"id":"org_2"`, 1), nil, false},
		"its organization is not known":   {strings.Replace(one, `{"id":"org_1","name":"Lab"}`, `null`, 1), nil, true},
		"of our project":                  {inProject("proj_1"), []func(*entry.Entry){extra("project", "proj_1")}, true},
		"of another project":              {inProject("proj_2"), []func(*entry.Entry){extra("project", "proj_1")}, false},
		"owned by the project":            {inProject("proj_1"), []func(*entry.Entry){byLabel}, true},
		"owned by the project, another":   {inProject("proj_2"), []func(*entry.Entry){byLabel}, false},
		"owned by the project, not known": {one, []func(*entry.Entry){byLabel}, false},
	} {
		got, err := over(t, answering(with("GET usc /sandbox/sbx_1", reply{200, test.body, nil})), test.change...).
			Get(t.Context(), "sbx_1")
		if err != nil || got.Owned != test.want {
			t.Errorf("%s: owned %t, %v; want %t", name, got.Owned, err, test.want)
		}
	}
}

func TestTerminate(t *testing.T) {
	const del = "DELETE usc /sandbox/sbx_1"
	for name, test := range map[string]struct {
		now    string
		answer reply
		want   reconcile.Termination
		err    error
		asked  int
	}{
		"it is accepted":         {one, reply{200, `{"success":true}`, nil}, reconcile.TerminateAccepted, nil, 1},
		"paused ones end too":    {being("paused"), reply{200, `{"success":true}`, nil}, reconcile.TerminateAccepted, nil, 1},
		"failed ones too":        {being("failed"), reply{200, `{"success":true}`, nil}, reconcile.TerminateAccepted, nil, 1},
		"404 of what was there":  {one, reply{404, none, nil}, reconcile.TerminateAccepted, nil, 1},
		"it had ended":           {being("terminated"), reply{}, reconcile.TerminateGone, nil, 0},
		"it is on its way":       {being("stopping"), reply{}, reconcile.TerminateAccepted, nil, 0},
		"of somebody else":       {strings.Replace(one, "mine-a", "theirs", 1), reply{}, reconcile.TerminateChanged, nil, 0},
		"busy":                   {one, reply{409, `{"success":false,"code":"SANDBOX_BUSY","message":"busy"}`, nil}, "", reconcile.ErrHeld, 1},
		"refused":                {one, reply{400, `{"success":false,"message":"no"}`, nil}, reconcile.TerminateRefused, errAny, 1},
		"no plan":                {one, reply{402, `{"success":false,"message":"no"}`, nil}, reconcile.TerminateRefused, errAny, 1},
		"200 and no success":     {one, reply{200, `{"success":false,"message":"no"}`, nil}, reconcile.TerminateRefused, errAny, 1},
		"200 and gone":           {one, reply{200, none, nil}, reconcile.TerminateAccepted, nil, 1},
		"a fault, asked once":    {one, reply{500, `{}`, nil}, "", errAny, 1},
		"a start, asked once":    {one, reply{503, `{}`, nil}, "", errAny, 1},
		"a gateway's Not Found":  {one, reply{404, `{"error":"Not Found"}`, nil}, "", errAny, 1},
		"a page that says 200":   {one, reply{200, `<html>`, []string{"Content-Type", "text/html"}}, "", errAny, 1},
		"the credential refused": {one, reply{401, `{}`, nil}, "", reconcile.ErrUnauthorized, 1},
	} {
		d := answering(map[string][]reply{"GET usc /sandbox/sbx_1": {{200, test.now, nil}}, del: {test.answer}})
		how, err := over(t, d).Terminate(t.Context(), sb1)
		if how != test.want || !is(err, test.err) || d.times(del) != test.asked {
			t.Errorf("%s: Terminate = %q, %v after %d deletes; want %q, %v after %d", name, how, err, d.times(del), test.want,
				test.err, test.asked)
		}
	}
}

// A sandbox that moved is ended where it is.
func TestTerminateElsewhere(t *testing.T) {
	moved := reply{421, `{}`, []string{"X-Agentuity-Region", "usw"}}
	d := answering(map[string][]reply{"GET usc /sandbox/sbx_1": {moved},
		"GET usw /sandbox/sbx_1":    {{200, strings.Replace(one, `"region":"usc",`, ``, 1), nil}},
		"DELETE usw /sandbox/sbx_1": {{200, `{"success":true}`, nil}}})
	how, err := over(t, d).Terminate(t.Context(), sb1)
	if err != nil || how != reconcile.TerminateAccepted || d.times("DELETE usw /sandbox/sbx_1") != 1 || len(d.asked) != 3 {
		t.Errorf("Terminate = %q, %v after %v", how, err, d.asked)
	}
}

// A sandbox's own word for its region becomes part of no host's name.
func TestRegionOfASandboxLeadsNowhere(t *testing.T) {
	for _, word := range []string{"evil.test/x", "us-central-1", "usw"} {
		body := strings.Replace(one, `"region":"usc"`, `"region":"`+word+`"`, 1)
		d := answering(map[string][]reply{"GET usc /sandbox/sbx_1": {{200, body, nil}}, executions: {nobody},
			"GET usc /sandbox":          {{200, `{"success":true,"data":{"total":1,"sandboxes":[` + strings.TrimSuffix(strings.TrimPrefix(body, `{"success":true,"data":`), `}`) + `]}}`, nil}},
			"DELETE usc /sandbox/sbx_1": {{200, `{"success":true}`, nil}}})
		p := over(t, d)
		if how, err := p.Terminate(t.Context(), sb1); err != nil || how != reconcile.TerminateAccepted {
			t.Errorf("Terminate of one in %q = %q, %v after %v", word, how, err, d.asked)
		}
		_, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
			_, err := p.Executions(t.Context(), page[0])
			return err
		})
		if err != nil {
			t.Errorf("List and Executions of one in %q = %v after %v", word, err, d.asked)
		}
	}
}

func TestSuspend(t *testing.T) {
	const pause = "POST usc /sandbox/sbx_1/pause"
	paused := `{"success":true,"sandboxId":"sbx_1","status":"paused","checkpointId":"ckpt_1","terminatesAt":"2026-11-02T12:00:00Z"}`
	for name, test := range map[string]struct {
		now    string
		answer reply
		want   reconcile.Termination
		err    error
		asked  int
	}{
		"it is paused":          {one, reply{200, paused, nil}, reconcile.TerminateDone, nil, 1},
		"it will be":            {one, reply{200, strings.Replace(paused, "paused", "stopping", 1), nil}, reconcile.TerminateAccepted, nil, 1},
		"it was":                {being("paused"), reply{}, reconcile.TerminateDone, nil, 0},
		"the vendor did it":     {being("suspended"), reply{}, reconcile.TerminateDone, nil, 0},
		"it comes up":           {being("creating"), reply{}, "", reconcile.ErrHeld, 0},
		"it ends":               {being("stopping"), reply{}, reconcile.TerminateRefused, errAny, 0},
		"nobody knows its word": {being("evacuating"), reply{}, reconcile.TerminateRefused, errAny, 0},
		"of somebody else":      {strings.Replace(one, "mine-a", "theirs", 1), reply{}, reconcile.TerminateChanged, nil, 0},
		"busy":                  {one, reply{409, `{"success":false,"message":"sandbox is running"}`, nil}, "", reconcile.ErrHeld, 1},
		"gone meanwhile":        {one, reply{404, none, nil}, reconcile.TerminateGone, nil, 1},
		"a fault, asked once":   {one, reply{500, `{}`, nil}, "", errAny, 1},
		"no success":            {one, reply{200, `{"success":false,"message":"no"}`, nil}, reconcile.TerminateRefused, errAny, 1},
	} {
		d := answering(map[string][]reply{"GET usc /sandbox/sbx_1": {{200, test.now, nil}}, pause: {test.answer}})
		how, err := over(t, d).Suspend(t.Context(), sb1)
		if how != test.want || !is(err, test.err) || d.times(pause) != test.asked {
			t.Errorf("%s: Suspend = %q, %v after %v; want %q, %v", name, how, err, d.asked, test.want, test.err)
		}
	}
}

func TestResume(t *testing.T) {
	const resume = "POST usc /sandbox/sbx_1/resume"
	for name, test := range map[string]struct {
		now    string
		answer reply
		want   error
		asked  int
	}{
		"it comes back":                   {being("paused"), reply{200, `{"success":true}`, nil}, nil, 1},
		"of the vendor's making":          {being("suspended"), reply{200, `{"success":true}`, nil}, nil, 1},
		"it runs":                         {one, reply{}, nil, 0},
		"the checkpoint is not ready":     {being("paused"), reply{409, `{"success":false,"message":"checkpoint not ready"}`, nil}, reconcile.ErrHeld, 1},
		"it ended":                        {being("terminated"), reply{}, reconcile.ErrNotFound, 0},
		"gone meanwhile":                  {being("paused"), reply{404, none, nil}, reconcile.ErrNotFound, 1},
		"a fault":                         {being("paused"), reply{500, `{}`, nil}, errAny, 1},
		"nobody knows its word":           {being("evacuating"), reply{}, errAny, 0},
		"of somebody else":                {strings.Replace(being("paused"), "mine-a", "theirs", 1), reply{}, errAny, 0},
		"it is said to, and was not done": {being("paused"), reply{200, `{"success":false,"message":"no"}`, nil}, errAny, 1},
	} {
		d := answering(map[string][]reply{"GET usc /sandbox/sbx_1": {{200, test.now, nil}}, resume: {test.answer}})
		if err := over(t, d).Resume(t.Context(), sb1); !is(err, test.want) || d.times(resume) != test.asked {
			t.Errorf("%s: Resume = %v after %v; want %v", name, err, d.asked, test.want)
		}
	}
}

// A region's name comes from a header and becomes part of a host's name.
func TestRegionThatLeadsElsewhere(t *testing.T) {
	for _, to := range []string{"evil.test/x", "evil.test#", "a@evil.test", "EVIL", "", "usc"} {
		d := answering(with("GET usc /sandbox/sbx_1", reply{421, `{}`, []string{"X-Agentuity-Region", to}}))
		if _, err := over(t, d).Get(t.Context(), "sbx_1"); !is(err, errAny) || len(d.asked) != 1 {
			t.Errorf("Get that is sent to %q = %v after %v; want no further call", to, err, d.asked)
		}
	}
	one := func(e *entry.Entry) { e.URL, e.Extra["region"] = "http://lab.test", "" }
	d := answering(with("GET /sandbox/sbx_1", reply{421, `{}`, []string{"X-Agentuity-Region", "usw"}}))
	if _, err := over(t, d, one).Get(t.Context(), "sbx_1"); !is(err, errAny) || len(d.asked) != 1 {
		t.Errorf("Get at a single address that names another region = %v after %v; want no further call", err, d.asked)
	}
}
