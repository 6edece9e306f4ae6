package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The bounds of a proof: a rule that is wrong more often than in one of ten cases is none, and fewer cases than
// these say little of the next one.
const (
	mostFalsePositives = 0.10
	leastSamples       = 50
)

func (c *Config) checkProof(r *report) {
	const rate, samples = "proof.false_positives", "proof.samples"
	if c.Proof.FalsePositives > mostFalsePositives && !r.bad[rate] {
		r.fail(rate, r.quote(rate)+" is above the cap of 10%", "use at most 10%, or write proof: off")
	}
	if given := c.Proof.Samples; r.given(samples) && !r.bad[samples] && given < leastSamples {
		r.fail(samples, fmt.Sprintf("%d is below the floor of %d", given, leastSamples),
			fmt.Sprintf("use at least %d, or write proof: off", leastSamples))
	}
}

// proofPolicy is what is asked of rules, with what a proof was made for. Without it nothing is asked of them.
func (c *Config) proofPolicy() reconcile.ProofPolicy {
	var out reconcile.ProofPolicy
	if !c.Proof.Off {
		out = reconcile.ProofPolicy{FalsePositives: float64(c.Proof.FalsePositives), Samples: c.Proof.Samples}
	}
	if !c.Tasks.None {
		out.Mapping = sumOf(c.Mapping().WithPreset())
	}
	type ours struct {
		Name, Kind, URL string
		Owns            providers.Owns
		Link            providers.Link
	}
	var all []ours
	for _, e := range c.Entries() {
		all = append(all, ours{e.Name, e.Kind, e.URL, e.Owns, e.Link})
	}
	out.Owners = sumOf(all)
	return out
}

// sumOf tells one state of a part of the config from another.
func sumOf(part any) string {
	text, err := json.Marshal(part)
	if err != nil {
		panic("a part of the config that is no JSON: " + err.Error()) // unreachable: it is texts, lists and maps
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
