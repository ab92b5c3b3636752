package llm

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

// template is a server whose chat template takes some roles only; it notes the roles
// that it was sent.
func template(t *testing.T, status int, refuses func(roles string) string) (*Client, *[]string) {
	var log []string
	return client(t, func(w http.ResponseWriter, r *http.Request) {
		var sent struct {
			Messages []struct{ Role, Content string }
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
		var roles []string
		for _, m := range sent.Messages {
			roles = append(roles, m.Role)
		}
		all := strings.Join(roles, " ")
		log = append(log, all)
		if all == "user" {
			assert.Equal(t, "be brief\n\nhi", sent.Messages[0].Content)
		}
		if why := refuses(all); why != "" {
			answers(status, why)(w, r)
			return
		}
		answers(200, ok)(w, r)
	}, nil), &log
}

func TestRolesThatAreRefused(t *testing.T) {
	plain := models.ChatRequest{Model: "m", Messages: []models.ChatMessage{{Role: "system", Content: "be brief"}, {Role: "user", Content: "hi"}}}
	used := plain
	used.Messages = append(plain.Messages[:2:2],
		models.ChatMessage{Role: "assistant", ToolCalls: []models.ToolCall{{ID: "a", Name: "save", Arguments: "{}"}}},
		models.ChatMessage{Role: "tool", ToolCallID: "a", Content: "ok"})
	when := func(role, why string) func(string) string {
		return func(roles string) string {
			if strings.Contains(roles, role) {
				return why
			}
			return ""
		}
	}
	for _, test := range []struct {
		name    string
		status  int
		refuses func(string) string
		in      models.ChatRequest
		want    []string
		class   models.ModelErrorClass // empty for an answer
	}{
		{"no system role", 400, when("system", `{"object":"error","message":"System role not supported","code":400}`), plain, []string{"system user", "user"}, ""},
		{"named by Gemma's server", 400, when("system", `{"error":{"message":"Developer instruction is not enabled for models/gemma-3"}}`), plain, []string{"system user", "user"}, ""},
		{"raised by a template", 500, when("system", `{"error":{"code":500,"message":"Value is not callable: Conversation roles must alternate user/assistant/user/assistant/..."}}`), plain, []string{"system user", "user"}, ""},
		{"the results of tools are in the way", 400, when("tool", `{"message":"Conversation roles must alternate user/assistant/user/assistant/..."}`), used,
			[]string{"system user assistant tool", "user assistant tool"}, models.ModelNoTools},
		{"in any order", 400, when("user", `{"message":"Conversation roles must alternate"}`), plain, []string{"system user", "user"}, models.ModelRefused},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, log := template(t, test.status, test.refuses)
			_, err := c.Complete(t.Context(), test.in)
			if test.class != "" {
				require.Equal(t, test.class, modelError(t, err).Class)
				require.Equal(t, test.want, *log)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, *log)
			_, err = c.Complete(t.Context(), test.in)
			require.NoError(t, err)
			require.Len(t, *log, 3, "it is remembered")
		})
	}
}
