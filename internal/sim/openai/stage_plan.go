package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	replyOnly    = "Reply to the user."
	topicWords   = 6
	defaultPicks = 5
)

// route names the tools that the coach would call, and then those whose names
// and descriptions share words with the text.
func (a stageAsk) route() string {
	list := a.tools()
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) && slices.ContainsFunc(list, func(t tool) bool { return t.name == name }) {
			names = append(names, name)
		}
	}
	for _, call := range a.Intend(a.lastCoachText(), a.User) {
		add(call.Name)
	}
	score := func(t tool) int { return sharedWords(a.User, strings.ReplaceAll(t.name, "_", " ")+" "+t.description) }
	slices.SortStableFunc(list, func(x, y tool) int { return cmp.Compare(score(y), score(x)) })
	for _, t := range list {
		if score(t) > 0 {
			add(t.name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names[:min(len(names), a.limit(defaultPicks))], ", ")
}

// plan is a step for each call that the coach would make, after a search where
// the text asks about what was said before.
func (a stageAsk) plan() string {
	list := a.tools()
	var steps []string
	for _, call := range a.Intend(a.lastCoachText(), a.User) {
		known := slices.ContainsFunc(list, func(t tool) bool { return t.name == call.Name })
		if known && call.Args != nil {
			steps = append(steps, stepText(call))
		}
	}
	last := "Tell the person what came of it."
	if asksEarlier(a.User) || len(steps) == 0 && ofTheirs.MatchString(a.User) {
		steps = slices.Insert(steps, 0, strings.TrimSpace("searchMemory "+argument("topic", topic(a.User, topicWords))))
		last = "Answer the person from what they said before."
	}
	if len(steps) == 0 {
		return replyOnly
	}
	steps = steps[:min(len(steps), a.limit(defaultPicks)-1)]
	return strings.Join(append(steps, last), "\n")
}

// stepText is a call as a step of a plan.
func stepText(call stageCall) string {
	parts := []string{call.Name}
	for _, key := range slices.Sorted(maps.Keys(call.Args)) {
		parts = append(parts, argument(key, fmt.Sprint(call.Args[key])))
	}
	return strings.Join(parts, " ")
}

// argument is key='value', in double quotes where the value holds a single
// one. Angle brackets would make a placeholder of it.
func argument(key, value string) string {
	value = strings.NewReplacer("<", "(", ">", ")", `"`, "'").Replace(strings.Join(strings.Fields(value), " "))
	if strings.Contains(value, "'") {
		return key + `="` + value + `"`
	}
	return key + "='" + value + "'"
}

// resolve turns a step into JSON of a call: "null" where no tool is meant or
// something is not known.
func (a stageAsk) resolve() string {
	name, rest, _ := strings.Cut(strings.TrimSpace(a.User), " ")
	list := a.tools()
	at := slices.IndexFunc(list, func(t tool) bool { return t.name == strings.TrimRight(name, ":,.") })
	if at < 0 {
		return a.intendedCall(list)
	}
	args := map[string]any{}
	for key, value := range pairs(rest, list[at]) {
		if strings.Contains(value, "<") && strings.Contains(value, ">") {
			found, ok := a.result(key)
			if !ok {
				return "null"
			}
			value = found
		}
		args[key] = list[at].properties[key].asType(value)
	}
	return encode(map[string]any{"name": list[at].name, "arguments": args})
}

// intendedCall is the call that a step in plain words asks for.
func (a stageAsk) intendedCall(list []tool) string {
	for _, call := range a.Intend("", a.User) {
		known := slices.ContainsFunc(list, func(t tool) bool { return t.name == call.Name })
		if known && call.Args != nil {
			return encode(map[string]any{"name": call.Name, "arguments": call.Args})
		}
	}
	return "null"
}

var key = regexp.MustCompile(`(?:^|[\s,;(])([A-Za-z_]\w*)\s*=\s*`)

// pairs reads arguments. Only names that the schema has begin one, so that a
// value may hold quotes and equals signs.
func pairs(text string, of tool) map[string]string {
	var heads [][]int
	for _, head := range key.FindAllStringSubmatchIndex(text, -1) {
		if _, known := of.properties[text[head[2]:head[3]]]; known {
			heads = append(heads, head)
		}
	}
	out := map[string]string{}
	for i, head := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		value := strings.Trim(text[head[1]:end], " ,;)\u2026")
		if quote := value[:min(1, len(value))]; quote == "'" || quote == `"` {
			value = strings.TrimSuffix(value[1:], quote)
		}
		out[text[head[2]:head[3]]] = strings.TrimSpace(value)
	}
	return out
}

// asType is a value of the type that the schema asks for, or else the text.
func (p property) asType(value string) any {
	kind := string(p.Type)
	switch {
	case strings.Contains(kind, `"integer"`), strings.Contains(kind, `"number"`):
		if json.Valid([]byte(value)) {
			return json.Number(value)
		}
	case strings.Contains(kind, `"boolean"`):
		if yes, err := strconv.ParseBool(value); err == nil {
			return yes
		}
	case strings.Contains(kind, `"array"`):
		parts := strings.Split(strings.Trim(value, "[]"), ",")
		for i := range parts {
			parts[i] = strings.Trim(parts[i], ` '"`)
		}
		return parts
	}
	return value
}

// result finds what an argument asks for among the results so far, newest
// first: by its name, or by the last part of it ("id" for "schedule_id").
func (a stageAsk) result(name string) (string, bool) {
	short := name[strings.LastIndex(name, "_")+1:]
	for _, item := range slices.Backward(a.items("Results so far")) {
		at := strings.IndexAny(item, "{[")
		if at < 0 {
			continue
		}
		var value any
		if json.NewDecoder(strings.NewReader(item[at:])).Decode(&value) != nil {
			continue
		}
		for _, field := range []string{name, short} {
			if found, ok := lookup(value, field); ok {
				return found, true
			}
		}
	}
	return "", false
}

// lookup finds the first text or number of that name in a JSON value; the
// fields of an object are visited by name, so that the answer is always one.
func lookup(value any, field string) (string, bool) {
	switch v := value.(type) {
	case map[string]any:
		switch direct := v[field].(type) {
		case string, float64:
			return fmt.Sprint(direct), true
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if found, ok := lookup(v[name], field); ok {
				return found, true
			}
		}
	case []any:
		for _, one := range v {
			if found, ok := lookup(one, field); ok {
				return found, true
			}
		}
	}
	return "", false
}
