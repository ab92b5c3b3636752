package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// channelPager is a channel of these tests alone; TestMain registers it as a carrier's.
const channelPager = wire.Channel("pager")

func registerPager() {
	models.Channels = append(models.Channels, models.ChannelSpec{Name: channelPager, ViaCarrier: true, Notice: "pager", Rights: models.Rights{MemoryStep: true}})
}

// page takes a text of p1 that came by the pager.
func (w *world) page(n int, from time.Time) models.AcceptedInbound {
	w.t.Helper()
	got, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{
		ProviderSID: fmt.Sprint("PG-in-", n), From: phone, Body: fmt.Sprint("answer number ", n), Channel: channelPager, ReceivedAt: from,
	})
	require.NoError(w.t, err)
	return got
}

// pageBack answers a text by the pager, up to the carrier's report that it was delivered.
func (w *world) pageBack(n int, from time.Time) {
	w.t.Helper()
	turn := models.TurnID("p1", n)
	_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{
		ParticipantID: "p1", TurnID: turn, Number: n, Mode: wire.ModeIntake, Plan: replyPlan, Channel: channelPager, Now: from,
	})
	require.NoError(w.t, err)
	end := outcome(turn, wire.TurnReply, "", 0)
	end.At, end.Outbox[0].Channel, end.Entries[0].Channel = from, channelPager, channelPager
	ids, err := w.finish(end)
	require.NoError(w.t, err)
	claim, err := w.Outbox.ClaimSend(w.ctx, ids[0], from)
	require.NoError(w.t, err)
	require.True(w.t, claim.Post, "a carrier takes it")
	_, err = w.Outbox.StartPost(w.ctx, claim, from)
	require.NoError(w.t, err)
	sid := fmt.Sprint("PG-out-", n)
	require.NoError(w.t, w.Outbox.RecordAccepted(w.ctx, w.ref(ids[0]), models.Receipt{ProviderSID: sid, Status: wire.OutboxQueued}, from))
	found, err := w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{ProviderSID: sid, Status: wire.OutboxDelivered, At: from})
	require.NoError(w.t, err)
	require.True(w.t, found)
}

// TestAnotherCarrierChannel follows texts of a channel that the table alone names
// through what asks whether a carrier has a part in them; texts of the chat are left out.
func TestAnotherCarrierChannel(t *testing.T) {
	const exchanges = 20
	onBoth(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Studies.EnsureStudySecrets(w.ctx))
		w.newStudy(walkStudy, "")
		p := person("p1", phone)
		p.StudyID = walkStudy
		_, err := w.People.EnrollOnce(w.ctx, p, models.Enrolment{Actor: "user:kim"})
		require.NoError(t, err)
		w = &world{Store: w.limited(store.InboundLimits{Mute: time.Hour}), t: t, ctx: w.ctx, url: w.url}
		second := func(n int) time.Time { return at(0).Add(time.Duration(n) * time.Second) }
		w.chat("chat-1", 0, "in the chat")

		for n := range exchanges {
			require.Equal(t, models.LimitNone, w.page(n+1, second(10*n+1)).Inbound.Limit)
			w.pageBack(n+1, second(10*n+7))
		}
		require.Equal(t, models.LoopExchanges, w.page(exchanges+1, second(10*exchanges+1)).Loop)

		require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t)))
		require.Equal(t, exchanges+1, w.count("SELECT count(*) FROM costs WHERE kind = 'inbound'"))
		require.Equal(t, exchanges, w.count("SELECT count(*) FROM costs WHERE kind = 'outbound'"))
		require.Zero(t, w.count("SELECT count(*) FROM cost_queue"))

		report, err := w.Reports.DeliveryReport(w.ctx, at(-60), at(600), "")
		require.NoError(t, err)
		require.Len(t, report.Groups, 1)
		require.Equal(t, wire.OutboxDelivered, report.Groups[0].Status)
		require.Equal(t, exchanges, report.Groups[0].Texts)
		require.Equal(t, []models.InboundDay{{Day: at(0).Format(time.DateOnly), Texts: exchanges + 1}}, report.Inbound)
		require.Equal(t, []models.TextGroup{{Status: wire.OutboxDelivered, Texts: exchanges}}, w.progressOf(walkStudy, at(600)).Texts)

		_, files := w.export(walkStudy, toAdmin)
		exported := map[string]int{}
		for _, row := range readTable(t, files["messages.csv"]) {
			exported[row["channel"]+" "+row["direction"]]++
		}
		require.Equal(t, map[string]int{"chat in": 1, "pager in": exchanges + 1, "pager out": exchanges}, exported)

		w.beginErasure(60)
		require.EqualValues(t, 2*exchanges+1, w.eraseAll("p1", 61).CarrierMessages)
		require.Zero(t, w.count("SELECT count(*) FROM inbound WHERE provider_sid NOT LIKE 'erased-%'"))
	})
}
