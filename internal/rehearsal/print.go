package rehearsal

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Print writes a report for people to read.
func (r Report) Print(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "Rehearsal of study %s: %d people, %d days from %s, seed %d, played in %s\n",
		r.Study, r.People, r.Days, r.From.Format("2006-01-02"), r.Seed, r.Took)
	fmt.Fprintf(&out, "People      %s\n", counts(r.Personas))
	fmt.Fprintf(&out, "Messages    %d sent (%d segments), %d received, %d model calls, %d runs continued as new\n",
		r.Texts.CarrierTook, r.Texts.Segments, r.Texts.PeopleWrote, r.Texts.ModelCalls, r.Texts.Runs)
	fmt.Fprintf(&out, "By kind     %s\n", counts(r.SendsByKind))
	fmt.Fprintf(&out, "Prompts     %d sent, %d answered in time (%s); states: %s\n",
		r.Prompts.Sent, r.Prompts.Answered, percent(r.Prompts.Answered, r.Prompts.Sent), counts(r.Prompts.States))
	r.printResponse(&out)
	r.printHours(&out)
	fmt.Fprintf(&out, "Quiet hours %s: %d started, %d at a time chosen inside, %d breaches\n", cmp.Or(r.Quiet.Hours, "none"), r.Quiet.Started, r.Quiet.Chosen, len(r.Quiet.Breaches))
	for _, breach := range r.Quiet.Breaches {
		fmt.Fprintf(&out, "            %s to %s at %s\n", breach.Kind, breach.ParticipantID, breach.Local)
	}
	for _, arm := range r.Arms {
		fmt.Fprintf(&out, "Arm         %s: %d people, %d prompts, %d answered (%s)\n", arm.Name, arm.People, arm.Sent, arm.Answered, percent(arm.Answered, arm.Sent))
	}
	fmt.Fprintf(&out, "Decisions   %s\n", counts(r.Availability))
	for _, sum := range r.Cost {
		if r.Currency == "" { // no prices were given
			fmt.Fprintf(&out, "Cost        %s: %d calls\n", sum.Key, sum.Calls)
			continue
		}
		fmt.Fprintf(&out, "Cost        %s: %.2f %s, %d calls (%d without a price)\n", sum.Key, float64(sum.Micros)/1e6, r.Currency, sum.Calls, sum.Unpriced)
	}
	r.printAttention(&out)
	fmt.Fprintf(&out, "Faults      %d calls refused and %d answers lost by the carrier, %d undelivered, %d model calls refused, %d pages\n",
		r.Faults.CarrierRefused, r.Faults.CarrierLost, r.Faults.Undelivered, r.Faults.Model, r.Faults.Pages)
	if e := r.Effect; e != nil {
		fmt.Fprintf(&out, "Effect      added %.3f, true %.3f on average; %s finds %.3f (95 %% from %.3f to %.3f), covered: %t\n",
			e.Added, e.True, strings.ReplaceAll(e.Method, "_", " "), e.Estimate, e.Low, e.High, e.Covers)
	}
	for _, check := range r.Checks {
		state := "holds "
		if !check.Holds {
			state = "BROKEN"
		}
		fmt.Fprintf(&out, "%s      %s: %s\n", state, check.Name, check.Detail)
	}
	for _, failure := range r.Broke {
		fmt.Fprintf(&out, "Broke       %s %s: %s\n", failure.Where, failure.ParticipantID, failure.Error)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// printResponse shows the share of answers by week.
func (r Report) printResponse(out *strings.Builder) {
	var weeks []string
	for week := range slices.Chunk(r.Prompts.ByDay, 7) {
		sent, answered := 0, 0
		for _, day := range week {
			sent, answered = sent+day.Sent, answered+day.Answered
		}
		weeks = append(weeks, percent(answered, sent))
	}
	fmt.Fprintf(out, "By week     %s\n", strings.Join(weeks, " "))
}

// printHours shows the hours of the person's clock at which messages went out.
func (r Report) printHours(out *strings.Builder) {
	var hours []string
	for hour, count := range r.SendsByHour {
		if count > 0 {
			hours = append(hours, fmt.Sprintf("%02d:%d", hour, count))
		}
	}
	fmt.Fprintf(out, "By hour     %s\n", strings.Join(hours, " "))
}

// printAttention shows the days on which most called for an operator.
func (r Report) printAttention(out *strings.Builder) {
	total, most, on := 0, 0, 0
	for _, day := range r.Attention {
		sum := 0
		for _, count := range day.Raised {
			sum += count
		}
		if total += sum; sum > most {
			most, on = sum, day.Day
		}
	}
	if total == 0 {
		fmt.Fprintf(out, "Attention   none\n")
		return
	}
	fmt.Fprintf(out, "Attention   %d times on %d days, at most %d on day %d\n", total, len(r.Attention), most, on)
}

func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

// counts writes a map in the order of its keys.
func counts[K ~string](of map[K]int) string {
	if len(of) == 0 {
		return "none"
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%s %d", key, of[key]))
	}
	return strings.Join(parts, ", ")
}
