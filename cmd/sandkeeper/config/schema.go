package config

import _ "embed"

// Schema is the JSON Schema of the config file, for editors. It is made from the types that the
// file is read into.
//
//go:embed sandkeeper.schema.json
var Schema string
