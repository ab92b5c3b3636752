// Package build tells which build of the programme is running.
package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

const (
	unknown   = "devel"
	dirtyMark = "+dirty"
	sumDigits = 12
)

// Version is the module's version, or the commit it was built from; "devel"
// when the build recorded neither. Builds of changed sources share a version.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	switch revision := settings["vcs.revision"]; {
	case revision == "":
		return unknown
	case settings["vcs.modified"] == "true":
		return revision + dirtyMark
	default:
		return revision
	}
}

// Commit is the commit that the program was built from, with a mark when the
// sources had been changed; empty when the build did not record one.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return commitOf(info)
}

func commitOf(info *debug.BuildInfo) string {
	commit, mark := "", ""
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			commit = setting.Value
		case "vcs.modified":
			if setting.Value == "true" {
				mark = dirtyMark
			}
		}
	}
	if commit == "" {
		return ""
	}
	return commit + mark
}

// ID tells builds apart: the version where it names one state of the sources,
// and otherwise the version with a digest of the running program. It is the
// same in every process of one binary. A name that an operator gave is taken as it is.
// The error is that the program's own file cannot be read; a retry is safe.
func ID(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the program's file: %w", err)
	}
	return identify(Version(), path)
}

func identify(version, path string) (string, error) {
	if version != unknown && !strings.HasSuffix(version, dirtyMark) {
		return version, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the program's file: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("reading the program's file: %w", err)
	}
	return version + "-" + hex.EncodeToString(sum.Sum(nil))[:sumDigits], nil
}
