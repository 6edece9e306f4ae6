package propose

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/store/tasks"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// known proposes the preset of a platform whose tables are all there, nil when they are of none.
func known(cat *Catalog) *Proposal {
	best, most := "", 0
	for _, name := range mapping.Presets() {
		if n := cat.fits(tasks.PresetTables(name)); n > most {
			best, most = name, n
		}
	}
	if best == "" {
		return nil
	}
	p := &Proposal{Preset: Line{"preset", best, "has all the tables and columns that the preset names", false}}
	if shape := mapping.PresetShape(best); shape != "" {
		p.Shape = Line{"shape", shape, "the preset's own", false}
	}
	return p
}

// fits is how many columns of a preset are there, 0 where a table or a column of it is missing.
func (cat *Catalog) fits(tables []tasks.PresetTable) int {
	n := 0
	for _, want := range tables {
		i := slices.IndexFunc(cat.Tables, func(t Table) bool { return t.Schema == want.Schema && t.Name == want.Name })
		if i < 0 {
			return 0
		}
		for _, column := range want.Columns {
			if cat.Tables[i].column(column) == nil {
				return 0
			}
			n++
		}
		n++ // a table counts, too
	}
	return n
}
