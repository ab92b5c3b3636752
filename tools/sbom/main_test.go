package main

import (
	"bytes"
	"os"
	"runtime/debug"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/require"
)

// TestProgram describes this very test program.
func TestProgram(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	var first, second bytes.Buffer
	require.NoError(t, run([]string{program, program}, &first))
	require.NoError(t, run([]string{program}, &second))
	require.Equal(t, first.String(), second.String(), "each module once")
	var bom cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(&first, cdx.BOMFileFormatJSON).Decode(&bom))
	require.Equal(t, "CycloneDX", bom.BOMFormat)
	require.Equal(t, "coachline", bom.Metadata.Component.Name)
	var names []string
	for _, part := range *bom.Components {
		require.NotEmpty(t, part.Version, part.Name)
		require.Equal(t, "pkg:golang/"+part.Name+"@"+part.Version, part.PackageURL)
		names = append(names, part.Name)
	}
	require.IsNonDecreasing(t, names)
	require.Subset(t, names, []string{"github.com/CycloneDX/cyclonedx-go", "std"})
}

func TestDescribe(t *testing.T) {
	bom := describe([]*debug.BuildInfo{{
		GoVersion: "go1.26.8", Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123abcd"}},
		Deps: []*debug.Module{{Path: "example.org/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/b", Version: "v2.0.0", Sum: "h1:x"}}},
	}})
	require.Equal(t, "0123abcd", bom.Metadata.Component.Version)
	require.Len(t, *bom.Components, 2)
	require.Equal(t, "pkg:golang/example.org/b@v2.0.0", (*bom.Components)[0].PackageURL)
	require.Equal(t, []cdx.Property{{Name: "go:sum", Value: "h1:x"}}, *(*bom.Components)[0].Properties)
}

func TestRefuses(t *testing.T) {
	require.ErrorContains(t, run(nil, &bytes.Buffer{}), "want: sbom PROGRAM")
	require.ErrorContains(t, run([]string{"main.go"}, &bytes.Buffer{}), "main.go")
}
