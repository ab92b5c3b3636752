package harness

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"coachline/internal/sim/twilio"
)

// Page is a request of the product to call a person.
type Page struct {
	// Key is the header by which the receiver knows a page again.
	Key           string `json:"-"`
	ID            string `json:"id"`
	ParticipantID string `json:"participant_id"`
	Link          string `json:"link"`
}

// Pager is the receiver of pages. It remembers every request that it read, also
// where the product did not hear the answer.
type Pager struct {
	board *Board
	trace *Trace

	mu    sync.Mutex
	pages []Page
}

// NewPager is a receiver without pages.
func NewPager(board *Board, trace *Trace) *Pager { return &Pager{board: board, trace: trace} }

// Pages lists the requests that were taken, in order.
func (p *Pager) Pages() []Page {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.pages)
}

// ServeHTTP implements http.Handler.
func (p *Pager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := Page{Key: r.Header.Get("Idempotency-Key")}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&page); err != nil {
		p.trace.Note("pager cannot read a page: %v", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	fault, faulty := p.board.Take(TargetPager)
	if faulty && fault != FaultResetAfter && failCall(w, r, fault) {
		return
	}
	p.mu.Lock()
	p.pages = append(p.pages, page)
	p.mu.Unlock()
	p.trace.Note("pager took %s for %s", page.ID, page.ParticipantID)
	if fault == FaultResetAfter {
		twilio.Reset(w)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
