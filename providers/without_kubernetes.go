//go:build nokubernetes

package providers

var withKubernetes []adapter
