package redact

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// everyday are texts of a coaching conversation, which come through as they
// are.
var everyday = []string{
	"Hi coach! I walked 30 minutes before work.",
	"8:00",
	"Can we do 8:00 instead of 7:30?",
	"remind me at 18:30 on weekdays",
	"Remind me at 0730 and 1930",
	"I did 10000 steps",
	"steps this week: 8500 9200 7400 8100 10000 12000 9500",
	"8500, 9200, 7400, 8100, 10250",
	"Mon 8500 Tue 9200 Wed 7400 Thu 8100 Fri 9900",
	"12,345 steps today!",
	"1.234.567 pasos este año",
	"I weigh 82.5 kg, was 84.1 in 2024",
	"from 180 lbs to 172.4 lbs since 01/02/2024",
	"On 2026-11-21 at 08:15 I ran 5 km",
	"21.11.2026 10:30 geht gut",
	"05.06.2024 10:30 Arzt",
	"born in 1987, started in 2023-2024",
	"blood pressure 120/80, pulse 64",
	"3 sets of 12 reps at 60 kg",
	"5x5 then 3x8, rest 90s",
	"sets: 12 12 10 8 8 6",
	"2000 kcal a day, 150 g protein",
	"Breakfast 400 lunch 650 dinner 700",
	"session: 45 minutes",
	"Session 3 of 12 done",
	"My goal is 150 minutes a week",
	"+5 kg on the bar",
	"+10000 steps",
	"The key is consistency",
	"my secret: start small",
	"Secret to success? Sleep.",
	"la clave es la constancia",
	"The code of conduct at my gym is strict",
	"I want to learn to code in 2024",
	"I did 10000 steps and learnt to code",
	"the zip code is 90210",
	"dress code is casual",
	"my password is too weak",
	"I forgot my password again",
	"the password is not working",
	"pass me the water",
	"pin this message",
	"Basic Strength programme, week 2",
	"bearer of good news!",
	"token of appreciation: none needed",
	"I am @ the gym",
	"meet at the dot on the map",
	"See https://example.com/plan?week=3&day=2",
	"rated 4.5/5, 10/10 would walk again",
	"half marathon in 1:58:32",
	"5k in 27:45, 10k in 58:10",
	"about 1700000 steps since January",
	"I read 24 pages, 3 chapters, 1 book",
	"room 204, 3rd floor",
	"bus 52 at 7.45",
	"€20 for 4 classes, $1,250.00 a year",
	"habit streak: 21 days 🎉",
	"Wake up 6:15, water 500 ml, walk 20 min",
	"order 12345678 arrived: new shoes size 42",
	"my ticket is 5551234567",
	"call me at 8:00",
	"text me on 2026-11-21",
	"ring me between 1830 and 1900",
	"my number one goal is sleep",
	"je marche 7 500 pas par jour",
	"Ich gehe um 17.30 Uhr, 3 mal pro Woche",
	"eu corri 5,5 km em 32 min",
	"ho fatto 8.000 passi",
	"ik liep 6000 stappen",
	"今日は8000歩 歩きました",
	"10 12 14 16 18 20 22",
	"weights 100 110 120 130 140",
	"10250 11200 12345",
	"Use code SAVE20 for 20% off",
	"600 700 800 kcal",
	"Passwords: never share them",
	"mein Schlüssel ist Geduld",
	"What is my password?",
	"done",
	"1",
	"yes 👍🏽",
	"Plan:\n1) walk 10 min\n2) stretch 5 min\n\nOK?",
	"0.123456789",
	"pi is 3.14159265358979",
	"version 1.26.8 of the app",
	"intervals 400 400 800 800 1600",
	"HR zones 120-135, 135-150, 150-165",
	"2019 2020 2021 2022 were hard years",
	"I passed 3 tests",
	"token-free afternoon",
	"password manager is a good idea",
	"VO2max 42, 7h12m sleep, 3x10",
	"she is 078 on the list",
	"Error code 404 on the page",
}

func TestText_Everyday(t *testing.T) {
	for _, in := range everyday {
		t.Run(in, func(t *testing.T) {
			require.Equal(t, Result{Text: in}, Text(in, 0))
			require.Equal(t, in, Scrub(in))
		})
	}
}

func TestText_Credentials(t *testing.T) {
	tests := []textCase{
		{"Spanish", "mi contraseña es girasol9", "mi contraseña es [REDACTED_SECRET]"},
		{"French", "le mot de passe est soleil", "le mot de passe est [REDACTED_SECRET]"},
		{"German", "Mein Passwort lautet Sommer24!", "Mein Passwort lautet [REDACTED_SECRET]"},
		{"Portuguese", "a senha é girassol", "a senha é [REDACTED_SECRET]"},
		{"Italian", "la password è girasole1", "la password è [REDACTED_SECRET]"},
		{"Dutch", "mijn wachtwoord is zonnebloem", "mijn wachtwoord is [REDACTED_SECRET]"},
		{"clave with digits", "la clave es Sol2024x", "la clave es [REDACTED_SECRET]"},
		{"quoted", `the password is "correct horse battery"`, `the password is [REDACTED_SECRET]`},
		{"pass phrase", "my passphrase is correct horse battery staple.", "my passphrase is [REDACTED_SECRET]."},
		{"no sign", "password hunter2 please", "password [REDACTED_SECRET] please"},
		{"changed to", "I changed my password to hunter2", "I changed my password to [REDACTED_SECRET]"},
		{"asks, then tells", "my password: password is hunter2", "my password: [REDACTED_SECRET] is hunter2"},
		{"api key", "api_key: abc123def", "api_key: [REDACTED_SECRET]"},
		{"environment", "OPENAI_API_KEY=abcdef", "OPENAI_API_KEY=[REDACTED_SECRET]"},
		{"JSON inside a text", `said {"password":"a b","n":1} then`, `said {"password":[REDACTED_SECRET],"n":1} then`},
		{"address", "postgres://coach:s3cret@db:5432/x", "postgres://[REDACTED_SECRET]@db:5432/x"},
		{"masked key of a provider", "Incorrect API key provided: sk-proj-****abcd.", "Incorrect API key provided: [REDACTED_SECRET]."},
		{"PEM", "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "[REDACTED_SECRET]"},
		{"session id", "PHPSESSID=abc123; path=/", "PHPSESSID=[REDACTED_TOKEN]; path=/"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Scrub(tt.in))
		})
	}
}

func TestText_Codes(t *testing.T) {
	tests := []textCase{
		{"brand", "123456 is your WhatsApp verification code", "[REDACTED_CODE] is your WhatsApp verification code"},
		{"Google", "G-123456 is your Google verification code.", "[REDACTED_CODE] is your Google verification code."},
		{"two groups", "Your code: 123-456", "Your code: [REDACTED_CODE]"},
		{"of whom", "Your code for the bank is 4821", "Your code for the bank is [REDACTED_CODE]"},
		{"as", "Use 482193 as your login code", "Use [REDACTED_CODE] as your login code"},
		{"letters", "code: X7K9Q2", "code: [REDACTED_CODE]"},
		{"PIN", "my PIN is 4821", "my PIN is [REDACTED_CODE]"},
		{"CVV", "cvv 123", "cvv [REDACTED_CODE]"},
		{"Spanish", "tu código es 482193", "tu código es [REDACTED_CODE]"},
		{"Spanish after", "482193 es tu código de verificación", "[REDACTED_CODE] es tu código de verificación"},
		{"French", "votre code est 482193", "votre code est [REDACTED_CODE]"},
		{"German", "Ihr Bestätigungscode lautet 482193", "Ihr Bestätigungscode lautet [REDACTED_CODE]"},
		{"Italian", "il codice è 482193", "il codice è [REDACTED_CODE]"},
		{"Dutch", "je verificatiecode is 482193", "je verificatiecode is [REDACTED_CODE]"},
		{"Portuguese", "o código é 482193", "o código é [REDACTED_CODE]"},
		{"Arabic-Indic digits", "code ١٢٣٤٥٦", "code [REDACTED_CODE]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Scrub(tt.in))
		})
	}
}

func TestText_Numbers(t *testing.T) {
	tests := []textCase{
		{"US in brackets", "(555) 000-0002", "[REDACTED_PHONE]"},
		{"US with 1", "1 555 000 0002", "[REDACTED_PHONE]"},
		{"US E.164", "+15558675310", "[REDACTED_PHONE]"},
		{"US in one", "mum: 2125550123", "mum: [REDACTED_PHONE]"},
		{"then steps", "+1 555 000 0002 2000 steps", "[REDACTED_PHONE] 2000 steps"},
		{"brackets of the sentence", "(212-555-0123)", "([REDACTED_PHONE])"},
		{"US in one, of the tests", "15550000002", "[REDACTED_PHONE]"},
		{"local", "call me at 555-0199", "call me at [REDACTED_PHONE]"},
		{"French", "06 12 34 56 78", "[REDACTED_PHONE]"},
		{"German", "0151 23456789", "[REDACTED_PHONE]"},
		{"London", "020 7946 0958", "[REDACTED_PHONE]"},
		{"00", "0044 7911 123456", "[REDACTED_PHONE]"},
		{"Spanish", "612 345 678", "[REDACTED_PHONE]"},
		{"Spanish word", "mi número es 612345678", "mi número es [REDACTED_PHONE]"},
		{"two", "2125550123 2125550124", "[REDACTED_PHONE] [REDACTED_PHONE]"},
		{"link", "tel:+442079460958", "tel:[REDACTED_PHONE]"},
		{"two cards", "4242424242424242 5555555555554444", "[REDACTED_CARD] [REDACTED_CARD]"},
		{"card and check value", "4242 4242 4242 4242 cvc 123 exp 12/27", "[REDACTED_CARD] cvc [REDACTED_CODE] exp 12/27"},
		{"card with leading 1 in fours", "1234 5678 9012 3452", "[REDACTED_CARD]"},
		{"card full-width", "４２４２４２４２４２４２４２４２", "[REDACTED_CARD]"},
		{"card with invisible signs", "4242\u200b4242\u200b4242\u200b4242", "[REDACTED_CARD]"},
		{"not Luhn", "4242424242424241", "4242424242424241"},
		{"SSN in one", "my social security number is 078051120", "my social security number is [REDACTED_SSN]"},
		{"UUID", "run 12345678-1234-4123-8123-123456789012", "run 12345678-1234-4123-8123-123456789012"},
		{"workflow id", "participant-conv_21255501234212555012", "participant-conv_21255501234212555012"},
		{"SID", "SM0123456789abcdef0123456789abcdef", "SM0123456789abcdef0123456789abcdef"},
		{"address of a server", "dial tcp 127.0.0.1:7233: refused", "dial tcp 127.0.0.1:7233: refused"},
		{"instant", "at 2026-11-21T12:53:06.123456789Z", "at 2026-11-21T12:53:06.123456789Z"},
		{"status in a link", "https://x.example/s/2125550123", "https://x.example/s/2125550123"},
		{"spelt e-mail", "jo at gmail dot com", "[REDACTED_EMAIL]"},
		{"e-mail in brackets", "Jo <jo@x.org>", "Jo <[REDACTED_EMAIL]>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Scrub(tt.in))
		})
	}
}
