package twilio

import (
	"encoding/json"
	"net/http"
	"strings"
)

// reassignedEnd is how the numbers end that have gone to another person.
const reassignedEnd = "0909"

// serveLookup answers whether a number has gone to another person, as Twilio's Lookup v2.
func (s *Server) serveLookup(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if !isEqual(user, s.cfg.AccountSID) || !isEqual(password, s.cfg.AuthToken) {
		refusal{codeAuthenticate, message(codeAuthenticate)}.writeTo(w, http.StatusUnauthorized)
		return
	}
	number, day := r.PathValue("number"), r.URL.Query().Get("LastVerifiedDate")
	answer := map[string]any{"phone_number": number, "valid": true}
	if strings.Contains(r.URL.Query().Get("Fields"), "reassigned_number") && day != "" {
		verdict := "no"
		if strings.HasSuffix(number, reassignedEnd) {
			verdict = "yes"
		}
		answer["reassigned_number"] = map[string]any{"last_verified_date": day, "is_number_reassigned": verdict}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the caller may be gone
}
