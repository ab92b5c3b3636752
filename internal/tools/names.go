package tools

import "slices"

// Names lists every tool that an installation can have, those that an operator
// turns on included, sorted. A study may leave out any of them.
func Names() []string {
	names := []string{
		"transition_state", "save_user_profile", "scheduler", "generate_habit_prompt",
		"search_memory", "list_memories", "forget_memory", stopTool, searchTool, readTool,
		"spawn", "subagent", "message", "web_search", "web_fetch",
	}
	slices.Sort(names)
	return names
}
