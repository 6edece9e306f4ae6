package daytona

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The newest entry that was carried out decides: an end, or the begin of another run. A server that does not know the
// filters answers with everything.
func TestEndsInTheAuditLog(t *testing.T) {
	const deleted = `{"targetType":"sandbox","targetId":"s1","action":"delete","statusCode":200,"createdAt":"2026-11-01T12:00:07Z","actorEmail":"ana@x"}`
	const later = `"createdAt":"2026-11-01T12:00:09Z"}`
	for name, c := range map[string]struct{ log, reason, by string }{
		"a delete":                   {deleted, "delete", "ana@x"},
		"by a key":                   {`{"targetType":"sandbox","targetId":"s1","action":"stop","statusCode":204,"actorApiKeyPrefix":"dtn_7",` + later, "stop", "key dtn_7…"},
		"by the system":              {`{"targetType":"sandbox","targetId":"s1","action":"spot_evict",` + later, "spot_evict", ""},
		"the newest of two":          {deleted + `,{"targetType":"sandbox","targetId":"s1","action":"ttl_expire","statusCode":0,` + later, "ttl_expire", ""},
		"started again since":        {deleted + `,{"targetType":"sandbox","targetId":"s1","action":"start","statusCode":200,` + later, "", ""},
		"a start that was refused":   {deleted + `,{"targetType":"sandbox","targetId":"s1","action":"start","statusCode":409,` + later, "delete", "ana@x"},
		"a delete that was refused":  {`{"targetType":"sandbox","targetId":"s1","action":"delete","statusCode":403,` + later, "", ""},
		"a delete that is under way": {`{"targetType":"sandbox","targetId":"s1","action":"delete",` + later, "", ""},
		"a delete that nobody knows": {`{"targetType":"sandbox","targetId":"s1","action":"delete","statusCode":0,` + later, "", ""},
		"of another sandbox":         {`{"targetType":"sandbox","targetId":"s2","action":"delete","statusCode":200,` + later, "", ""},
		"of what is no sandbox":      {`{"targetType":"snapshot","targetId":"s1","action":"delete","statusCode":200,` + later, "", ""},
		"an action that is no end":   {`{"targetType":"sandbox","targetId":"s1","action":"archive","statusCode":200,` + later, "", ""},
		"nothing":                    {"", "", ""},
	} {
		var log []auditEntry
		if err := json.Unmarshal([]byte("["+c.log+"]"), &log); err != nil {
			t.Fatal(name, err)
		}
		got, err := lastEnd(log, "s1")
		if got.Reason != c.reason || got.By != c.by || (c.reason == "") != errors.Is(err, reconcile.ErrNotFound) {
			t.Errorf("%s: %+v, %v; want %q by %q", name, got, err, c.reason, c.by)
		}
	}
}
