package starter

import (
	"slices"

	"coachline/internal/sms"
	"coachline/internal/study"
	"coachline/models"
)

// numbers tells the numbers of the programme and of its studies from those of people.
type numbers struct {
	region   string
	carrier  CarrierConfig
	resolver *study.Resolver
}

// parse returns a number in E.164. The programme's own numbers are refused: it would
// text itself.
func (n *numbers) parse(text string) (string, error) {
	phone, err := sms.Canonical(text, n.region)
	if err != nil {
		return "", err
	}
	if slices.Contains(n.list(), phone) {
		return "", models.BadField("phone_number", "is the programme's own number")
	}
	return phone, nil
}

// parseSender returns a number of our own in E.164.
func (n *numbers) parseSender(text string) (string, error) {
	phone, err := sms.Canonical(text, n.region)
	if err != nil || phone != text {
		return "", models.BadField("settings.from", "must be a number in E.164, such as +15017122661")
	}
	return phone, nil
}

// isOurs reports whether a text was sent to this programme or to one of its
// studies. With neither numbers nor a service configured, the signature and the
// account have to do.
func (n *numbers) isOurs(to, serviceSID string) bool {
	if len(n.carrier.OurNumbers) == 0 && n.carrier.MessagingServiceSID == "" {
		return true
	}
	senders := append(n.resolver.Senders(), models.Sender{MessagingService: n.carrier.MessagingServiceSID})
	isService := func(sender models.Sender) bool {
		return sender.MessagingService != "" && sender.MessagingService == serviceSID
	}
	return slices.Contains(n.list(), to) || slices.ContainsFunc(senders, isService)
}

// list names the numbers of the programme and of its studies.
func (n *numbers) list() []string {
	list := slices.Clone(n.carrier.OurNumbers)
	for _, sender := range n.resolver.Senders() {
		if sender.From != "" {
			list = append(list, sender.From)
		}
	}
	return list
}
