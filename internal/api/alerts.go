package api

import (
	"coachline/models"
)

// AlertPage is one page, newest first; NextCursor is null on the last.
type AlertPage struct {
	Alerts     []models.Alert `json:"alerts" nullable:"false"`
	NextCursor *string        `json:"next_cursor"`
}

// AlertMarking says whether an alert was right.
type AlertMarking struct {
	Mark models.AlertMark `json:"mark" enum:"right,wrong"`
}

// Sheet is all that operators have judged, as lines of the sheets that screening
// is trained on and scored with.
type Sheet struct {
	Lines []SheetLine `json:"lines" nullable:"false"`
}

// SheetLine is one line of a sheet: a message that an operator has judged, with
// numbers, names of places on the web and the like masked. Text is personal data.
type SheetLine struct {
	Language string `json:"language" doc:"ISO 639-1, of the participant's locale."`
	Sheet    string `json:"sheet" enum:"crisis,negative"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
}
