// Package program begins and ends the programs that run, measure and test the product.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// UsageError is a wrong command line; the exit code tells it from a failure.
type UsageError struct{ Err error }

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// Main runs a program until it is done, or until ctx ends with a signal; a second signal
// ends it at once. It exits with 1 after an error, which it prints, and with 2 after a
// UsageError; flag.ErrHelp is none.
func Main(name string, run func(ctx context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	err := run(ctx)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	if usage := new(UsageError); errors.As(err, &usage) {
		os.Exit(2)
	}
	os.Exit(1)
}
