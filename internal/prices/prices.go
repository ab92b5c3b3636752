// Package prices reads what models and carriers charge, and works out what a call
// or a text costs in whole millionths of the currency.
package prices

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// million is the tokens that a model's price is for.
const million = 1_000_000

// minuteMillis are the milliseconds that the price of speech is for.
const minuteMillis = 60_000

// List is what is charged, in one currency.
type List struct {
	currency string
	models   map[string]modelPrice
	// destinations are in the order of their prefixes, the longest first.
	destinations []destination
}

// modelPrice is in millionths of the currency for a million tokens, and for a minute
// of speech.
type modelPrice struct {
	input, cached, output int64
	minute                *int64
}

// destination is in millionths of the currency for a segment.
type destination struct {
	prefix            string
	outbound, inbound int64
}

// Used is what a call of a model used: tokens, of which Cached is a part of Input,
// and the milliseconds of a recording.
type Used struct{ Input, Cached, Output, AudioMillis int64 }

// file is a list as it is written down.
type file struct {
	Currency     string                 `json:"currency"`
	Models       map[string]fileModel   `json:"models"`
	Destinations map[string]fileSegment `json:"destinations"`
}

// fileModel has prices of tokens, of a minute of speech, or both.
type fileModel struct {
	Input       json.Number  `json:"input"`
	Cached      *json.Number `json:"cached_input"`
	Output      json.Number  `json:"output"`
	AudioMinute *json.Number `json:"audio_minute"`
}

type fileSegment struct {
	Outbound   json.Number  `json:"outbound"`
	Inbound    json.Number  `json:"inbound"`
	CarrierFee *json.Number `json:"carrier_fee"`
}

var (
	isCurrency = regexp.MustCompile(`^[A-Z]{3}$`)
	isPrefix   = regexp.MustCompile(`^\+[1-9][0-9]{0,14}$`)
	isPrice    = regexp.MustCompile(`^([0-9]{1,7})(?:\.([0-9]{1,6}))?$`)
	versionOf  = regexp.MustCompile(`-[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
)

// Parse reads a list. An error names the field to blame.
func Parse(content []byte) (*List, error) {
	var in file
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return nil, fmt.Errorf("it is not a price list: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the price list")
	}
	if !isCurrency.MatchString(in.Currency) {
		return nil, fmt.Errorf("currency: %q is not three capital letters such as USD", in.Currency)
	}
	list := &List{currency: in.Currency, models: map[string]modelPrice{}}
	for name, m := range in.Models {
		price, err := m.read("models." + name)
		if err != nil {
			return nil, err
		}
		list.models[name] = price
	}
	for prefix, s := range in.Destinations {
		if !isPrefix.MatchString(prefix) {
			return nil, fmt.Errorf("destinations.%s: want the beginning of a phone number such as +49", prefix)
		}
		price, err := s.read("destinations." + prefix)
		if err != nil {
			return nil, err
		}
		price.prefix = prefix
		list.destinations = append(list.destinations, price)
	}
	slices.SortFunc(list.destinations, func(a, b destination) int { return len(b.prefix) - len(a.prefix) })
	return list, nil
}

func (m fileModel) read(field string) (out modelPrice, err error) {
	if m.AudioMinute != nil {
		minute, err := toMicros(field+".audio_minute", *m.AudioMinute)
		out.minute = &minute
		if err != nil || m.Input == "" && m.Output == "" && m.Cached == nil {
			return out, err
		}
	}
	if out.input, err = toMicros(field+".input", m.Input); err != nil {
		return out, err
	}
	if out.output, err = toMicros(field+".output", m.Output); err != nil {
		return out, err
	}
	out.cached = out.input
	if m.Cached != nil {
		out.cached, err = toMicros(field+".cached_input", *m.Cached)
	}
	return out, err
}

func (s fileSegment) read(field string) (out destination, err error) {
	if out.outbound, err = toMicros(field+".outbound", s.Outbound); err != nil {
		return out, err
	}
	if out.inbound, err = toMicros(field+".inbound", s.Inbound); err != nil || s.CarrierFee == nil {
		return out, err
	}
	fee, err := toMicros(field+".carrier_fee", *s.CarrierFee)
	out.outbound += fee
	return out, err
}

// toMicros reads a price of at most six decimals in millionths, without rounding.
func toMicros(field string, n json.Number) (int64, error) {
	if n == "" {
		return 0, fmt.Errorf("%s: is required", field)
	}
	parts := isPrice.FindStringSubmatch(string(n))
	if parts == nil {
		return 0, fmt.Errorf("%s: %s is not a price of at most 7 digits and 6 decimals", field, n)
	}
	var micros int64
	for _, digit := range parts[1] + (parts[2] + "000000")[:6] {
		micros = micros*10 + int64(digit-'0')
	}
	return micros, nil
}

// Currency is what the prices are in; empty where there is no list.
func (l *List) Currency() string {
	if l == nil {
		return ""
	}
	return l.currency
}

// Model returns what a call costs in millionths of the currency, rounded half up;
// nil where the model has no price, and for a recording of which no length is
// known where only its minutes have one. A version such as -2026-04-14 at the end of a
// name counts only where it has a price of its own.
func (l *List) Model(name string, used Used) *int64 {
	if l == nil {
		return nil
	}
	price, found := l.models[name]
	if !found {
		price, found = l.models[versionOf.ReplaceAllString(name, "")]
	}
	if !found {
		return nil
	}
	if used.AudioMillis > 0 {
		if price.minute == nil {
			return nil
		}
		micros := (used.AudioMillis**price.minute + minuteMillis/2) / minuteMillis
		return &micros
	}
	if price.minute != nil && used == (Used{}) {
		return nil
	}
	cached := min(max(used.Cached, 0), used.Input)
	sum := (used.Input-cached)*price.input + cached*price.cached + used.Output*price.output
	micros := (sum + million/2) / million
	return &micros
}

// Outbound returns what segments to a number cost; nil where that has no price.
func (l *List) Outbound(number string, segments int64) *int64 {
	return l.segment(number, func(d destination) int64 { return d.outbound * segments })
}

// Inbound returns what segments from a number cost; nil where that has no price.
func (l *List) Inbound(number string, segments int64) *int64 {
	return l.segment(number, func(d destination) int64 { return d.inbound * segments })
}

func (l *List) segment(number string, price func(destination) int64) *int64 {
	if l == nil {
		return nil
	}
	for _, d := range l.destinations {
		if strings.HasPrefix(number, d.prefix) {
			micros := price(d)
			return &micros
		}
	}
	return nil
}
