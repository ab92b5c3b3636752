package temporal

import (
	"context"
	"log/slog"
	"slices"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLog hands the server's log lines to slog. The server makes loggers for
// single requests and hardly ever writes with one, so their tags are only kept.
type serverLog struct {
	to   *slog.Logger
	tags []tag.Tag
}

func (l serverLog) write(level slog.Level, msg string, tags []tag.Tag) {
	// The server logs thousands of debug lines; convert only what is kept.
	ctx := context.Background()
	if !l.to.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, len(l.tags)+len(tags))
	for _, t := range slices.Concat(l.tags, tags) {
		attrs = append(attrs, slog.Any(t.Key(), t.Value()))
	}
	l.to.LogAttrs(ctx, level, msg, attrs...) //nolint:sloglint // The words are the server's.
}

func (l serverLog) Debug(msg string, tags ...tag.Tag)  { l.write(slog.LevelDebug, msg, tags) }
func (l serverLog) Info(msg string, tags ...tag.Tag)   { l.write(slog.LevelInfo, msg, tags) }
func (l serverLog) Warn(msg string, tags ...tag.Tag)   { l.write(slog.LevelWarn, msg, tags) }
func (l serverLog) Error(msg string, tags ...tag.Tag)  { l.write(slog.LevelError, msg, tags) }
func (l serverLog) DPanic(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }

// Panic and Fatal must not return: the server counts on it.
func (l serverLog) Panic(msg string, tags ...tag.Tag) {
	l.write(slog.LevelError, msg, tags)
	panic("temporal server: " + msg)
}

func (l serverLog) Fatal(msg string, tags ...tag.Tag) { l.Panic(msg, tags...) }

// With implements log.WithLogger.
func (l serverLog) With(tags ...tag.Tag) log.Logger {
	return serverLog{to: l.to, tags: slices.Concat(l.tags, tags)}
}

// silentLogger is an SDK logger for the engine's own short-lived client.
type silentLogger struct{}

func (silentLogger) Debug(string, ...any) {}
func (silentLogger) Info(string, ...any)  {}
func (silentLogger) Warn(string, ...any)  {}
func (silentLogger) Error(string, ...any) {}
