package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func callOf(name, arguments string) models.ToolCall {
	return models.ToolCall{ID: "c1", Name: name, Arguments: arguments}
}

func TestCallKey(t *testing.T) {
	tests := []struct {
		name, a, b string
		equal      bool
	}{
		{"other order", `{"a":1,"b":{"c":2,"d":3}}`, `{ "b":{"d":3,"c":2}, "a":1 }`, true},
		{"the case of a value matters", `{"a":"Leeds"}`, `{"a":"leeds"}`, false},
		{"the case of a key matters", `{"a":1}`, `{"A":1}`, false},
		{"order in a list matters", `{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{"no arguments", ``, `{}`, true},
		{"long numbers", `{"a":12345678901234567890}`, `{"a":12345678901234567891}`, false},
		{"no JSON", `{"a":`, ` {"a": `, true},
		{"two values", `{} {}`, `{}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.equal, CallKey(callOf("x", tt.a)) == CallKey(callOf("x", tt.b)))
		})
	}
	require.NotEqual(t, CallKey(callOf("x", "{}")), CallKey(callOf("y", "{}")))
}

func TestScreenRepeats(t *testing.T) {
	leeds := callOf("search", `{"town":"Leeds","day":1}`)
	direct := failing("search", `{"town":"Leeds","day":1}`, "no")
	direct.Direct = true
	silent := done("search", `{"town":"Leeds","day":1}`)
	silent.Result.Content = " "
	others := func(n int) []Past {
		var out []Past
		for i := range n {
			out = append(out, done("search", fmt.Sprintf(`{"n":%d}`, i)))
		}
		return out
	}
	seen := done("search", `{"day":1,"town":"Leeds"}`)
	tests := []struct {
		name string
		call models.ToolCall
		past []Past
		want Reason
	}{
		{"first call", leeds, nil, ReasonNone},
		{"same arguments in another order", leeds, []Past{seen}, ReasonDuplicate},
		{"another value", callOf("search", `{"town":"leeds","day":1}`), []Past{seen}, ReasonNone},
		{"a call that failed may be repeated", leeds, []Past{failing("search", `{"town":"Leeds","day":1}`, "no")}, ReasonNone},
		{"a call without an answer may be repeated", leeds, []Past{silent}, ReasonNone},
		{"direct execution always counts", leeds, []Past{direct}, ReasonDuplicate},
		{"the fifth call back", leeds, append([]Past{seen}, others(4)...), ReasonDuplicate},
		{"the sixth call back", leeds, append([]Past{seen}, others(5)...), ReasonNone},
		{"calls that failed are not counted", leeds, append([]Past{seen}, failing("search", "{}", "a"), failing("search", "{}", "b"),
			failing("search", "{}", "c"), failing("search", "{}", "d"), failing("search", "{}", "e")), ReasonDuplicate},
		{"three different searches", callOf("search", `{"n":"third"}`), others(2), ReasonNone},
		{"a tool used often is no repeat", callOf("search", `{"n":"fifth"}`), others(4), ReasonNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Screen(tt.call, ScreenInput{Allowed: []string{"search"}, Past: tt.past, Limits: Limits{Calls: 9, Searches: 3}})
			require.Equal(t, tt.want, got.Reason)
			require.Equal(t, tt.want == ReasonNone, got.Message == "")
		})
	}
}

func TestScreenLimits(t *testing.T) {
	allowed := []string{"a", "b", "c", "d", "e", "f", "find"}
	calls := func(name string, n int) []Past {
		var out []Past
		for i := range n {
			out = append(out, done(name, fmt.Sprintf(`{"n":%d}`, i)))
		}
		return out
	}
	tests := []struct {
		name string
		tool string
		past []Past
		want Reason
	}{
		{"unknown tool", "zap", nil, ReasonNotAllowed},
		{"the fifth call", "a", calls("b", 4), ReasonNone},
		{"the sixth call", "a", calls("b", 5), ReasonCalls},
		{"the third search", "find", calls("find", 2), ReasonNone},
		{"the fourth search", "find", calls("find", 3), ReasonSearches},
		{"searches do not use up calls", "a", append(calls("find", 3), calls("b", 4)...), ReasonNone},
		{"calls do not use up searches", "find", calls("b", 5), ReasonNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := ScreenInput{Allowed: allowed, Search: "find", Past: tt.past, Limits: Limits{Calls: 5, Searches: 3}}
			require.Equal(t, tt.want, Screen(callOf(tt.tool, "{}"), in).Reason)
		})
	}
	t.Run("without a tool search its limit bounds nothing", func(t *testing.T) {
		in := ScreenInput{Allowed: []string{""}, Limits: Limits{Calls: 5}}
		require.Equal(t, ReasonNone, Screen(callOf("", "{}"), in).Reason)
	})
}

func TestBroken(t *testing.T) {
	no := func(words string) Past { return failing("a", "{}", words) }
	tests := []struct {
		name string
		past []Past
		want []string
	}{
		{"the same error three times", []Past{no("x"), no("x"), no("x")}, []string{"a"}},
		{"with others between", []Past{no("x"), done("b", "{}"), no(" x\n"), no("y"), no("x")}, []string{"a"}},
		{"twice", []Past{no("x"), no("x")}, nil},
		{"different errors", []Past{no("x"), no("y"), no("z")}, nil},
		{"a success starts anew", []Past{no("x"), no("x"), done("a", "{}"), no("x")}, nil},
		{"different tools", []Past{no("x"), no("x"), failing("b", "{}", "x")}, nil},
		{"four times is named once", []Past{no("x"), no("x"), no("x"), no("x")}, []string{"a"}},
		{"none", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Broken(tt.past))
			in := ScreenInput{Allowed: []string{"a"}, Past: tt.past, Limits: Limits{Calls: 9}}
			require.Equal(t, len(tt.want) > 0, Screen(callOf("a", `{"new":1}`), in).Reason == ReasonBroken)
		})
	}
}

func TestRefusals(t *testing.T) {
	broken := []Past{failing("a", "{}", "x"), failing("a", "{}", "x"), failing("a", "{}", "x")}
	all := []string{"a", "b", "c", "d", "e", "f", "find"}
	searches := []Past{done("find", `{"n":1}`), done("find", `{"n":2}`), done("find", `{"n":3}`)}
	calls := []Past{done("b", `{"n":1}`), done("b", `{"n":2}`), done("b", `{"n":3}`)}
	var out []string
	for _, one := range []struct {
		call models.ToolCall
		in   ScreenInput
	}{
		{callOf("zap", "{}"), ScreenInput{Allowed: all}},
		{callOf("zap", "{}"), ScreenInput{}},
		{callOf(strings.Repeat("z", 300), "{}"), ScreenInput{Allowed: all[:1]}},
		{callOf("a", "{}"), ScreenInput{Allowed: all, Past: broken}},
		{callOf("b", `{"n":2}`), ScreenInput{Allowed: all, Past: calls, Limits: Limits{Calls: 5, Searches: 3}}},
		{callOf("find", "{}"), ScreenInput{Allowed: all, Search: "find", Past: searches, Limits: Limits{Calls: 5, Searches: 3}}},
		{callOf("a", "{}"), ScreenInput{Allowed: all, Past: calls, Limits: Limits{Calls: 3}}},
	} {
		refusal := Screen(one.call, one.in)
		out = append(out, string(refusal.Reason)+": "+refusal.Message)
	}
	golden(t, "refusals", strings.Join(out, "\n"))
}
