package sheet_test

import (
	"strings"
	"testing"
	"testing/quick"

	"github.com/stretchr/testify/require"

	"coachline/internal/sheet"
)

func isHeader(name string) bool { return name == "phone" || name == "name" }

func textsOf(t sheet.Table) [][]string {
	var out [][]string
	for _, row := range t.Rows {
		var texts []string
		for _, cell := range row {
			texts = append(texts, cell.Text)
		}
		out = append(out, texts)
	}
	return out
}

func TestReadTable(t *testing.T) {
	want := [][]string{{"phone", "name"}, {"+1555", "Zoë, \"Z\""}}
	for name, raw := range map[string]string{
		"commas":              "phone,name\n+1555,\"Zoë, \"\"Z\"\"\"\n",
		"no last line end":    "phone,name\n+1555,\"Zoë, \"\"Z\"\"\"",
		"byte order mark":     "\xEF\xBB\xBFphone,name\n+1555,\"Zoë, \"\"Z\"\"\"\n",
		"Windows lines":       "phone,name\r\n+1555,\"Zoë, \"\"Z\"\"\"\r\n",
		"Macintosh lines":     "phone,name\r+1555,\"Zoë, \"\"Z\"\"\"\r",
		"semicolons":          "phone;name\n+1555;\"Zoë, \"\"Z\"\"\"\n",
		"tabs":                "phone\tname\n+1555\t\"Zoë, \"\"Z\"\"\"\n",
		"separator line":      "sep=;\r\nphone;name\r\n+1555;\"Zoë, \"\"Z\"\"\"\r\n",
		"empty lines":         "\n\nphone,name\n\n,\n+1555,\"Zoë, \"\"Z\"\"\"\n  ,\t\n",
		"escaped formula":     "phone,name\n'+1555,\"Zoë, \"\"Z\"\"\"\n",
		"mark before quote":   "\xEF\xBB\xBF\"phone\",name\n+1555,\"Zoë, \"\"Z\"\"\"\n",
		"comma in the header": "phone;name\n+1555;\"Zoë, \"\"Z\"\"\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sheet.Read([]byte(raw), isHeader, 10)
			require.NoError(t, err)
			require.Empty(t, got.Faults)
			require.Equal(t, want, textsOf(got))
		})
	}
}

func TestReadSeparatorOfUnknownNames(t *testing.T) {
	got, err := sheet.Read([]byte("phone;shoe size\n+1555;42\n"), isHeader, 10)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"phone", "shoe size"}, {"+1555", "42"}}, textsOf(got))
}

func TestReadPlaces(t *testing.T) {
	got, err := sheet.Read([]byte("sep=,\nphone,name\n\"Zoë\nZ\",b\nééé,x\n"), isHeader, 10)
	require.NoError(t, err)
	require.Equal(t, sheet.Position{Line: 2, Column: 7}, got.Rows[0][1].At)
	require.Equal(t, sheet.Position{Line: 3, Column: 1}, got.Rows[1][0].At)
	require.Equal(t, sheet.Position{Line: 4, Column: 4}, got.Rows[1][1].At)
	require.Equal(t, sheet.Position{Line: 5, Column: 5}, got.Rows[2][1].At, "characters, not bytes")
}

func TestReadFaults(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		want []sheet.Position
	}{
		"Latin 1":              {"phone,name\n+1,Zo\xEB\n+2,a\n+3,\xFC\n", []sheet.Position{{Line: 2, Column: 6}, {Line: 4, Column: 4}}},
		"bare quotes":          {"phone,name\n+1,a\"b\n+2,c\n+3,d\"\n", []sheet.Position{{Line: 2, Column: 5}, {Line: 4, Column: 5}}},
		"text behind a quote":  {"phone,name\n+1,\"a\"b\n+2,c\n", []sheet.Position{{Line: 2, Column: 6}}},
		"quote without an end": {"phone,name\n+1,\"a\n+2,c\n", []sheet.Position{{Line: 2, Column: 1}}},
		"quote of another row": {"phone,name\n+1,\"a\n+2,\"c\"\n", []sheet.Position{{Line: 2, Column: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sheet.Read([]byte(c.raw), isHeader, 10)
			require.NoError(t, err)
			var places []sheet.Position
			for _, fault := range got.Faults {
				places = append(places, fault.At)
				require.NotEmpty(t, fault.Message)
			}
			require.Equal(t, c.want, places)
		})
	}
	t.Run("bounded", func(t *testing.T) {
		got, err := sheet.Read([]byte(strings.Repeat("\xFF\n", 100)), isHeader, 7)
		require.NoError(t, err)
		require.Len(t, got.Faults, 7)
	})
}

func TestReadRefusesWhatIsNoText(t *testing.T) {
	for name, raw := range map[string]string{
		"UTF-16 little": "\xFF\xFEp\x00h\x00", "UTF-16 big": "\xFE\xFF\x00p\x00h", "a workbook": "PK\x03\x04\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sheet.Read([]byte(raw), isHeader, 10)
			require.ErrorContains(t, err, "save it as CSV UTF-8")
		})
	}
}

func TestWriteEscapesFormulas(t *testing.T) {
	raw, err := sheet.Write([][]string{{"=1+1", "+1555", "-2", "@SUM", "\tx", "'=1", "'Abdul", "a=b", ""}})
	require.NoError(t, err)
	require.Equal(t, "'=1+1,'+1555,'-2,'@SUM,'\tx,''=1,'Abdul,a=b,\n", string(raw))
}

// TestRoundTrip: what is written is read as it was.
func TestRoundTrip(t *testing.T) {
	holds := func(cells []string) bool {
		row := []string{"phone"}
		for _, text := range cells {
			// Line ends within a cell are made one kind, and bytes that are no
			// characters are refused.
			text = strings.ToValidUTF8(strings.NewReplacer("\r", "", "\x00", "").Replace(text), "")
			row = append(row, text, "="+text, "'"+text, "'@"+text)
		}
		raw, err := sheet.Write([][]string{{"phone", "name"}, row})
		if err != nil {
			return false
		}
		got, err := sheet.Read(raw, isHeader, 10)
		return err == nil && len(got.Faults) == 0 && len(got.Rows) == 2 && strings.Join(textsOf(got)[1], "\x01") == strings.Join(row, "\x01")
	}
	require.NoError(t, quick.Check(holds, &quick.Config{MaxCount: 500}))
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("phone,name\n+1,\"a\"b\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := sheet.Read(raw, isHeader, 5)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(got.Faults), 5)
		for _, row := range got.Rows {
			for _, cell := range row {
				require.Positive(t, cell.At.Line)
				require.Positive(t, cell.At.Column)
			}
		}
	})
}
