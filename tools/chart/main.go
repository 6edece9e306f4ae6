// Command chart does with a Helm chart what `helm lint` and `helm template` do, by Helm's own code: it says what is
// wrong with the chart, or prints what it comes to. It asks no cluster.
//
//	chart lint CHART [VALUES...]
//	chart template [-notes] CHART [VALUES...]
//
// VALUES are files, a later one wins. The release is called sandkeeper, in the namespace platform.
package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"slices"
)

// Where the chart is thought to be installed.
const (
	release   = "sandkeeper"
	namespace = "platform"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	notes := slices.Contains(args, "-notes")
	args = slices.DeleteFunc(args, func(a string) bool { return a == "-notes" })
	if len(args) < 2 {
		return fmt.Errorf("say lint or template, and the folder of a chart")
	}
	values, err := read(args[2:])
	if err != nil {
		return err
	}
	switch args[0] {
	case "lint":
		return check(args[1], values, out)
	case "template":
		return render(args[1], values, notes, out)
	}
	return fmt.Errorf("%s: say lint or template", args[0])
}

// read is what files of values come to.
func read(files []string) (map[string]any, error) {
	values := map[string]any{}
	for _, name := range files {
		more, err := common.ReadValuesFile(name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		values = loader.MergeMaps(values, more)
	}
	return values, nil
}

// check prints what lint says, and fails for more than a hint.
func check(folder string, values map[string]any, out io.Writer) error {
	said := lint.RunAll(folder, values, namespace)
	for _, m := range said.Messages {
		fmt.Fprintln(out, m)
	}
	if said.HighestSeverity > support.InfoSev {
		return fmt.Errorf("%s is not in order", folder)
	}
	return nil
}

// render prints the manifests in the order of their files, or the notes alone.
func render(folder string, values map[string]any, notes bool, out io.Writer) error {
	chart, err := loader.Load(folder)
	if err != nil {
		return fmt.Errorf("load %s: %w", folder, err)
	}
	all, err := util.ToRenderValues(chart, values, common.ReleaseOptions{
		Name: release, Namespace: namespace, Revision: 1, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return fmt.Errorf("values of %s: %w", folder, err)
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return fmt.Errorf("render %s: %w", folder, err)
	}
	var names []string
	for name, text := range files {
		if strings.TrimSpace(text) != "" && (path.Ext(name) == ".txt") == notes {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(out, "---\n%s\n", strings.TrimPrefix(strings.TrimSpace(files[name]), "---\n"))
	}
	return nil
}
