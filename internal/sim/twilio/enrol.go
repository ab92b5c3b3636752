package twilio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxAnswer is far above any answer of the participants API.
const maxAnswer = 1 << 20

// enrolment is what the participants API takes.
type enrolment struct {
	Phone    string `json:"phone_number"`
	Name     string `json:"name,omitempty"`
	Timezone string `json:"timezone,omitempty"`
	// Signup: the person behind the phone asks for it themselves.
	Signup bool `json:"signup"`
}

// enrolled is what the participants API answers, as far as the page shows it.
type enrolled struct {
	Message string `json:"message"`
	Result  struct {
		Phone string `json:"phone_number"`
	} `json:"result"`
}

// enrol enrols the person behind a phone through the participants API, with the
// simulator's token, and gives them the phone. An answer that refuses is passed
// on with its status and the API's own message.
func (s *Server) enrol(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Number   string `json:"number"`
		Name     string `json:"name"`
		Timezone string `json:"timezone"`
	}
	if !readJSON(w, r, &ask) {
		return
	}
	if s.cfg.ParticipantsURL == "" {
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"error": "no address for enrolments is configured"})
		return
	}
	status, answer, err := s.askToEnrol(r.Context(), enrolment{Phone: ask.Number, Name: ask.Name, Timezone: ask.Timezone, Signup: true})
	if err != nil {
		s.cfg.Logger.Error("enrolling from the phone page failed", "error", err)
		writeJSON(w, http.StatusBadGateway, map[string]string{"error": "the participants API does not answer; see whether it runs, and try again"})
		return
	}
	if status != http.StatusCreated {
		writeJSON(w, status, map[string]string{"error": answer.Message})
		return
	}
	s.network.mu.Lock()
	err = s.network.record(entry{Phone: answer.Result.Phone})
	s.network.mu.Unlock()
	if err != nil {
		s.reportFailure(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, map[string]string{"number": answer.Result.Phone, "message": answer.Message})
}

// askToEnrol posts to the participants API. An error means that there was no
// answer that can be read.
func (s *Server) askToEnrol(ctx context.Context, e enrolment) (status int, answer enrolled, err error) {
	body, err := json.Marshal(e)
	if err != nil {
		return 0, enrolled{}, fmt.Errorf("writing an enrolment: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.ParticipantsURL, bytes.NewReader(body))
	if err != nil {
		return 0, enrolled{}, fmt.Errorf("asking for an enrolment: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if s.cfg.APIToken != "" {
		req.Header.Set("Authorization", "Bearer "+s.cfg.APIToken)
	}
	resp, err := s.cfg.HTTPClient.Do(req)
	if err != nil {
		return 0, enrolled{}, fmt.Errorf("asking for an enrolment: %w", err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&answer); err != nil {
		return 0, enrolled{}, fmt.Errorf("reading the answer %d to an enrolment: %w", resp.StatusCode, err)
	}
	if resp.StatusCode == http.StatusCreated && answer.Result.Phone == "" {
		return 0, enrolled{}, errors.New("the answer to an enrolment names no number")
	}
	return resp.StatusCode, answer, nil
}
