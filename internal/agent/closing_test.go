package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/recall"
	"coachline/models"
	"coachline/models/wire"
)

// closedWith is an answer with some facts, a note and a summary.
func closedWith(facts, note, summary string) string {
	return fmt.Sprintf(`{"facts":[%s],"note":%q,"summary":%q}`, facts, note, summary)
}

func (w *world) known() models.Memory {
	w.t.Helper()
	known, err := w.rows.Store.Recall(w.t.Context(), ann)
	require.NoError(w.t, err)
	return known
}

// A conversation costs one call behind its replies, whatever it held.
func TestClosing(t *testing.T) {
	w := newWorld(t)
	w.storeFacts(ann, models.FactIdentity, "Lives in Berlin.")
	w.storeFacts(ann, models.FactConstraint, "Has a bad knee.")
	w.model.on(closer, textAnswers(closedWith(
		`{"action":"update","id":"f1","text":"Lives in Leeds."},{"action":"end","id":"f2","text":"The knee is well again."},`+swims, "She moved.", ""))...)
	for i := range 10 {
		w.runExchange(fmt.Sprintf("this is story number %d", i))
	}
	require.NoError(t, w.pipe.Remember(t.Context(), w.turnContext()))
	require.Equal(t, 11, w.model.total(), "one call a text and one for all")
	require.Contains(t, w.lastRequest(closer).Messages[0].Content, "f1 (identity")
	known := w.known()
	texts := map[string]models.Fact{}
	for _, fact := range known.Facts {
		texts[fact.ID] = fact
	}
	require.Equal(t, "Lives in Leeds.", texts["f1"].Text)
	require.Equal(t, 2, texts["f1"].Version, "the old version is kept")
	require.Equal(t, models.FactEvent, texts["f2"].Kind)
	require.Equal(t, "The knee is well again.", texts["f2"].Text)
	require.Equal(t, "Likes to swim.", texts["f3"].Text)
	require.Equal(t, w.turnID(), texts["f3"].TurnID)
	require.Equal(t, w.window[len(w.window)-2].ID, texts["f3"].SourceID)
	require.Equal(t, "She moved.", known.Notes[0].Text)
	require.Contains(t, w.readDecisions(), "memory update f1")

	t.Run("what was saved is found by its meaning", func(t *testing.T) {
		found, err := w.rows.Store.Find(t.Context(), models.FactQuery{ParticipantID: ann, Vector: wordVector("Likes to swim."), Limit: 1})
		require.NoError(t, err)
		require.Equal(t, "Likes to swim.", found[0].Fact.Text)
	})
	t.Run("a retry asks nothing and stores nothing", func(t *testing.T) {
		asked := w.model.total()
		require.NoError(t, w.pipe.Remember(t.Context(), w.turnContext()))
		require.Equal(t, asked, w.model.total())
		require.Len(t, w.known().Facts, 3)
	})
	t.Run("the next one reads on from there", func(t *testing.T) {
		w.model.on(closer, textAnswers(closedWith("", "She rowed.", ""))...)
		w.runExchange("today I rowed on the lake")
		require.NoError(t, w.pipe.Remember(t.Context(), w.turnContext()))
		request := w.lastRequest(closer).Messages[0].Content
		_, fresh, _ := strings.Cut(request, "What is new:")
		require.Contains(t, fresh, "rowed on the lake")
		require.NotContains(t, fresh, "story number 9")
		require.Equal(t, "She moved.\nShe rowed.", w.known().Notes[0].Text)
	})
}

func TestClosingIsPaidOnce(t *testing.T) {
	w := newWorld(t)
	w.model.on(closer, busyAnswer())
	w.addText("I like to swim a lot").runStep()
	t.Run("a busy model is asked again", func(t *testing.T) {
		var failed *models.ModelError
		require.ErrorAs(t, w.finishTurn(), &failed)
		require.Empty(t, w.known().Notes)
	})
	t.Run("so is a store that failed, without a second call", func(t *testing.T) {
		w.model.on(closer, textAnswers(closedWith(swims, "Swims.", ""))...)
		w.rows.fails["close"] = errors.New("down")
		require.Error(t, w.pipe.Remember(t.Context(), w.turnContext()))
		w.rows.fails["close"] = nil
		asked := w.model.count(closer)
		w.now = w.now.Add(time.Minute)
		require.NoError(t, w.pipe.Remember(t.Context(), w.turnContext()))
		require.Equal(t, asked, w.model.count(closer))
		require.Len(t, w.readFacts(), 1)
		require.Equal(t, "Swims.", w.known().Notes[0].Text)
	})
	t.Run("a model that refuses is not asked again, and its texts wait for the next", func(t *testing.T) {
		w.model.on(closer, said{err: &models.ModelError{Class: models.ModelRefused}})
		w.addText("I also like to row a lot").runStep()
		require.NoError(t, w.finishTurn())
		require.Contains(t, w.readDecisions(), "closing failed refused")
		w.model.on(closer, textAnswers(closedWith("", "Rows.", ""))...)
		w.addText("and to sail on the lake").runStep()
		require.NoError(t, w.finishTurn())
		require.Contains(t, w.lastRequest(closer).Messages[0].Content, "I also like to row a lot")
	})
	t.Run("an answer that cannot be read costs one more", func(t *testing.T) {
		asked := w.model.count(closer)
		w.model.on(closer, textAnswers("hm", "hm")...)
		w.addText("and to fish at night").runStep()
		require.NoError(t, w.finishTurn())
		require.NoError(t, w.pipe.Remember(t.Context(), w.turnContext()))
		require.Equal(t, asked+2, w.model.count(closer))
		require.Contains(t, w.readDecisions(), "memory refused unreadable")
	})
}

// What the person has forgotten while a model reads the conversation does not
// come back with its answer: it is read again.
func TestClosingOfAMemoryThatChanged(t *testing.T) {
	w := newWorld(t)
	w.storeFacts(ann, models.FactPreference, "Walks at 6am.")
	w.model.on(closer, textAnswers(closedWith(`{"action":"update","id":"f1","text":"Walks at 7am."}`, "Walks.", ""))...)
	w.model.began = func(purpose string) {
		if purpose == closer {
			w.model.began = nil
			require.NoError(t, w.rows.Forget(t.Context(), models.Forgetting{ParticipantID: ann, FactID: "f1", Actor: "participant", At: w.now}))
		}
	}
	w.addText("actually I moved to 7am").runStep()
	require.ErrorIs(t, w.finishTurn(), models.ErrStale)
	require.Empty(t, w.known().Notes)
	require.NoError(t, w.pipe.Remember(t.Context(), w.turnContext()))
	require.Empty(t, w.readFacts())
	require.Contains(t, w.readDecisions(), "memory refused unknown_id")
}

// Changed facts take the place of the old ones however many newer there are.
func TestClosingShowsWhatMayChange(t *testing.T) {
	w := newWorld(t)
	w.storeFacts(ann, models.FactIdentity, "Works as a nurse.")
	w.storeFacts(ann, models.FactEvent, "Bought a red bicycle.")
	for i := range 100 {
		w.storeFacts(ann, models.FactPreference, fmt.Sprintf("Likes thing%d with stuff%d.", i, i))
	}
	w.model.on(closer, textAnswers(closedWith("", "", ""))...)
	w.addText("I sold the red bicycle").runStep()
	require.NoError(t, w.finishTurn())
	request := w.lastRequest(closer).Messages[0].Content
	require.Contains(t, request, "Works as a nurse.", "who they are")
	require.Contains(t, request, "Bought a red bicycle.", "what is nearest to the text")
	require.Contains(t, request, "Likes thing99 with", "the newest")
}

// A text that comes while the model reads belongs to the next closing.
func TestClosingReadsUpToItsTurn(t *testing.T) {
	w := newWorld(t)
	w.model.on(closer, textAnswers(closedWith(swims, "Swims.", ""))...)
	w.addText("I like to swim a lot").runStep()
	told := w.window[len(w.window)-1].ID
	w.endTurn()
	ended := w.turnContext()
	w.addText("another text that came meanwhile")
	w.addEntry(models.Message{TurnID: "later", Role: models.RoleAssistant, Kind: models.KindReply, Text: "Good, meanwhile."})
	ended.Window = append(slices.Clone(ended.Window), w.window[len(w.window)-2:]...)
	require.NoError(t, w.pipe.Remember(t.Context(), ended))
	require.Equal(t, told, w.readFacts()[0].SourceID)
	require.NotContains(t, w.lastRequest(closer).Messages[0].Content, "meanwhile")
	w.model.on(closer, textAnswers(closedWith("", "More.", ""))...)
	require.NoError(t, w.finishTurn())
	require.Contains(t, w.lastRequest(closer).Messages[0].Content, "another text that came meanwhile")
}

func TestWorth(t *testing.T) {
	w := newWorld(t)
	require.True(t, w.pipe.Worth(w.addText("I like to swim a lot").turnContext()))
	require.False(t, w.pipe.Worth(w.addText("thanks!").turnContext()), "C10")
	w.kind = wire.TurnPrompt
	require.False(t, w.pipe.Worth(w.addText("I like to swim a lot").turnContext()))
}

func TestSummaries(t *testing.T) {
	talked := func(t *testing.T) *world {
		w := newWorld(t)
		for i := range 12 {
			w.runExchange(fmt.Sprintf("this is story number %d", i))
		}
		w.addText("and that was all of it").runStep()
		return w
	}
	t.Run("a text during the summary", func(t *testing.T) {
		w := talked(t)
		w.model.on(closer, textAnswers(closedWith("", "", "She told twelve stories."))...)
		w.model.began = func(purpose string) {
			if purpose == closer {
				w.model.began = nil
				w.addEntry(models.Message{TurnID: "later", Role: models.RoleUser, Kind: models.KindMessage, Text: "one thing more"})
			}
		}
		require.NoError(t, w.finishTurn())
		known := w.known()
		require.Equal(t, "She told twelve stories.", known.Summary.Text)
		require.Less(t, known.Summary.UptoMessage, w.window[len(w.window)-1].ID)
		w.addText("did you get it all?").runStep()
		require.Contains(t, fmt.Sprint(w.lastRequest(chat).Messages), "one thing more", "in the history, not lost")
		require.Contains(t, w.systemMessage(), "Earlier in this conversation: She told twelve stories.")
	})
	t.Run("the earlier summary is part of the next", func(t *testing.T) {
		w := talked(t)
		require.NoError(t, w.rows.CloseConversation(t.Context(), models.Closing{ParticipantID: ann, Note: models.Note{ParticipantID: ann, LocalDate: "2026-01-01", UpdatedAt: w.now},
			Summary: &models.Summary{ParticipantID: ann, Text: "Has a dog called Bo.", UpdatedAt: w.now}}))
		w.model.on(closer, textAnswers(closedWith("", "", "Has a dog called Bo; told stories."))...)
		require.NoError(t, w.finishTurn())
		require.Contains(t, w.lastRequest(closer).Messages[0].Content, "Has a dog called Bo.")
		require.Contains(t, w.known().Summary.Text, "Bo")
		require.Equal(t, 2, w.known().Summary.Version)
	})
	t.Run("the note of a day", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(closer, textAnswers(closedWith("", "She walked to the sea.", ""))...)
		w.addText("I walked to the sea").runStep()
		require.NoError(t, w.finishTurn())
		w.now = w.now.AddDate(0, 0, 1)
		w.addText("what did I do yesterday?").runStep()
		require.Contains(t, w.systemMessage(), "She walked to the sea.")
		require.Contains(t, w.systemMessage(), "["+start.Format(time.DateOnly)+"]")
	})
}

// Who is a minor by words that no rule knows is found when the conversation is read, once.
func TestMinorIsFoundWhenAConversationIsRead(t *testing.T) {
	for answer, want := range map[string]wire.Attention{
		`{"facts":[],"note":"She is in year 9.","minor":true}`: wire.AttentionMinor, `{"facts":[],"note":"Her son is in year 9.","minor":false}`: "",
		`{"facts":[],"note":"She is in year 9.","minor":"maybe"}`: "",
	} {
		w := newWorld(t)
		w.model.on(closer, said{text: answer})
		w.addText("my form tutor says i have to hand in the year 9 project by monday").runStep()
		require.NoError(t, w.finishTurn())
		p, err := w.people.People.Participant(t.Context(), ann)
		require.NoError(t, err)
		require.Equal(t, want, p.Attention, answer)
	}
}

// The facts of the person are all that a memory holds of them.
func TestClosingStoresTheTurnsPerson(t *testing.T) {
	w := newWorld(t)
	w.enrol("conv_ben", "+15550000002")
	w.storeFacts("conv_ben", models.FactIdentity, "Ben is a baker.")
	w.model.on(closer, textAnswers(closedWith(`{"action":"update","id":"f1","text":"Bakes no more."}`, "", ""))...)
	w.addText("I am no baker").runStep()
	require.NoError(t, w.finishTurn())
	require.NotContains(t, w.model.everything(), "Ben is")
	require.Contains(t, w.readDecisions(), recall.FaultUnknownID.Decision())
}

// A changed model of vectors, and facts that have none, are made good when a conversation
// is closed, in one request.
func TestClosingEmbedsAnew(t *testing.T) {
	w := newWorld(t)
	w.storeFacts(ann, models.FactIdentity, "Lives in Berlin.", "Has a dog.")
	w.rows.Store = w.rows.WithVectorsOf("now")
	w.model.on(closer, textAnswers(closedWith("", "She moved.", ""))...)
	w.runExchange("this is a story about my week")
	asked := w.vectors.calls
	require.NoError(t, w.pipe.Remember(t.Context(), w.turnContext()))
	require.Equal(t, asked+1, w.vectors.calls)
	left, err := w.rows.FactsWithoutVector(t.Context(), ann, 10)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Contains(t, w.readDecisions(), "embed anew 2")
}
