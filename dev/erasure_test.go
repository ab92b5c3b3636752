package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
)

// TestErasedPersonIsFoundNowhere lets a person go through a conversation, erases
// them, and looks for every word of theirs: tables with sealed columns opened, the
// API, Temporal's histories and lists, the carrier's list, the program's log. It
// does not run beside other tests, because a process has one default logger.
func TestErasedPersonIsFoundNowhere(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	r := launchIn(t, []string{
		"COACH_LOG_LEVEL=debug", "COACH_PREP_TIME=30m", "COACH_PROMPT_SPREAD=0", "COACH_DEBOUNCE=100ms", "COACH_QUIET_HOURS=",
	}, "--data", data)
	p := enrols(t, r, "+12025550143", map[string]any{
		"name": "Thessalonika Quandervoort", "timezone": "America/New_York", "background": "Retired lighthousekeeper from Quixhollow.",
	})
	p.gets(1)
	p.tells("hello there from Wobbegong harbour", 1)
	p.tells("paddleboarding around the breakwater", 1)
	p.operator(http.MethodPost, "/messages", map[string]any{"body": "Operator Peregrine: the boathouse of Wobbegong moved."})
	p.gets(1)

	search := newSearch(p.needles())
	require.NotEmpty(t, search.in(storedPile(t, data)), "the search finds the person before")
	require.NotEmpty(t, search.in(carrierPile(t, r, data)))
	opened := temporalPiles(t, r, data)
	require.Contains(t, string(opened[3].text), p.id)

	p.erased()

	require.Empty(t, search.in(storedPile(t, data)))
	require.Empty(t, search.in(carrierPile(t, r, data)))
	for _, route := range []string{"/history", "/memory/export", "/consents", "/memories", "/turns"} {
		require.Empty(t, search.in(answered(t, p.api(route))), route)
	}
	for _, pile := range temporalPiles(t, r, data) {
		require.NotContains(t, string(pile.text), models.WorkflowID(p.id), pile.name)
		require.Empty(t, search.in(pile.text), pile.name)
	}
	require.NoError(t, r.stop())
	require.Empty(t, search.in([]byte(r.log.String())), "log")
}

// storedPile is what the tables hold, with sealed columns opened.
func storedPile(t *testing.T, data string) []byte {
	t.Helper()
	rows, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + filepath.Join(data, "coachline.db"), Sealer: keyRing(t, data)})
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	var out []byte
	for _, list := range []any{
		&[]models.Participant{}, &[]models.Profile{}, &[]models.Message{}, &[]models.Inbound{}, &[]models.Outbox{}, &[]models.Consent{},
		&[]models.Step{}, &[]models.ToolRun{}, &[]models.Stage{}, &[]models.Fact{}, &[]models.FactVersion{}, &[]models.Note{},
		&[]models.Summary{}, &[]models.AuditRow{}, &[]models.FormerPhone{}, &[]models.Alert{}, &[]models.Erasure{}, &[]models.ScheduleRow{},
	} {
		require.NoError(t, rows.Database().Reader(t.Context()).Find(list).Error)
		out = fmt.Appendf(out, "%+v\n", list)
	}
	return out
}

// carrierPile is what the carrier lists.
func carrierPile(t *testing.T, r *running, data string) []byte {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(data, tokenFile))
	require.NoError(t, err)
	base, err := url.Parse(r.table["Phones"])
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		base.Scheme+"://"+base.Host+"/2010-04-01/Accounts/"+simulatedAccount+"/Messages.json?PageSize=1000", nil)
	require.NoError(t, err)
	request.SetBasicAuth(simulatedAccount, strings.TrimSpace(string(token)))
	return bodyOf(t, request)
}

// answered is the body of an answer, of any status.
func answered(t *testing.T, address string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	return bodyOf(t, request)
}

func bodyOf(t *testing.T, request *http.Request) []byte {
	t.Helper()
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return text
}

// erased has a person erased and waits for the receipt.
func (p *texted) erased() {
	p.t.Helper()
	status, answer := send(p.t, http.MethodPost, p.api("/erase"), map[string]any{"confirm": p.id, "reason": "letter"})
	require.Equal(p.t, http.StatusAccepted, status, answer)
	var receipt struct {
		Result models.Erasure `json:"result"`
	}
	require.Eventually(p.t, func() bool {
		getJSON(p.t, p.r.table["API"]+"/erasures/"+p.id, &receipt)
		return receipt.Result.State == models.ErasureDone
	}, time.Minute, 200*time.Millisecond, "the erasure ends")
	require.Positive(p.t, receipt.Result.Executions)
	require.Equal(p.t, int64(len(p.texts)+1), receipt.Result.CarrierMessages, "with the closing notice")
	require.Zero(p.t, receipt.Result.CarrierUnknown)
	require.Positive(p.t, receipt.Result.Rows["messages"])
}
