package twilio

import (
	"net/http"
	"strings"
)

// voiceSID is the id of the one note that a message may have.
var voiceSID = "ME" + strings.Repeat("0", 32)

// hasNote reports whether the carrier has the voice note of a text.
func (t text) hasNote() bool {
	return t.Direction == fromPhone && strings.HasPrefix(t.Body, voiceMarker) && !t.Deleted && !t.NoteDeleted
}

// listMedia lists the note of a message, in Twilio's shape.
func (s *Server) listMedia(w http.ResponseWriter, r *http.Request) {
	t, found := s.network.get(r.PathValue("message"))
	if !found || t.Deleted {
		notFound(w, r)
		return
	}
	list := []map[string]any{}
	if t.hasNote() {
		list = append(list, map[string]any{"sid": voiceSID, "parent_sid": t.SID, "content_type": voiceMediaType})
	}
	writeJSON(w, http.StatusOK, map[string]any{"media_list": list, "page": 0, "page_size": defaultPage, "next_page_uri": nil})
}

func (s *Server) serveMedia(w http.ResponseWriter, r *http.Request) {
	if t, found := s.network.get(r.PathValue("message")); found && !t.hasNote() {
		notFound(w, r)
		return
	}
	serveVoice(w, r)
}

func (s *Server) deleteMedia(w http.ResponseWriter, r *http.Request) {
	t, found := s.network.get(r.PathValue("message"))
	if !found || !t.hasNote() || strings.TrimSuffix(r.PathValue("media"), ".json") != voiceSID {
		notFound(w, r)
		return
	}
	if err := s.network.update(change{SID: t.SID, NoteDeleted: true}); err != nil {
		refusal{codeInternal, message(codeInternal)}.writeTo(w, http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
