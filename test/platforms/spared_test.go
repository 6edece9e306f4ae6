package platforms

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/test/raced"
)

// spared are the platforms that wait for `make test-whole`. The program that they try is a process
// built without the race detector in either target: here it watches the world around it alone.
var spared = map[string]string{
	"TestAirbyte":                "TestHatchetInShort stays",
	"TestBuildbot":               "TestHatchetInShort stays",
	"TestDaytonaServer":          "TestDaytonaServerInShort stays",
	"TestHatchet":                "TestHatchetInShort stays",
	"TestWindmill":               "TestHatchetInShort stays",
	"TestWoodpecker":             "TestHatchetInShort stays",
	"TestPresets":                "six platforms, each with three worlds of an hour",
	"TestPresetsTellOfTheirPast": "six platforms' rows as a history",
	"TestOmoiOS":                 "TestOmoiOSCheck stays",
	"TestCodingAgent":            "TestCodingAgentCheck stays",
	"TestCoder":                  "TestGARM stays",
	"TestCoderByJobs":            "TestGARM stays",
	"TestCoderPreset":            "TestPresetsRepair stays",
	"TestCodingAgentFork":        "TestCodingAgentCheck stays",
	"TestClassesOfBoxes":         "TestEventsOfTheTask stays",
	"TestFailedByThePlatform":    "TestEventsOfTheTask stays",
	"TestPodsThroughTheirOwners": "TestEventsOfTheTask stays",
	"TestCheckMeasures":          "TestOmoiOSCheck stays",
	"TestCheckWatches":           "TestOmoiOSCheck stays",
	"TestKortix":                 "TestCodingAgentCheck stays",
	"TestKortixAtE2B":            "TestCodingAgentCheck stays",
	"TestKortixPreset":           "TestPresetsRepair stays",
	"TestOpenHands":              "TestGARM stays",
	"TestPrefect":                "TestGARM stays",
	"TestPrefectPreset":          "TestPresetsRepair stays",
	"TestTrigger":                "TestGARM stays",
	"TestWalkOmoiOS":             "TestWalkCodingAgent stays",
	"TestWalkMonoTask":           "TestWalkCodingAgent stays",
	"TestWalkAgentuity":          "TestWalkCodingAgent stays",
}

func TestSparedAreTests(t *testing.T) { raced.AreTests(t, spared) }
