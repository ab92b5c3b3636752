package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"coachline/internal/export"
)

func (p *program) studyExport() *cobra.Command {
	var out, format string
	var texts bool
	c := &cobra.Command{
		Use: "export STUDY --out DIR", Short: "Write the rows of a study under pseudonyms into a new folder", Args: exactArgs(1),
		Long: "Writes tables as CSV or Parquet, datapackage.json, a REDCap data dictionary, loaders for Python and R, the CONSORT figures and a manifest.\n" +
			"Without --texts the files hold no texts of people. The export is recorded in the audit; arms need allocation:read, the table of the audit audit:read.",
	}
	c.Flags().StringVarP(&out, "out", "o", "", "folder to write, which must not exist")
	c.Flags().StringVar(&format, "format", string(export.FormatCSV), formatFlag)
	c.Flags().BoolVar(&texts, "texts", false, textsFlag)
	c.RunE = func(c *cobra.Command, args []string) error {
		if out == "" {
			return usageError{errors.New("--out is needed")}
		}
		as, err := parseFormat(format)
		if err != nil {
			return err
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		progress := p.newMeter("bytes")
		defer progress.endPart()
		return commands.ExportStudy(c.Context(), StudyExport{Study: args[0], Folder: out, Format: as, Texts: texts},
			func(done, of int64) { progress.setProgress("export", done, of) })
	}
	return c
}

// What the help says of the flags that say what an export holds.
const (
	formatFlag = "files of the tables: csv, parquet or both"
	textsFlag  = "messages with their words, numbers and addresses masked; needs personal:read"
)

func parseFormat(flag string) (export.Format, error) {
	format, err := export.ParseFormat(flag)
	if err != nil {
		return format, usageError{fmt.Errorf("--format: %w", err)}
	}
	return format, nil
}
