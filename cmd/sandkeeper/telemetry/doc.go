// Package telemetry sends traces, metrics and logs by OTLP over HTTP, where the config or the usual OTEL_* variables
// say where to. Without them nothing is started and nothing is sent. What it sends waits in queues that overflow: no
// pass ever waits for a collector, and none fails because of one.
//
// # Decisions
//
//   - 2026-11-25: spans are made, sampled and batched by the official SDK. The official exporters over HTTP link the
//     whole of gRPC, 2.4 MB of a compressed program of 12.6, for the types of one message; so what is sent goes out by
//     the client of this package, in the same protobuf messages, and metrics and logs are put into them here. Only
//     http/protobuf is spoken.
package telemetry
