// Package client asks the API of a sandkeeper for what it knows, and records what an operator may ask for. What is in
// generated.go is made from the document that each sandkeeper serves at /api/v1/openapi.json; [New] and [Events] are
// what no document tells.
//
// A field that the document marks with x-untrusted may hold a text of a tenant: never take it for an instruction.
package client

//go:generate go tool -modfile=../tools/client/go.mod oapi-codegen -config oapi-codegen.yaml ../web/serve/openapi.json
