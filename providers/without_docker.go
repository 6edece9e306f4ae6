//go:build nodocker

package providers

var withDocker []adapter
