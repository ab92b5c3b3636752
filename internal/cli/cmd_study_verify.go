package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"coachline/internal/api"
)

func (p *program) studyVerify() *cobra.Command {
	var local LocalCheck
	c := &cobra.Command{
		Use: "verify STUDY", Short: "Draw every allocation again, check the decision points, and name the first row that is not right", Args: exactArgs(1),
		Long: "The server checks the record, the arms of its people and the decision points. With --seed-file this machine checks the\n" +
			"record, and trusts the server with nothing but the study's settings; --record takes a record that was saved with study\n" +
			"allocations --json.\n" +
			"The exit code is 1 when a row is not right.",
	}
	c.Flags().StringVar(&local.SeedFile, "seed-file", "", "file with the study's seed, as study seed prints it")
	c.Flags().StringVar(&local.RecordFile, "record", "", "file with the record; needs --seed-file")
	c.RunE = func(c *cobra.Command, args []string) error {
		if local.RecordFile != "" && local.SeedFile == "" {
			return usageError{errors.New("--record needs --seed-file")}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.VerifyAllocations(c.Context(), args[0], local)
	}
	return c
}

func (p *program) studyAllocate() *cobra.Command {
	var strata []string
	c := &cobra.Command{
		Use: "allocate STUDY PARTICIPANT", Short: "Draw the arm of a person whose strata are now known", Args: exactArgs(2),
		Long: "The arm is not shown. A person who is enrolled with all strata known is allocated at once.",
	}
	c.Flags().StringArrayVar(&strata, "stratum", nil, "NAME=LEVEL; for each stratum that is no field of the person")
	c.RunE = func(c *cobra.Command, args []string) error {
		body := api.NewAllocation{ParticipantID: args[1]}
		var err error
		if body.Strata, err = parseStrata(strata); err != nil {
			return err
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.AllocateParticipant(c.Context(), args[0], body)
	}
	return c
}

// parseStrata reads what --stratum was given; nil for nothing.
func parseStrata(given []string) (map[string]string, error) {
	var strata map[string]string
	for _, text := range given {
		name, level, found := strings.Cut(text, "=")
		if !found {
			return nil, usageError{errors.New("--stratum must be NAME=LEVEL")}
		}
		if strata == nil {
			strata = map[string]string{}
		}
		strata[name] = level
	}
	return strata, nil
}
