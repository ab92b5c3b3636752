package twilio

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

func (s *Server) listPhones(w http.ResponseWriter, _ *http.Request) {
	views, scripted := s.network.phoneViews()
	answer := map[string]any{"phones": views, "coach": s.cfg.From, "script": "", "enrolment": s.cfg.ParticipantsURL != ""}
	if scripted {
		answer["script"] = scriptNote
	}
	writeJSON(w, http.StatusOK, answer)
}

func (s *Server) addPhone(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Number string `json:"number"`
	}
	if !readJSON(w, r, &ask) || !s.isUsable(w, ask.Number) {
		return
	}
	s.network.mu.Lock()
	err := s.network.record(entry{Phone: ask.Number})
	s.network.mu.Unlock()
	if err != nil {
		s.reportFailure(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, map[string]string{"number": ask.Number})
}

// isUsable answers 400 and false unless the number can be a handset's.
func (s *Server) isUsable(w http.ResponseWriter, number string) bool {
	switch {
	case !e164.MatchString(number):
		badField(w, "number", "want + and country code, then 6 to 14 digits, such as +15551230001")
	case number == s.cfg.From:
		badField(w, "number", "this is the coach's own number")
	default:
		return true
	}
	return false
}

type messageView struct {
	SID       string    `json:"sid"`
	Direction direction `json:"direction"`
	Body      string    `json:"body"`
	At        time.Time `json:"at"`
	Status    status    `json:"status"`
}

func (s *Server) showPhone(w http.ResponseWriter, r *http.Request) {
	number := r.PathValue("number")
	if !s.isUsable(w, number) {
		return
	}
	views := []messageView{}
	for _, t := range s.network.shownOn(number) {
		views = append(views, messageView{SID: t.SID, Direction: t.Direction, Body: t.Body, At: t.CreatedAt, Status: t.Status})
	}
	writeJSON(w, http.StatusOK, map[string]any{"messages": views})
}

// textIn takes a text that a phone sends. The answer does not wait for the
// app: a phone does not know whether it is up.
func (s *Server) textIn(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Body string `json:"body"`
	}
	number := r.PathValue("number")
	if !s.isUsable(w, number) || !readJSON(w, r, &ask) {
		return
	}
	if s.cfg.InboundURL == "" {
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"error": "no address for inbound texts is configured"})
		return
	}
	if ask.Body == "" {
		badField(w, "body", "is required")
		return
	}
	taken, err := s.network.add(text{Phone: number, Direction: fromPhone, Body: ask.Body, Status: statusQueued}, false)
	if err != nil {
		s.reportFailure(w, err)
		return
	}
	s.courier.startInbound(number)
	writeJSON(w, http.StatusAccepted, map[string]string{"sid": taken.SID})
}

func (s *Server) reportFailure(w http.ResponseWriter, err error) {
	s.cfg.Logger.Error("simulator failed", "error", err)
	writeJSON(w, http.StatusInternalServerError, map[string]string{"error": "the phones' file cannot be written"})
}

func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // The caller has gone; the error cannot be reported.
}

func badField(w http.ResponseWriter, field, problem string) {
	writeJSON(w, http.StatusBadRequest, map[string]string{"error": field + ": " + problem, "field": field})
}

// readJSON decodes a body and refuses unknown fields; on false it has answered
// 400 with the field's name.
func readJSON(w http.ResponseWriter, r *http.Request, into any) bool {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil {
		return true
	}
	wrongType := (*json.UnmarshalTypeError)(nil)
	if errors.As(err, &wrongType) {
		badField(w, wrongType.Field, "want "+wrongType.Type.String())
		return false
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		badField(w, strings.Trim(name, `"`), "is not known")
		return false
	}
	badField(w, "body", "want one JSON object")
	return false
}
