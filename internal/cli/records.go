package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"coachline/internal/api"
	"coachline/internal/wrap"
	"coachline/models"
)

// recordVerbs lists the verbs that show what is kept of a participant.
func recordVerbs(p *program) []*cobra.Command {
	return []*cobra.Command{
		participantTurns(p),
		verb("consents ID", "Print the consent ledger, of removed participants too", func(c *cobra.Command, args []string) error {
			return callAndShow(c.Context(), p, request{participant: args[0], path: "/consents"}, renderConsents)
		}),
		participantMemories(p), participantExport(p),
		callCommand(p, "data ID", "Print everything that is held about a person, and how long", func(args []string) request { return request{participant: args[0], path: "/data"} }, renderPersonData),
	}
}

// turnCommand takes the id of a turn, or a participant's and the turn's number.
func turnCommand(p *program) *cobra.Command {
	c := &cobra.Command{
		Use: "turn TURN-ID | turn ID NUMBER", Short: "Print why the coach said what it said",
		Long: "Prints a turn: the texts, every stage with its decision, model calls with their tokens, tools, what was sent.",
	}
	c.Args = func(_ *cobra.Command, args []string) error {
		_, _, err := turnNamed(args)
		return err
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		ref, number, err := turnNamed(args)
		if err != nil {
			return err
		}
		return callAndShow(c.Context(), p, request{participant: ref, path: "/turns/" + strconv.Itoa(number)}, renderTurn)
	}
	return c
}

func turnNamed(args []string) (id string, number int, err error) {
	switch len(args) {
	case 1:
		id, number, ok := models.ParseTurnID(args[0])
		if !ok {
			return "", 0, usageError{fmt.Errorf("%q is not the id of a turn, such as conv_1-t42", args[0])}
		}
		return id, number, nil
	case 2:
		if number, err = strconv.Atoi(args[1]); err != nil || number < 0 {
			return "", 0, usageError{fmt.Errorf("%q is not the number of a turn", args[1])}
		}
		return args[0], number, nil
	}
	return "", 0, usageError{errors.New("want: coachline turn TURN-ID, or coachline turn ID NUMBER")}
}

func participantTurns(p *program) *cobra.Command {
	var limit int
	c := &cobra.Command{Use: "turns ID", Short: "Print the turns, newest first", Args: exactArgs(1)}
	c.Flags().IntVar(&limit, "limit", 20, "newest turns to print")
	c.RunE = func(c *cobra.Command, args []string) error {
		if limit < 1 {
			return usageError{errors.New("--limit must be at least 1")}
		}
		return printTurns(c.Context(), p, args[0], limit)
	}
	return c
}

func participantMemories(p *program) *cobra.Command {
	var fact string
	var all bool
	c := &cobra.Command{Use: "memories ID", Short: "Print what is remembered of a participant, or have it forgotten", Args: exactArgs(1)}
	c.Flags().StringVar(&fact, "forget", "", "erase this fact in all its versions, such as f3")
	c.Flags().BoolVar(&all, "forget-all", false, "erase all facts, the notes and the summary")
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("forget") && (all || fact == "") {
			return usageError{errors.New("--forget needs the id of a fact, and goes without --forget-all")}
		}
		if all || fact != "" {
			path := "/memories"
			if fact != "" {
				path += "/" + url.PathEscape(fact)
			}
			return callAndShow(c.Context(), p, request{method: http.MethodDelete, participant: args[0], path: path}, func(w io.Writer, f api.Forgotten) error {
				text := "Forgotten: " + fact + "."
				if fact == "" {
					text = fmt.Sprintf("Forgotten: %d facts, the notes and the summary.", f.Facts)
				}
				_, err := fmt.Fprintln(w, text)
				return err
			})
		}
		return printMemories(c.Context(), p, args[0])
	}
	return c
}

func participantExport(p *program) *cobra.Command {
	var out string
	c := &cobra.Command{Use: "export ID", Short: "Write what is remembered of a participant as files in a zip archive", Args: exactArgs(1)}
	c.Flags().StringVarP(&out, "out", "o", "", "file to write, which must not exist; empty: standard output, which must not be a terminal")
	c.RunE = func(c *cobra.Command, args []string) error {
		if out == "" && isTerminal(p.out) {
			return usageError{errors.New("the archive is not written to a terminal; name a file with -o memory.zip, or redirect the output")}
		}
		progress := p.newMeter("bytes")
		defer progress.endPart()
		archive, err := p.client.downloadFile(c.Context(), request{
			participant: args[0], path: "/memory/export", progress: func(done, of int64) { progress.setProgress("export", done, of) },
		})
		if err != nil {
			return err
		}
		if out != "" {
			return writeNew(out, archive)
		}
		_, err = p.out.Write(archive)
		return err
	}
	return c
}

// renderPersonData prints each table under what it is, and each row as its values.
func renderPersonData(w io.Writer, data api.PersonData) error {
	var out strings.Builder
	fmt.Fprintf(&out, "What is held about %s, %s\n", data.ParticipantID, formatInstant(data.At))
	for _, table := range data.Tables {
		fmt.Fprintf(&out, "\n%s (%s)\nKept %s.\n", table.Holds, table.Name, table.Kept)
		for i, row := range table.Rows {
			fmt.Fprintf(&out, "\n  %d of %d\n", i+1, len(table.Rows))
			for _, name := range slices.Sorted(maps.Keys(row)) {
				fmt.Fprintf(&out, "  %s: %s\n", strings.ReplaceAll(name, "_", " "), strings.ReplaceAll(replaceControls(row[name]), "\n", "\n    "))
			}
		}
	}
	out.WriteString("\nElsewhere\n")
	for _, note := range data.Notes {
		fmt.Fprintf(&out, "  %s\n", note)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// isTerminal reports whether output is shown to a person.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// writeNew writes a file of personal data that only the current user may read.
func writeNew(path string, raw []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("creating the file: %w", err)
	}
	_, err = file.Write(raw)
	return wrap.Error(errors.Join(err, file.Close()), "writing the file")
}

func printMemories(ctx context.Context, p *program, id string) error {
	return callAndShow(ctx, p, request{participant: id, path: "/memories"}, renderMemories)
}

func renderMemories(w io.Writer, m api.Memory) error {
	p := &printer{w: w}
	if len(m.Facts)+len(m.Notes) == 0 && m.Summary.Text == "" {
		p.writeLine("Nothing is remembered.")
		return p.err
	}
	if len(m.Facts) > 0 {
		rows := [][]string{{"FACT", "VERSION", "KIND", "STORED", "TURN", "TEXT"}}
		for _, f := range m.Facts {
			rows = append(rows, []string{f.ID, fmt.Sprint(f.Version), string(f.Kind), formatInstant(f.UpdatedAt), f.TurnID, f.Text})
			for _, old := range f.Before {
				rows = append(rows, []string{"  before", fmt.Sprint(old.Version), string(old.Kind), formatInstant(old.At), old.TurnID, old.Text})
			}
		}
		p.writeTable(rows)
	}
	for _, note := range m.Notes {
		p.writeBlock("\nNOTE "+replaceControls(note.LocalDate), note.Text)
	}
	p.writeBlock("\nSUMMARY", m.Summary.Text)
	return p.err
}

func renderConsents(w io.Writer, list []models.Consent) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "The ledger has no entry.")
		return err
	}
	rows := [][]string{{"AT", "ACTION", "METHOD", "BY", "TEXT"}}
	for _, c := range list {
		rows = append(rows, []string{formatInstant(c.At), string(c.Action), string(c.Method), writtenBy(c), cmp.Or(c.Text, "-")})
	}
	return writeTable(w, rows)
}

// writtenBy names who an entry of the ledger is by, and who brought a text of the chat.
func writtenBy(c models.Consent) string {
	if c.Caller == "" {
		return c.RecordedBy
	}
	return fmt.Sprintf("%s (%s, %s)", c.RecordedBy, c.Channel, c.Caller)
}
