package rig

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// tick is the unit in which Linux shows processor time to programs.
const tick = 10 * time.Millisecond

// Fields of /proc/PID/stat after the name of the program, which may hold
// spaces.
const (
	userField   = 11
	systemField = 12
)

// processFields reads /proc/PID/stat, which only Linux has.
func processFields(pid int) ([][]byte, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil, fmt.Errorf("reading the figures of process %d (this load needs Linux): %w", pid, err)
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= systemField {
		return nil, fmt.Errorf("reading the figures of process %d: %d fields", pid, len(fields))
	}
	return fields, nil
}

func processorOf(pid int) (time.Duration, error) {
	fields, err := processFields(pid)
	if err != nil {
		return 0, err
	}
	var ticks int64
	for _, i := range []int{userField, systemField} {
		n, err := strconv.ParseInt(string(fields[i]), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the processor time of process %d: %w", pid, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}
