package main

import (
	"flag"
	"testing"

	"github.com/sandkeeper/sandkeeper/test/raced"
)

// spared are the tests that the race detector does not watch unless they are named by -run,
// each with the reason. They take the longest, and what they run is watched in other tests.
// `make test-whole` runs them.
var spared = map[string]string{
	"TestHostileTextsAreHarmless":             "every verb and page for each of many texts, one after the other",
	"TestOnceIsTraced":                        "builds a collector; the package telemetry sends to one of ours",
	"TestLongRows":                            "the same for texts of 10 MB",
	"TestPagesAreAccessible":                  "axe-core in each page, one after the other; TestPageInABrowser watches the server",
	"TestNothingShowsASecret":                 "every verb and page with a secret in each place; one after the other",
	"TestNothingBrokenShowsASecret":           "TestNothingShowsASecret, again with each part broken",
	"TestNothingBrokenMeanwhileShowsASecret":  "the same with each part broken in turn while it runs",
	"TestReplicasAreKilled":                   "make test-replicas is longer; TestLeaderIsKilled kills replicas as well",
	"TestCronJobBesideTheDaemon":              "dozens of short processes; TestTwoAtOnce runs two side by side",
	"TestBadListingsMoveNothing":              "many listings, one pass after the other; TestProviderLies is one of them",
	"TestReloadOfABrokenConfig":               "many broken configs; TestReload reloads under the race detector",
	"TestOperatorsVerbs":                      "each verb by itself; TestVerbsHoldARunningDaemon has them beside a daemon",
	"TestWrongLinksHarmNobody":                "single passes; TestCheckLinks looks at the same links",
	"TestCodingAgentSetUp":                    "single passes over many set-ups; TestCodingAgentLife lives with the daemon",
	"TestBrokenSandboxesAreFoundByProbes":     "single passes; TestDeadWorkersInSandboxesThatAnswer probes as well",
	"TestSameFailureEverywhereConvictsNobody": "single passes; as above",
	"TestKilledAtOutsideCalls":                "a process for each call; what is killed is no race, TestKilledAgainAndAgain stays",
	"TestTimesOfFlags":                        "flags of each verb, one after the other",
	"TestNoRequeueOfATaskThatLoops":           "single passes; TestRequeueToTheLimit stays",
	"TestDockerListingFails":                  "single passes with each fault; TestDocker stays",
	"TestKubernetesListingFails":              "single passes with each fault; TestKubernetes stays",
	"TestE2BListingFails":                     "single passes with each fault; the adapter's own suite is watched",
	"TestGenericListingFails":                 "single passes with each fault; TestGeneric stays",
	"TestVercelListingFails":                  "single passes with each fault; the adapter's own suite is watched",
	"TestAgentuityCheck":                      "check with each fault; TestAgentuity stays",
	"TestAgentuityRegionThatFails":            "single passes with each fault; TestAgentuityEverywhereBroken stays",
	"TestOneTenantFreezesOnlyItself":          "single passes; nothing runs beside them",
	"TestAlertsOfARealWorld":                  "a real Prometheus and Alertmanager in ten worlds; no race is looked for there",
	"TestCheck":                               "check with each mistake, one after the other",
	"TestWrongSetups":                         "each wrong set-up, one after the other",
	"TestDocsInALivingWorld":                  "TestCommandsInDocs stays",
}

var sparedFlag = flag.Bool("spared", false, "run only the tests that the race detector is spared")

// choose leaves out what the race detector is spared.
func choose() error {
	if *sparedFlag {
		return raced.Only(spared)
	}
	return raced.Spare(spared)
}

func TestSparedAreTests(t *testing.T) { raced.AreTests(t, spared) }
