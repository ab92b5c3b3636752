package api

// Setting is one setting of the starter that answered. Secrets are masked.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// InForce says what a value that is empty or 0 means.
	InForce string `json:"in_force,omitempty" doc:"What a value that is empty or 0 means, such as off."`
	Source  string `json:"source" doc:"default, environment, file or profile."`
	// Meaning is one line; docs/configuration.md says the same.
	Meaning string `json:"meaning"`
}

// Describe shows the value, and where it is empty or 0 what is in force.
func (s Setting) Describe() string {
	switch {
	case s.InForce == "":
		return s.Value
	case s.Value == "" || s.Value == "[]":
		return s.InForce
	}
	return s.Value + " (" + s.InForce + ")"
}

// PromptPage is a playbook or a focus: a page of prompts with a name.
type PromptPage struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// WorkerBuild is a build of workers that Temporal knows.
type WorkerBuild struct {
	Build   string `json:"build"`
	Current bool   `json:"current" doc:"New runs go to it."`
	State   string `json:"state" enum:",draining,drained" doc:"draining: open runs are still pinned to it; drained: it may be stopped."`
}

// Settings is what the starter that answered runs with.
type Settings struct {
	Version       string        `json:"version"`
	PromptVersion string        `json:"prompt_version" doc:"Hash over the prompts that the starter sees, as turns record it; empty where it cannot read them."`
	Playbooks     []PromptPage  `json:"playbooks" nullable:"false" doc:"What the model may read while it answers."`
	Focuses       []PromptPage  `json:"focuses" nullable:"false" doc:"What coaching may be about, of COACH_FOCUSES and COACH_PROMPTS_DIR."`
	Tools         []string      `json:"tools" nullable:"false" doc:"What the coach may call; tools of MCP servers as they are allowed."`
	Workspace     []string      `json:"workspace" nullable:"false" doc:"Files of COACH_PROMPTS_DIR that are added to the persona, and HEARTBEAT."`
	Memory        string        `json:"memory" doc:"When facts are kept: after a reply, before it, or off."`
	Settings      []Setting     `json:"settings" nullable:"false"`
	Workers       []WorkerBuild `json:"workers" nullable:"false" doc:"Builds of workers; empty where workers have no versions or Temporal did not answer."`
}

// Check is one finding about the installation.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Warning says that nothing failed and that Detail should be mended.
	Warning bool   `json:"warning,omitempty" doc:"Nothing failed, but the detail says what should be set before people take part."`
	Detail  string `json:"detail,omitempty"`
}

// CheckList is what coachline doctor finds, as seen from the starter.
type CheckList struct {
	Checks []Check `json:"checks" nullable:"false"`
}
