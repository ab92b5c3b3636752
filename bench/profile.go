package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
)

// One blocked microsecond in a hundred, and one contended lock in a hundred,
// is enough to see and too little to slow anything down.
const (
	blockEvery = 100_000 // nanoseconds
	mutexEvery = 100
)

// profile begins to record and returns what ends it and writes the files; an
// empty folder records nothing.
func profile(dir string) (done func() error, err error) {
	if dir == "" {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("making the profiles' folder: %w", err)
	}
	cpu, err := os.Create(filepath.Join(dir, "cpu.pprof"))
	if err != nil {
		return nil, fmt.Errorf("making the processor's profile: %w", err)
	}
	runtime.SetBlockProfileRate(blockEvery)
	runtime.SetMutexProfileFraction(mutexEvery)
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the processor's profile: %w", err), cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		problems := []error{cpu.Close()}
		for _, name := range []string{"allocs", "heap", "block", "mutex", "goroutine"} {
			problems = append(problems, writeProfile(dir, name))
		}
		return errors.Join(problems...)
	}, nil
}

func writeProfile(dir, name string) error {
	file, err := os.Create(filepath.Join(dir, name+".pprof"))
	if err != nil {
		return fmt.Errorf("making the profile %s: %w", name, err)
	}
	if err := pprof.Lookup(name).WriteTo(file, 0); err != nil {
		return errors.Join(fmt.Errorf("writing the profile %s: %w", name, err), file.Close())
	}
	return file.Close()
}
