package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
	"coachline/models/wire"
)

// heardAt is when a person last wrote, or enrolled; index participants_heard has it.
const heardAt = "COALESCE(participants.last_inbound_at, participants.enrolled_at)"

// responseSpan is the time before now whose prompts make the response rate.
const responseSpan = 7 * 24 * time.Hour

// maxNames bounds the people whose names one search opens.
const maxNames = 50_000

// List returns a page of enrolled people. A row with columns that cannot be
// opened names them in Unreadable and leaves them empty. *FieldError for a cursor
// that is not of the order, and for names of more than 50,000 people.
func (s *People) List(ctx context.Context, q models.PeopleQuery) (models.PeoplePage, error) {
	if q.Limit < 1 || q.Limit > maxPage {
		q.Limit = maxPage
	}
	rows, err := s.findPeople(database.AllowUnreadable(ctx), q)
	if err != nil {
		return models.PeoplePage{}, fmt.Errorf("listing people: %w", classify(err))
	}
	var page models.PeoplePage
	more := len(rows) > q.Limit
	for _, row := range rows[:min(len(rows), q.Limit)] {
		page.People = append(page.People, models.Person{Participant: row})
	}
	if err := addPrompts(s.db.Reader(ctx), page.People, q.Now); err != nil {
		return models.PeoplePage{}, fmt.Errorf("reading the prompts of people: %w", err)
	}
	if more {
		page.Cursor = cursorOf(q.Order, page.People[q.Limit-1])
	}
	return page, nil
}

// findPeople reads one row more than the page, where there is one.
func (s *People) findPeople(ctx context.Context, q models.PeopleQuery) ([]models.Participant, error) {
	find := s.filterPeople(s.db.Reader(ctx), q.PeopleFilter)
	if q.Name != "" || q.Order == models.OrderName {
		return s.findNamed(ctx, find, q)
	}
	find, err := orderPeople(find, q)
	if err != nil {
		return nil, err
	}
	var rows []models.Participant
	err = find.Limit(q.Limit + 1).Find(&rows).Error
	return rows, err
}

// filterPeople selects what a filter can say in the database, which is all but the
// name.
func (s *People) filterPeople(tx *gorm.DB, f models.PeopleFilter) *gorm.DB {
	condition, args := s.conditionOf(f)
	return tx.Model(&models.Participant{}).Where(condition, args...)
}

// conditionOf is what a filter says of a row of participants.
func (s *People) conditionOf(f models.PeopleFilter) (condition string, args []any) {
	condition = "participants.removed_at IS NULL"
	add := func(wanted bool, sql string, values ...any) {
		if wanted {
			condition += " AND " + sql
			args = append(args, values...)
		}
	}
	add(f.Status != "", "participants.status = ?", f.Status)
	add(len(f.Attention) > 0, "participants.id IN (SELECT participant_id FROM attention WHERE kind IN ? AND ended_at IS NULL)", f.Attention)
	add(f.TakenOver || f.TakenOverBy != "", "participants.taken_over_by <> ''")
	add(f.TakenOverBy != "", "participants.taken_over_by = ?", f.TakenOverBy)
	add(f.Waiting, "participants.id IN (SELECT participant_id FROM inbound WHERE waiting)")
	add(f.Unreachable, "participants.unreachable_at IS NOT NULL")
	add(!f.HeardUntil.IsZero(), heardAt+" <= ?", instant(f.HeardUntil))
	add(!f.DueFrom.IsZero(), "participants.status = ? AND participants.id IN (SELECT participant_id FROM schedules WHERE next_at >= ? AND next_at < ?)",
		wire.StatusActive, instant(f.DueFrom), instant(f.DueUntil))
	add(f.Phone != "", "participants.phone_index = ?", s.db.Index(f.Phone))
	return condition, args
}

// orderPeople orders the rows and begins after the cursor.
func orderPeople(find *gorm.DB, q models.PeopleQuery) (*gorm.DB, error) {
	at, id, err := parseCursor(q.After)
	if err != nil {
		return nil, err
	}
	key, than, direction := heardAt, "<", " DESC"
	switch q.Order {
	case models.OrderSilent:
		than, direction = ">", ""
	case models.OrderNextPrompt:
		key, than, direction = "planned.next_at", ">", ""
		find = find.Joins("JOIN schedules AS planned ON planned.participant_id = participants.id AND planned.next_at IS NOT NULL AND " +
			"NOT EXISTS (SELECT 1 FROM schedules AS sooner WHERE sooner.participant_id = planned.participant_id AND sooner.next_at IS NOT NULL AND " +
			"(sooner.next_at, sooner.id) < (planned.next_at, planned.id))")
	case models.OrderHeard, models.OrderName:
	}
	if q.After != "" {
		find = find.Where("("+key+", participants.id) "+than+" (?, ?)", at, id)
	}
	return find.Order(key + direction).Order("participants.id" + direction), nil
}

// cursorOf says where the next page begins. A name is in no cursor: cursors are in
// addresses.
func cursorOf(order models.PeopleOrder, last models.Person) string {
	at := last.EnrolledAt
	if last.LastInboundAt != nil {
		at = *last.LastInboundAt
	}
	if order == models.OrderNextPrompt && last.NextPromptAt != nil {
		at = *last.NextPromptAt
	}
	return strconv.FormatInt(at.UnixMicro(), 10) + "." + last.ID
}

func parseCursor(text string) (at time.Time, id string, err error) {
	if text == "" {
		return time.Time{}, "", nil
	}
	micros, id, found := strings.Cut(text, ".")
	n, err := strconv.ParseInt(micros, 10, 64)
	if !found || err != nil {
		return time.Time{}, "", models.BadField("cursor", "must be next_cursor of the page before")
	}
	return time.UnixMicro(n).UTC(), id, nil
}

// findNamed reads the names of all whom the filter selects, which are sealed and so
// are compared here, and then the rows of the page. It is by name.
func (s *People) findNamed(ctx context.Context, find *gorm.DB, q models.PeopleQuery) ([]models.Participant, error) {
	_, after, err := parseCursor(q.After)
	if err != nil {
		return nil, err
	}
	names, err := s.readNames(find)
	if err != nil {
		return nil, err
	}
	if len(names) > maxNames {
		return nil, models.BadField("name", "more than %d people would be searched; filter by status as well", maxNames)
	}
	ids, err := pageOfNames(names, q, after)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	var rows []models.Participant
	if err := s.db.Reader(ctx).Where("id IN ? AND removed_at IS NULL", ids).Find(&rows).Error; err != nil {
		return nil, err
	}
	place := map[string]int{}
	for i, id := range ids {
		place[id] = i
	}
	slices.SortFunc(rows, func(a, b models.Participant) int { return cmp.Compare(place[a.ID], place[b.ID]) })
	return rows, nil
}

// personName is a person with their name in small letters.
type personName struct{ id, name string }

// readNames reads the names of all whom a query selects. It does without gorm's
// filling of models, which would be half the work, and opens each sealed name
// once. A name that cannot be opened counts as none.
func (s *People) readNames(find *gorm.DB) (names []personName, err error) {
	tx := find.Select("participants.id", "participants.name").Limit(maxNames + 1)
	rows, err := tx.Rows()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id, sealed string
		if err := rows.Scan(&id, &sealed); err != nil {
			return nil, err
		}
		names = append(names, personName{id, s.names.open(id, sealed, func() string {
			cell := database.Cell{Table: "participants", Column: "name", Row: []any{id}}
			name, err := database.OpenText(tx.Statement.Context, cell, sealed)
			if err != nil {
				return ""
			}
			return strings.ToLower(name)
		})})
	}
	return names, rows.Err()
}

// pageOfNames returns the ids of a page, and one more where there is one, in the
// order of the names; people without a name come last.
func pageOfNames(names []personName, q models.PeopleQuery, after string) ([]string, error) {
	part := strings.ToLower(q.Name)
	var found []personName
	for _, n := range names {
		if strings.Contains(n.name, part) {
			found = append(found, n)
		}
	}
	slices.SortFunc(found, func(a, b personName) int {
		if (a.name == "") != (b.name == "") {
			return cmp.Compare(b.name, a.name)
		}
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
	})
	if after != "" {
		i := slices.IndexFunc(found, func(n personName) bool { return n.id == after })
		if i < 0 {
			return nil, models.BadField("cursor", "the list has changed; start again without it")
		}
		found = found[i+1:]
	}
	var ids []string
	for _, n := range found[:min(len(found), q.Limit+1)] {
		ids = append(ids, n.id)
	}
	return ids, nil
}

// addPrompts adds what the lists show of each person's prompts.
func addPrompts(tx *gorm.DB, people []models.Person, now time.Time) error {
	if len(people) == 0 {
		return nil
	}
	place, ids := map[string]*models.Person{}, []string{}
	for i := range people {
		place[people[i].ID] = &people[i]
		ids = append(ids, people[i].ID)
	}
	var planned []models.ScheduleRow
	if err := tx.Select("participant_id", "next_at").Where("participant_id IN ? AND next_at IS NOT NULL", ids).Find(&planned).Error; err != nil {
		return err
	}
	for _, row := range planned {
		if p := place[row.ParticipantID]; p.NextPromptAt == nil || row.NextAt.Before(*p.NextPromptAt) {
			p.NextPromptAt = row.NextAt
		}
	}
	var rates []struct {
		ParticipantID     string
		Prompts, Answered int
	}
	err := tx.Model(&models.Prompt{}).Select("participant_id, count(*) AS prompts, count(responded_at) AS answered").
		Where("participant_id IN ? AND sent_at > ?", ids, instant(now.Add(-responseSpan))).Group("participant_id").Scan(&rates).Error
	if err != nil {
		return err
	}
	for _, r := range rates {
		place[r.ParticipantID].Prompts, place[r.ParticipantID].Answered = r.Prompts, r.Answered
	}
	return nil
}

// nameLife is how long opened names are kept at most.
const nameLife = 10 * time.Minute

// openedNames are names that searches have opened, in this process's memory only and
// for some minutes. A name belongs to the sealed text that it was opened from, so
// that one which was changed or sealed anew is opened anew.
type openedNames struct {
	mu    sync.Mutex
	byID  map[string]openedName
	timer *time.Timer
	// opened counts the names that were opened.
	opened int
}

type openedName struct{ sealed, name string }

// open returns the name of a person as it was opened before from the same sealed
// text, or opens it.
func (o *openedNames) open(id, sealed string, opener func() string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if sealed == "" {
		delete(o.byID, id)
		return ""
	}
	if kept, found := o.byID[id]; found && kept.sealed == sealed {
		return kept.name
	}
	if o.byID == nil || len(o.byID) >= maxNames {
		o.byID = map[string]openedName{}
	}
	if o.timer == nil {
		o.timer = time.AfterFunc(nameLife, o.forget)
	}
	o.opened++
	name := opener()
	o.byID[id] = openedName{sealed, name}
	return name
}

// drop forgets the name of a person.
func (o *openedNames) drop(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byID, id)
}

func (o *openedNames) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID = nil
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
}

// changePhone gives a locked participant, whose new number is set in p, the
// number's index and consent state. The former number is kept for texts that
// were posted to it, and is a stranger's from now on. A person who opted out
// stays so under the new number; a number that opted out makes p opted out.
func (s *People) changePhone(tx *gorm.DB, old models.Participant, p *models.Participant, u models.ParticipantUpdate) error {
	p.PhoneIndex = s.db.Index(p.Phone)
	if err := keepFormerPhone(tx, old, u); err != nil {
		return err
	}
	entry, err := consentOfPhone(tx, p.PhoneIndex)
	if err != nil {
		return err
	}
	if entry.Action == models.ConsentOptOut {
		if p.Status == wire.StatusActive || p.Status == wire.StatusPaused {
			p.Status = wire.StatusOptedOut
			if err := endCoaching(tx, ending{participantID: p.ID, reason: string(wire.StatusOptedOut), at: instant(u.Now)}); err != nil {
				return err
			}
		}
	} else if entry, err = newestConsent(tx, old); err != nil || entry.Action != models.ConsentOptOut {
		return err
	}
	entry.ID, entry.ParticipantID, entry.PhoneIndex = 0, p.ID, p.PhoneIndex
	return tx.Create(&entry).Error
}

// keepFormerPhone stores the number that a participant had, and notes it on the
// texts that were posted to it.
func keepFormerPhone(tx *gorm.DB, old models.Participant, u models.ParticipantUpdate) error {
	former := models.FormerPhone{
		ParticipantID: old.ID, Phone: old.Phone, PhoneIndex: old.PhoneIndex, UntilAt: instant(u.Now), ChangedBy: u.Actor,
	}
	if err := tx.Create(&former).Error; err != nil {
		return err
	}
	return tx.Model(&models.Outbox{}).
		Where("participant_id = ? AND former_phone_id = 0 AND attempted_at IS NOT NULL AND status <> ?", old.ID, wire.OutboxReady).
		UpdateColumn("former_phone_id", former.ID).Error
}

func formerPhone(tx *gorm.DB, id int64) (models.FormerPhone, error) {
	var former models.FormerPhone
	err := tx.Where("id = ?", id).Take(&former).Error
	return former, err
}

// phoneOf returns the number that a row was posted to, or is to be posted to.
func phoneOf(tx *gorm.DB, row models.Outbox, p models.Participant) (string, error) {
	if row.FormerPhoneID == 0 {
		return p.Phone, nil
	}
	former, err := formerPhone(tx, row.FormerPhoneID)
	return former.Phone, err
}

// formerRefusal records what a refusal says of a number that is no longer the
// participant's: an opt-out of that number. It says nothing of the person.
func formerRefusal(tx *gorm.DB, row models.Outbox, r models.Refusal) error {
	if !r.Class.Spec().OptsOut {
		return nil
	}
	former, err := formerPhone(tx, row.FormerPhoneID)
	if err != nil {
		return err
	}
	before, err := consentOfPhone(tx, former.PhoneIndex)
	if err != nil || before.Action == models.ConsentOptOut {
		return err
	}
	return tx.Create(&models.Consent{
		ParticipantID: row.ParticipantID, PhoneIndex: former.PhoneIndex, Action: models.ConsentOptOut,
		Method: models.MethodCarrierError, RecordedBy: byCarrier, At: r.Now,
	}).Error
}

// phoneTaken names the enrolled participant who has a number, where err says
// that it is taken.
func (s *People) phoneTaken(ctx context.Context, phone string, err error) error {
	if !errors.Is(err, models.ErrConflict) || phone == "" {
		return err
	}
	var owner models.Participant
	find := s.db.Reader(ctx).Select("id").Where("phone_index = ? AND removed_at IS NULL", s.db.Index(phone))
	if find.Take(&owner).Error != nil {
		return err
	}
	return &models.PhoneTakenError{ParticipantID: owner.ID}
}
