package sms

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	twilio "github.com/twilio/twilio-go/client"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func request(target, signature string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, target, nil)
	if signature != "" {
		r.Header.Set(SignatureHeader, signature)
	}
	return r
}

func inboundForm() url.Values {
	return url.Values{
		"MessageSid": {"SM" + strings.Repeat("0", 31) + "1"}, "From": {person}, "To": {sender},
		"Body": {"Hi 👍 a=b&c"}, "NumMedia": {"0"},
	}
}

// The two vectors that the carrier publishes.
func TestPublishedSignatures(t *testing.T) {
	published := url.Values{
		"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+14158675309"}, "Digits": {"1234"}, "From": {"+14158675309"}, "To": {"+18005551212"},
	}
	t.Run("mycompany", func(t *testing.T) {
		v := NewVerifier([]string{token}, "https://mycompany.com")
		require.NoError(t, v.Check(request("/myapp.php?foo=1&bar=2", "RSOYDt4T1cUTdK1PDd93/VVr8B8="), published))
	})
	t.Run("coach", func(t *testing.T) {
		const signature = "GwggAZ6Qi6X52uo44DTbq1oXoRY="
		v := NewVerifier([]string{token}, "https://coach.example.org/v1/")
		require.NoError(t, v.Check(request("/twilio/inbound", signature), inboundForm()))
		changed := inboundForm()
		changed.Set("Body", "Hi 👍 a=b&d")
		require.ErrorIs(t, v.Check(request("/twilio/inbound", signature), changed), ErrSignature)
	})
}

func TestCheck(t *testing.T) {
	const base = "https://coach.example.org"
	form := inboundForm()
	good := sign("new", base+"/twilio/inbound?x=1", form)
	extra := inboundForm()
	extra.Set("Added", "without notice")
	repeated := inboundForm()
	repeated.Add("Body", "second")
	for _, test := range []struct {
		name, base, target, signature string
		tokens                        []string
		form                          url.Values
		ok                            bool
	}{
		{"current token", base, "/twilio/inbound?x=1", good, []string{"new", "old"}, form, true},
		{"old token while rotating", base, "/twilio/inbound?x=1", good, []string{"newer", "new"}, form, true},
		{"neither token", base, "/twilio/inbound?x=1", good, []string{"newer", "old"}, form, false},
		{"no token", base, "/twilio/inbound?x=1", good, []string{""}, form, false},
		{"no public address", "", "/twilio/inbound?x=1", good, []string{"new"}, form, false},
		{"no signature", base, "/twilio/inbound?x=1", "", []string{"new"}, form, false},
		{"query differs", base, "/twilio/inbound?x=2", good, []string{"new"}, form, false},
		{"query missing", base, "/twilio/inbound", good, []string{"new"}, form, false},
		{"other host", "https://evil.example.org", "/twilio/inbound?x=1", good, []string{"new"}, form, false},
		{"absolute request target says nothing about the host", base, "https://evil.example.org/twilio/inbound?x=1", good, []string{"new"}, form, true},
		{"trailing slash and fragment of the base", base + "/#rc=1", "/twilio/inbound?x=1", good, []string{"new"}, form, true},
		{"field added on the way", base, "/twilio/inbound?x=1", good, []string{"new"}, extra, false},
		{"unknown field that was signed", base, "/twilio/inbound", sign("new", base+"/twilio/inbound", extra), []string{"new"}, extra, true},
		{"repeated field", base, "/twilio/inbound?x=1", good, []string{"new"}, repeated, false},
		{"body hash in the query does not excuse the form", base, "/twilio/inbound?bodySHA256=00",
			sign("new", base+"/twilio/inbound?bodySHA256=00", nil), []string{"new"}, form, false},
		{"signed with the port", base, "/twilio/inbound", sign("new", base+":443/twilio/inbound", form), []string{"new"}, form, true},
		{"signed without the port", base + ":8443", "/twilio/inbound", sign("new", base+"/twilio/inbound", form), []string{"new"}, form, true},
		{"explicit port", "http://127.0.0.1:8080", "/twilio/inbound", sign("new", "http://127.0.0.1:8080/twilio/inbound", form), []string{"new"}, form, true},
		{"escaped path stays as it came", base, "/twilio/in%62ound", sign("new", base+"/twilio/in%62ound", form), []string{"new"}, form, true},
		{"empty body", base, "/s", sign("new", base+"/s", url.Values{"Body": {""}}), []string{"new"}, url.Values{"Body": {""}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := NewVerifier(test.tokens, test.base).Check(request(test.target, test.signature), test.form)
			if test.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrSignature)
			require.NotContains(t, err.Error(), "Hi")
		})
	}
}

func TestCheckRefusesTwoSignatures(t *testing.T) {
	form := inboundForm()
	r := request("/s", sign("k", "https://c.example/s", form))
	r.Header.Add(SignatureHeader, "other")
	require.ErrorIs(t, NewVerifier([]string{"k"}, "https://c.example").Check(r, form), ErrSignature)
}

func TestSignedLikeTheLibrary(t *testing.T) {
	validator := twilio.NewRequestValidator("k")
	form := inboundForm()
	require.True(t, validator.ValidateBody("https://c.example/s?a=b", []byte(form.Encode()), sign("k", "https://c.example/s?a=b", form)))
}

func TestParseInbound(t *testing.T) {
	with := func(name, text string) url.Values {
		form := inboundForm()
		form.Set("AccountSid", account)
		form.Set(name, text)
		return form
	}
	for _, test := range []struct{ name, field, text, want string }{
		{"not a message", "MessageSid", "CA" + strings.Repeat("0", 32), "MessageSid"},
		{"short id", "MessageSid", "SM123", "MessageSid"},
		{"id not hex", "MessageSid", "SM" + strings.Repeat("g", 32), "MessageSid"},
		{"other account", "AccountSid", "AC9", "AccountSid"},
		{"no account", "AccountSid", "", "AccountSid"},
		{"no sender", "From", "", "From"},
		{"alphanumeric sender", "From", "PARCEL", "From"},
		{"channel address", "From", "whatsapp:+15558675310", "From"},
		{"no recipient", "To", "", "To"},
		{"media count", "NumMedia", "two", "NumMedia"},
		{"negative media", "NumMedia", "-1", "NumMedia"},
		{"too much media", "NumMedia", "11", "NumMedia"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseInbound(with(test.field, test.text), account)
			var field *models.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, test.want, field.Field)
		})
	}
	for _, missing := range []string{"Body", "From", "To", "NumMedia"} {
		form := with("Body", "x")
		form.Del(missing)
		_, err := ParseInbound(form, account)
		var field *models.FieldError
		require.ErrorAs(t, err, &field, missing)
		require.Equal(t, missing, field.Field)
	}
	for _, test := range []struct {
		name string
		in   url.Values
		want models.Inbound
	}{
		{"text", with("Body", "Hi 👍"), models.Inbound{Body: "Hi 👍"}},
		{"media without words", func() url.Values { f := with("Body", ""); f.Set("NumMedia", "2"); return f }(), models.Inbound{MediaCount: 2}},
		{"broken bytes", with("Body", "a\x00b\xffc"), models.Inbound{Body: "ab\uFFFDc"}},
		{"multimedia id", with("MessageSid", "MM"+strings.Repeat("aB", 16)), models.Inbound{ProviderSID: "MM" + strings.Repeat("aB", 16), Body: "Hi 👍 a=b&c"}},
		{"short code", with("From", "72975"), models.Inbound{From: "72975", Body: "Hi 👍 a=b&c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := test.want
			want.To = sender
			if want.ProviderSID == "" {
				want.ProviderSID = sid
			}
			if want.From == "" {
				want.From = person
			}
			got, err := ParseInbound(test.in, account)
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
	_, err := ParseInbound(with("AccountSid", ""), "")
	require.Error(t, err, "no account configured is not a match")
}

func FuzzWebhookForm(f *testing.F) {
	good := inboundForm()
	good.Set("AccountSid", account)
	f.Add(good.Encode())
	f.Add("MessageSid=SM&AccountSid=" + account)
	f.Add("Body=%00%ff&NumMedia=9999999999999999999")
	f.Add("a=1&a=2")
	v := NewVerifier([]string{token}, "https://c.example")
	f.Fuzz(func(t *testing.T, body string) {
		form, err := url.ParseQuery(body)
		if err != nil {
			return
		}
		if err := v.Check(request("/twilio/inbound", "AAAA"), form); err == nil {
			t.Fatal("an invented signature passed")
		}
		right := sign(token, "https://c.example/twilio/inbound", form)
		repeated := false
		for _, values := range form {
			repeated = repeated || len(values) > 1
		}
		if err := v.Check(request("/twilio/inbound", right), form); (err != nil) != repeated {
			t.Fatalf("repeated %v, error %v", repeated, err)
		}
		in, err := ParseInbound(form, account)
		if err != nil {
			var field *models.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, models.Inbound{}, in)
			return
		}
		require.True(t, utf8.ValidString(in.Body))
		require.NotContains(t, in.Body, "\x00")
		require.Regexp(t, messageSID, in.ProviderSID)
		require.Regexp(t, party, in.From)
	})
}
