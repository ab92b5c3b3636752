// Command sbom writes a bill of materials, in CycloneDX's JSON, of programs
// that Go built: every module that is in one of them, as the programs
// themselves record it.
//
//	sbom PROGRAM... >sbom.cdx.json
package main

import (
	"cmp"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(programs []string, to io.Writer) error {
	if len(programs) == 0 {
		return errors.New("want: sbom PROGRAM")
	}
	var infos []*debug.BuildInfo
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return fmt.Errorf("reading what %s was built from: %w", program, err)
		}
		infos = append(infos, info)
	}
	encoder := cdx.NewBOMEncoder(to, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	if err := encoder.Encode(describe(infos)); err != nil {
		return fmt.Errorf("writing the bill of materials: %w", err)
	}
	return nil
}

// describe lists the modules of the programs and the Go release, each once and
// in order, so that the same programs give the same bytes.
func describe(infos []*debug.BuildInfo) *cdx.BOM {
	parts := map[string]cdx.Component{}
	for _, info := range infos {
		add(parts, &debug.Module{Path: "std", Version: info.GoVersion})
		for _, module := range info.Deps {
			if module.Replace != nil {
				module = module.Replace
			}
			add(parts, module)
		}
	}
	components := make([]cdx.Component, 0, len(parts))
	for _, part := range parts {
		components = append(components, part)
	}
	slices.SortFunc(components, func(a, b cdx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		BOMRef: "coachline", Type: cdx.ComponentTypeApplication, Name: "coachline", Version: revision(infos[0]),
	}}
	bom.Components = &components
	return bom
}

func add(parts map[string]cdx.Component, module *debug.Module) {
	address := "pkg:golang/" + module.Path + "@" + module.Version
	part := cdx.Component{BOMRef: address, Type: cdx.ComponentTypeLibrary, Name: module.Path, Version: module.Version, PackageURL: address}
	if module.Sum != "" {
		part.Properties = &[]cdx.Property{{Name: "go:sum", Value: module.Sum}}
	}
	parts[address] = part
}

// revision is the commit that a program was built from, else its version.
func revision(info *debug.BuildInfo) string {
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return info.Main.Version
}
