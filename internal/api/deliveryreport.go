package api

import "time"

// DeliveryFailure is how many texts failed with one code of the carrier.
type DeliveryFailure struct {
	Code     string    `json:"code" doc:"Empty where the carrier gave none."`
	Meaning  string    `json:"meaning" doc:"Empty for a code that is not known."`
	NextStep string    `json:"next_step" doc:"What an operator can do; empty where there is no code."`
	Texts    int       `json:"texts"`
	NewestAt time.Time `json:"newest_at" doc:"When the newest of them failed, to the second."`
}

// DeliveryDay is what was sent and came on one UTC day. Texts count on the day on
// which they were written, not by the day of their delivery.
type DeliveryDay struct {
	Day       string `json:"day" format:"date"`
	In        int    `json:"in" doc:"Texts that came; up to a minute behind. 0 where one sender is asked for."`
	Out       int    `json:"out" doc:"Texts written, also those that wait or were canceled."`
	Segments  int    `json:"segments" doc:"Of the texts written; one without a count is 1."`
	Uncounted int    `json:"uncounted" doc:"Texts without a count of segments."`
	Delivered int    `json:"delivered"`
	Failed    int    `json:"failed"`
}

// DeliverySender is how the texts of one sender fared in all the days.
type DeliverySender struct {
	Sender    string `json:"sender" doc:"The number or messaging service that posted the texts; empty for those that were not posted, and from before senders were kept."`
	Out       int    `json:"out"`
	Segments  int    `json:"segments"`
	Delivered int    `json:"delivered"`
	Failed    int    `json:"failed"`
}

// PromptLateness is how long after their targets prompts were sent; one that was
// sent before its target is 0 late.
type PromptLateness struct {
	Prompts       int     `json:"prompts"`
	MedianSeconds float64 `json:"median_seconds"`
	P95Seconds    float64 `json:"p95_seconds" doc:"The 95th percentile."`
	Late          int     `json:"late" doc:"Prompts more than 5 minutes late."`
	Cut           bool    `json:"cut" doc:"Only the newest 100,000 prompts were looked at."`
}

// UnknownSends are texts that the carrier may or may not have.
type UnknownSends struct {
	Texts    int        `json:"texts"`
	OldestAt *time.Time `json:"oldest_at" doc:"When the oldest of them was written; null where there is none."`
}

// DeliveryReport is how texts fared in some days, today among them.
type DeliveryReport struct {
	From     time.Time         `json:"from"`
	Until    time.Time         `json:"until"`
	Days     []DeliveryDay     `json:"days" nullable:"false" doc:"Every UTC day, the earliest first."`
	Senders  []DeliverySender  `json:"senders" nullable:"false" doc:"Every sender, also where one is asked for."`
	Failures []DeliveryFailure `json:"failures" nullable:"false" doc:"The most frequent first."`
	Prompts  PromptLateness    `json:"prompts"`
	Unknown  UnknownSends      `json:"unknown"`
}
