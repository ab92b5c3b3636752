package starter

import (
	"net/http"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// What would be read as something else than it says is refused, with what to do.
func TestStrictRequests(t *testing.T) {
	h := start(t, nil)
	one := participantsPath + "/" + h.ann().ID
	for _, tt := range []struct {
		call   call
		status int
		says   string
	}{
		{call{method: "PUT", path: one, body: `{"name":null}`}, http.StatusBadRequest, "name is null; leave it out, or clear it with PATCH"},
		{call{method: "PUT", path: one, body: `{}`}, http.StatusOK, "Nothing was changed"},
		{call{method: "PATCH", path: one, body: `{}`, header: map[string]string{"Content-Type": mergePatchType}}, http.StatusOK, "Nothing was changed"},
		{call{method: "PUT", path: one, body: `{"name":"Ann"}`, header: map[string]string{"Content-Type": "APPLICATION/JSON"}}, http.StatusOK, "Participant updated"},
		{call{method: "PUT", path: one, body: `{"name":"Ann"}`, header: map[string]string{"Content-Type": "Application/Json; charset=utf-8"}}, http.StatusOK, "Participant updated"},
		{call{method: "PUT", path: one, body: `{"name":"Ann"}`, header: map[string]string{"Content-Encoding": "gzip"}}, http.StatusUnsupportedMediaType, "Content-Encoding"},
		{call{method: "PUT", path: one, body: `{"name":"Ann"}`, header: map[string]string{"Content-Encoding": "Identity"}}, http.StatusOK, "Participant updated"},
		{call{method: "GET", path: participantsPath + "?limit="}, http.StatusBadRequest, "limit: must not be empty"},
		{call{method: "GET", path: "/people?due_from="}, http.StatusBadRequest, "due_from: must not be empty"},
		{call{method: "GET", path: "/people?unreachable="}, http.StatusBadRequest, "unreachable: must not be empty"},
		{call{method: "GET", path: "/people?name="}, http.StatusOK, ""},
	} {
		t.Run(tt.call.method+" "+tt.call.path+" "+tt.call.body, func(t *testing.T) {
			got := h.do(tt.call)
			require.Equal(t, tt.status, got.status, got.raw)
			require.Contains(t, got.raw, tt.says)
		})
	}
}

// A rule that a schema can tell stands in the API document: it refuses what the API
// refuses, and takes what the API takes.
func TestSchemaTellsTheRules(t *testing.T) {
	h := start(t, nil)
	const (
		arms     = `"arms":[{"name":"a","weight":1},{"name":"b","weight":100}],"randomisation":{"method":"blocks","strata":[{"name":"age","levels":["young","old"]}]}`
		thompson = `"decision_points":{"policy":"p","outcome_hours":168,"options":[{"name":"a","probability":0},{"name":"b","probability":0}],"thompson":{"prior":{"a":1,"b":2},"clip":0.4}}`
		join     = `"join":[{"keyword":"walk","locale":"en","about":"A programme about walking.","link":"https://example.org"}]`
	)
	study := func(settings string) string { return `{"id":"walk","name":"Walk","settings":{` + settings + `}}` }
	ann := h.ann().ID
	for _, tt := range []struct {
		route, body string
		good        bool
	}{
		{"/studies", study(arms), true},
		{"/studies", strings.Replace(study(thompson), "walk", "thompson", 1), true},
		{"/studies", strings.Replace(study(join), "walk", "join", 1), true},
		{"/studies", study(strings.Replace(arms, `"weight":1}`, `"weight":0}`, 1)), false},
		{"/studies", study(strings.Replace(arms, `100`, `101`, 1)), false},
		{"/studies", study(strings.Replace(arms, `"blocks"`, `"dice"`, 1)), false},
		{"/studies", study(strings.Replace(arms, `"old"`, `"young"`, 1)), false},
		{"/studies", study(strings.Replace(arms, `,"old"`, ``, 1)), false},
		{"/studies", study(strings.Replace(arms, `"young","old"`, `{"a":1},{"a":2}`, 1)), false},
		{"/studies", study(strings.Replace(arms, `"age"`, `""`, 1)), false},
		{"/studies", study(strings.Replace(thompson, `168`, `169`, 1)), false},
		{"/studies", study(strings.Replace(thompson, `"p"`, `""`, 1)), false},
		{"/studies", study(strings.Replace(thompson, `0.4`, `0.5`, 1)), false},
		{"/studies", study(strings.Replace(thompson, `"a":1`, `"a":0`, 1)), false},
		{"/studies", study(strings.Replace(thompson, `"probability":0}`, `"probability":0.96}`, 1)), false},
		{"/studies", study(strings.Replace(join, `"walk"`, `"w"`, 1)), false},
		{"/studies", study(strings.Replace(join, `https`, `http`, 1)), false},
		{"/studies", study(strings.Replace(join, `"en"`, `""`, 1)), false},
		{"/studies", study(strings.Replace(join, `A programme`, strings.Repeat("a", 160), 1)), false},
		{participantPath + "/messages", `{"body":" \n"}`, false},
		{participantPath + "/attention", `{"clear":false}`, false},
		{participantPath + "/attention", `{"clear":true}`, true},
		{"/webhooks", `{"url":"example.org/events"}`, false},
		{"/webhooks", `{"url":"https://example.org/events"}`, true},
		{"/views", `{"name":" ","query":"waiting=true"}`, false},
		{"/views", `{"name":"Waiting","query":"waiting=true"}`, true},
	} {
		t.Run(tt.route+" "+tt.body, func(t *testing.T) {
			schema, err := h.document().compileSchema("/paths/" + escapePointer(tt.route) + "/post/requestBody/content/application~1json/schema")
			require.NoError(t, err)
			body, err := jsonschema.UnmarshalJSON(strings.NewReader(tt.body))
			require.NoError(t, err)
			got := h.do(call{method: "POST", path: strings.Replace(tt.route, "{id}", ann, 1), body: tt.body})
			if tt.good {
				require.NoError(t, schema.Validate(body))
				require.Less(t, got.status, 300, got.raw)
				return
			}
			require.Error(t, schema.Validate(body))
			require.Equal(t, http.StatusBadRequest, got.status, got.raw)
		})
	}
}
