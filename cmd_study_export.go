package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func (p *program) studyExport() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "export STUDY --out DIR", Short: "Write the rows of a study under pseudonyms into a new folder", Args: exactArgs(1),
		Long: "Writes CSV tables, datapackage.json, a REDCap data dictionary, loaders for Python and R, the CONSORT figures and a manifest.\n" +
			"The files hold no texts of people. The export is recorded in the audit; arms need allocation:read.",
	}
	c.Flags().StringVarP(&out, "out", "o", "", "folder to write, which must not exist")
	c.RunE = func(c *cobra.Command, args []string) error {
		if out == "" {
			return usageError{errors.New("--out is needed")}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		progress := p.newMeter("bytes")
		defer progress.endPart()
		return commands.ExportStudy(c.Context(), args[0], out, func(done, of int64) { progress.setProgress("export", done, of) })
	}
	return c
}
