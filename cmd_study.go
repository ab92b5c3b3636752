package main

import "github.com/spf13/cobra"

func (p *program) studyCommand() *cobra.Command {
	return groupCommand("study", "Studies", p.studyRehearse())
}
