package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The first scene of a story of chosen parts comes after soonest, each other after at most longestGap.
const (
	soonest    = 15 * time.Second
	longestGap = time.Minute
)

// chosen are the scenes of these parts of a story, moved together; all of them where none is named.
func chosen(scenes []scene, parts []string) ([]scene, error) {
	all := partsOf(scenes)
	for _, name := range parts {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("--scene %s: the story has no such part: %s", name, text.Unknown(name, all))
		}
	}
	if len(parts) == 0 {
		return scenes, nil
	}
	var out []scene
	at, before := soonest, time.Duration(0)
	for _, s := range scenes {
		gap := min(s.at-before, longestGap)
		before = s.at
		if s.part != "" && !slices.Contains(parts, s.part) {
			continue
		}
		if len(out) > 0 {
			at += gap
		}
		s.at = at
		out = append(out, s)
	}
	return out, nil
}

// partsOf are the parts of a story, in their order.
func partsOf(scenes []scene) (parts []string) {
	for i := range scenes {
		if p := scenes[i].part; p != "" && !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	return parts
}

// paced are scenes that come so many times as fast.
func paced(scenes []scene, speed float64) []scene {
	for i := range scenes {
		scenes[i].at = time.Duration(float64(scenes[i].at) / speed).Round(time.Second)
		scenes[i].shown = time.Duration(float64(scenes[i].shown) / speed)
	}
	return scenes
}

// length is how long a story takes when nothing delays it.
func length(scenes []scene) time.Duration {
	if len(scenes) == 0 {
		return 0
	}
	return scenes[len(scenes)-1].at
}
