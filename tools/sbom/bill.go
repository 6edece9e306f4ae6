package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill is the bill of materials. dirs are where the modules' sources are, by path.
func bill(info *buildinfo.BuildInfo, dirs map[string]string) *cdx.BOM {
	program := component(&info.Main, dirs[info.Main.Path])
	program.Type = cdx.ComponentTypeApplication
	program.Properties = settings(info)
	parts := []cdx.Component{standardLibrary(info.GoVersion)}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, component(m, dirs[m.Path]))
	}
	slices.SortFunc(parts, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	refs := make([]string, len(parts))
	for i := range parts {
		refs[i] = parts[i].BOMRef
	}
	b := cdx.NewBOM()
	b.SerialNumber = serial(info)
	b.Metadata = &cdx.Metadata{Component: &program} // no time: the same program has the same bill
	b.Components = &parts
	b.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return b
}

// serial is a UUID that is always the same for the same program.
func serial(info *buildinfo.BuildInfo) string {
	sum := sha256.Sum256([]byte(info.String()))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func component(m *debug.Module, dir string) cdx.Component {
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, Scope: cdx.ScopeRequired}
	if m.Version == "(devel)" {
		c.Version = ""
	}
	c.PackageURL = packageURL(m.Path, c.Version)
	c.BOMRef = c.PackageURL
	if m.Sum != "" { // of all files of the module, as go.sum has it
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
	}
	if id := licenceIn(dir); id != "" {
		c.Licenses = &cdx.Licenses{{License: &cdx.License{ID: id}}}
	}
	return c
}

// standardLibrary is listed too: it has flaws of its own, and is no module of the program.
func standardLibrary(goVersion string) cdx.Component {
	c := component(&debug.Module{Path: "std", Version: strings.TrimPrefix(goVersion, "go")}, "")
	c.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "BSD-3-Clause"}}}
	return c
}

// packageURL is the name by which databases of flaws know a module.
func packageURL(path, version string) string {
	text := "pkg:golang/" + strings.ToLower(path)
	if version != "" {
		text += "@" + url.QueryEscape(version)
	}
	return text
}

// settings are how the program was built: for which machine, from which commit.
func settings(info *buildinfo.BuildInfo) *[]cdx.Property {
	all := []cdx.Property{{Name: "go:version", Value: info.GoVersion}}
	for _, s := range info.Settings {
		all = append(all, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	slices.SortFunc(all, func(a, b cdx.Property) int { return strings.Compare(a.Name, b.Name) })
	return &all
}
