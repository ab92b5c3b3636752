package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

func (p *program) auditCommand() *cobra.Command {
	return groupCommand("audit", "Show who did what to whom, and check that the record is whole",
		p.auditList(), p.plain("verify", "Check that no row of the audit was changed or taken out", (*Commands).VerifyAudit), p.auditExport())
}

// auditFlags adds the flags that select rows. read returns what they select.
func auditFlags(c *cobra.Command) (read func() (AuditFilter, error)) {
	var f AuditFilter
	var since, until string
	flags := c.Flags()
	flags.StringVar(&f.Participant, "participant", "", "only rows about the participant with this id")
	flags.StringVar(&f.Actor, "actor", "", "only rows of this actor, such as user:ada or token:redcap")
	flags.StringVar(&f.Action, "action", "", "only rows of this action, such as update")
	flags.StringVar(&since, "since", "", "only rows from then on: date, local time or instant")
	flags.StringVar(&until, "until", "", "only rows before then")
	return func() (AuditFilter, error) {
		for _, bound := range []struct {
			flag, text string
			to         *time.Time
		}{{"since", since, &f.Since}, {"until", until, &f.Until}} {
			if bound.text == "" {
				continue
			}
			at, err := parseInstant(bound.text, time.Now())
			if err != nil {
				return f, usageError{fmt.Errorf("--%s: %w", bound.flag, err)}
			}
			*bound.to = at
		}
		return f, nil
	}
}

func (p *program) auditList() *cobra.Command {
	var limit int
	c := &cobra.Command{Use: "list", Short: "Print the audit, newest first", Args: exactArgs(0)}
	read := auditFlags(c)
	c.Flags().IntVar(&limit, "limit", 50, "newest rows to print, at most 200")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if limit < 1 || limit > 200 {
			return usageError{errors.New("--limit must be between 1 and 200")}
		}
		filter, err := read()
		if err != nil {
			return err
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ListAudit(c.Context(), filter, limit)
	}
	return c
}

func (p *program) auditExport() *cobra.Command {
	var out, format string
	c := &cobra.Command{
		Use: "export", Short: "Write the audit as a table or as lines of JSON, newest first", Args: exactArgs(0),
		Long: "Writes all rows that the flags select as CSV, or with --json or --format jsonl as a JSON object on each line.\n" +
			"The export is recorded in the audit.",
	}
	read := auditFlags(c)
	c.Flags().StringVarP(&out, "out", "o", "", "file to write, which must not exist; empty: standard output")
	c.Flags().StringVar(&format, "format", "csv", "csv or jsonl")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if p.json {
			format = "jsonl"
		}
		if format != "csv" && format != "jsonl" {
			return usageError{errors.New("--format must be csv or jsonl")}
		}
		filter, err := read()
		if err != nil {
			return err
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		if out == "" {
			return commands.ExportAudit(c.Context(), filter, format, p.out)
		}
		var file bytes.Buffer
		if err := commands.ExportAudit(c.Context(), filter, format, &file); err != nil {
			return err
		}
		return writeNew(out, file.Bytes())
	}
	return c
}

// plain is a command without arguments.
func (p *program) plain(use, short string, run func(*Commands, context.Context) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: exactArgs(0), RunE: func(c *cobra.Command, _ []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return run(commands, c.Context())
	}}
}

// onArgument is a command with one argument that names no participant.
func (p *program) onArgument(use, short string, run func(*Commands, context.Context, string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: exactArgs(1), RunE: func(c *cobra.Command, args []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return run(commands, c.Context(), args[0])
	}}
}
