package twilio

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"
	"time"
)

// direction is seen from the phone.
type direction string

const (
	toPhone   direction = "to_phone"
	fromPhone direction = "from_phone"
)

// status is Twilio's word for where a text stands.
type status = string

const (
	statusAccepted  status = "accepted" // taken for a messaging service, no sender chosen
	statusQueued    status = "queued"
	statusSent      status = "sent"
	statusDelivered status = "delivered"
	statusLost      status = "undelivered" // taken, and lost on the way
	statusReceived  status = "received"    // the app took what a phone sent
	statusFailed    status = "failed"      // the app did not take it
)

// text is one SMS. It holds what was said, in the clear.
type text struct {
	SID       string    `json:"sid"`
	Phone     string    `json:"phone"`
	Direction direction `json:"direction"`
	Body      string    `json:"body"`
	Status    status    `json:"status"`
	Service   string    `json:"service,omitempty"`
	Callback  string    `json:"callback,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	SentAt    time.Time `json:"sent_at,omitzero"`
	Code      int       `json:"code,omitempty"` // why it was lost
	// Settled: no webhook about it is owed.
	Settled bool `json:"settled,omitempty"`
	// Deleted by the account: the carrier keeps it no more, the phone does.
	Deleted bool `json:"deleted,omitempty"`
	// NoteDeleted is the same for its voice note.
	NoteDeleted bool `json:"note_deleted,omitempty"`
}

// change is a later state of a text; an empty Status leaves it.
type change struct {
	SID         string    `json:"sid"`
	Status      status    `json:"status,omitempty"`
	Code        int       `json:"code,omitempty"`
	Settled     bool      `json:"settled,omitempty"`
	Deleted     bool      `json:"deleted,omitempty"`
	NoteDeleted bool      `json:"note_deleted,omitempty"`
	At          time.Time `json:"at"`
}

// phone is one handset; blocked is what STOP does until START.
type phone struct {
	number  string
	blocked bool
	texts   []*text
}

// network is the phones and every text, oldest first.
type network struct {
	mu       sync.Mutex
	now      func() time.Time
	journal  *journal
	phones   []*phone // in the order they were added
	byNumber map[string]*phone
	texts    []*text
	bySID    map[string]*text
	scripted bool
}

func openNetwork(dir string, now func() time.Time) (*network, error) {
	journal, entries, err := openJournal(dir)
	if err != nil {
		return nil, err
	}
	n := &network{now: now, journal: journal, byNumber: map[string]*phone{}, bySID: map[string]*text{}}
	for _, e := range entries {
		n.apply(e)
	}
	return n, nil
}

// countSegments counts the segments of all texts that are kept, to and from phones.
func (n *network) countSegments() (out, in int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range n.texts {
		if t.Direction == fromPhone {
			in += segments(t.Body)
		} else {
			out += segments(t.Body)
		}
	}
	return out, in
}

func (n *network) close() error { return n.journal.close() }

// record writes a line first and then does what it says.
func (n *network) record(e entry) error {
	if err := n.journal.append(e); err != nil {
		return err
	}
	n.apply(e)
	return nil
}

func (n *network) apply(e entry) {
	switch {
	case e.Text != nil:
		n.texts = append(n.texts, e.Text)
		n.bySID[e.Text.SID] = e.Text
		handset := n.handset(e.Text.Phone)
		handset.texts = append(handset.texts, e.Text)
		if e.Text.Direction == fromPhone {
			handset.applyKeyword(e.Text.Body)
		}
	case e.Change != nil:
		n.change(*e.Change)
	case e.Phone != "":
		n.handset(e.Phone)
	case e.Scripted:
		n.scripted = true
	}
}

func (n *network) change(c change) {
	held := n.bySID[c.SID]
	if held == nil {
		return
	}
	held.UpdatedAt = c.At
	held.Settled = held.Settled || c.Settled
	held.Deleted = held.Deleted || c.Deleted
	held.NoteDeleted = held.NoteDeleted || c.NoteDeleted
	if c.Status != "" {
		held.Status, held.Code = c.Status, c.Code
	}
	if c.Status == statusSent {
		held.SentAt = c.At
	}
}

func (n *network) handset(number string) *phone {
	if p := n.byNumber[number]; p != nil {
		return p
	}
	p := &phone{number: number}
	n.byNumber[number] = p
	n.phones = append(n.phones, p)
	return p
}

// applyKeyword blocks and unblocks by the carrier's default words; only the
// whole body counts.
func (p *phone) applyKeyword(body string) {
	switch strings.ToUpper(strings.TrimSpace(body)) {
	case "STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT":
		p.blocked = true
	case "START", "YES", "UNSTOP":
		p.blocked = false
	}
}

// add takes a new text; SID and instants are set here. A text to forget is not
// kept.
func (n *network) add(t text, forget bool) (text, error) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	t.SID = "SM" + hex.EncodeToString(random[:])
	n.mu.Lock()
	defer n.mu.Unlock()
	t.CreatedAt = n.now().UTC()
	t.UpdatedAt = t.CreatedAt
	if forget {
		return t, nil
	}
	held := t
	return t, n.record(entry{Text: &held})
}

// update changes a text; one that is not kept is left alone.
func (n *network) update(c change) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	c.At = n.now().UTC()
	return n.record(entry{Change: &c})
}

// get returns a copy; false when there is no such text.
func (n *network) get(sid string) (text, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	held := n.bySID[sid]
	if held == nil {
		return text{}, false
	}
	return *held, true
}

// listTexts copies the texts that keep says yes to, oldest first.
func (n *network) listTexts(keep func(text) bool) []text {
	n.mu.Lock()
	defer n.mu.Unlock()
	chosen := []text{}
	for _, held := range n.texts {
		if keep(*held) {
			chosen = append(chosen, *held)
		}
	}
	return chosen
}

// shownOn copies the texts of one phone, oldest first.
func (n *network) shownOn(number string) []text {
	n.mu.Lock()
	defer n.mu.Unlock()
	var shown []text
	if p := n.byNumber[number]; p != nil {
		for _, held := range p.texts {
			shown = append(shown, *held)
		}
	}
	return shown
}

func (n *network) isBlocked(number string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.byNumber[number]
	return p != nil && p.blocked
}

// nextFrom is the oldest text of a phone that the app has not taken; false
// when there is none.
func (n *network) nextFrom(number string) (text, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.byNumber[number]; p != nil {
		for _, held := range p.texts {
			if held.Direction == fromPhone && !held.Settled {
				return *held, true
			}
		}
	}
	return text{}, false
}

// noteScript remembers, once, that the script has answered.
func (n *network) noteScript() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.scripted {
		return nil
	}
	return n.record(entry{Scripted: true})
}

type phoneView struct {
	Number   string `json:"number"`
	Blocked  bool   `json:"blocked"`
	Messages int    `json:"messages"`
	// Last is the newest text, empty when there is none.
	Last   string     `json:"last"`
	LastAt *time.Time `json:"last_at"`
}

func (n *network) phoneViews() (views []phoneView, scripted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	views = make([]phoneView, len(n.phones))
	for i, p := range n.phones {
		views[i] = phoneView{Number: p.number, Blocked: p.blocked, Messages: len(p.texts)}
		if len(p.texts) > 0 {
			newest := p.texts[len(p.texts)-1]
			at := newest.CreatedAt
			views[i].Last, views[i].LastAt = newest.Body, &at
		}
	}
	return views, n.scripted
}
