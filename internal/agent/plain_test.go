package agent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPlain(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "Nice walk! See you at 8.30.", "Nice walk! See you at 8.30."},
		{"comparison", "x < 3 and y > 2", "x < 3 and y > 2"},
		{"comparison without spaces", "a<b and c>d", "a<b and c>d"},
		{"arithmetic", "2 * 3 * 4 = 24, 2*3*4, 2**3**4", "2 * 3 * 4 = 24, 2*3*4, 2**3**4"},
		{"dunder", "call __init__ and __my_name__", "call __init__ and __my_name__"},
		{"snake case", "snake_case_name, file_1_2.txt", "snake_case_name, file_1_2.txt"},
		{"emoticons", "ok ^_^ *_* ~10 min~\nkiss :*", "ok ^_^ *_* ~10 min~\nkiss :*"},
		{"year", "2024. A good year", "2024. A good year"},
		{"hash", "#1 goal, #walk", "#1 goal, #walk"},
		{"lone star", "5* hotel, *terms", "5* hotel, *terms"},
		{"negative number", "-5 degrees", "-5 degrees"},
		{"brackets", "f[i](x) and [optional] (really)", "f[i](x) and [optional] (really)"},
		{"windows path", `C:\new\table`, `C:\new\table`},

		{"bold", "a **bold** move, __two words__", "a bold move, two words"},
		{"italic", "an *odd* and _even_ day (*so*)", "an odd and even day (so)"},
		{"both", "***all*** of **it *here* now**", "all of it here now"},
		{"bold before a colon", "**Note:** walk. **Then:**rest", "Note: walk. Then:rest"},
		{"bold in Chinese", "这是**重点**内容", "这是重点内容"},
		{"bold over two lines", "**one\ntwo**", "one\ntwo"},
		{"not over paragraphs", "**one\n\ntwo**", "**one\n\ntwo**"},
		{"italic ends with its line", "*one\ntwo*", "*one\ntwo*"},
		{"cut off", "**Bold and", "**Bold and"},
		{"strike", "~~no~~ yes", "no yes"},
		{"code", "run `make *all*` and ``a ` b``", "run make *all* and a ` b"},
		{"code that is HTML", "use `<b>` here", "use <b> here"},
		{"lone backtick", "a ` b", "a ` b"},
		{"escapes", `1\. \*not\* \_this\_ \# \[x\]`, "1. *not* _this_ # [x]"},
		{"hard break", "one\\\ntwo  \nthree", "one\ntwo\nthree"},

		{"heading", "# Plan\n## Day one ##\n####### seven", "Plan\nDay one\n####### seven"},
		{"setext", "Plan\n====\nDay\n---\nWalk", "Plan\nDay\n\nWalk"},
		{"rule", "a\n\n***\n\nb\n- - -\nc", "a\n\nb\n\nc"},
		{"quote", "> Walk\n> more\n>> and rest\n>", "Walk\nmore\nand rest"},
		{"quoted heading", "> # Plan\n> - walk", "Plan\nwalk"},
		{"bullets", "Try:\n- walk\n* **rest**\n+ eat\n  - a lot", "Try:\nwalk\nrest\neat\na lot"},
		{"tasks", "- [ ] walk\n- [x] rest\n* [X] eat", "walk\nrest\neat"},
		{"empty bullet", "a\n-\nb", "a\nb"},
		{"numbers", "1. walk\n2. rest\n\n3. eat", "1) walk\n2) rest\n\n3) eat"},
		{"numbers with notes between", "1. walk\n   - slowly\n2. rest", "1) walk\nslowly\n2) rest"},
		{"one number", "1. walk", "1. walk"},
		{"not a list", "99. a\n100. b", "99. a\n100. b"},
		{"two years", "2024. A good year\n2025. Another", "2024. A good year\n2025. Another"},

		{"link", "see [the page](https://example.org/a_b_c) now", "see the page https://example.org/a_b_c now"},
		{"link with title", `[a](https://example.org "A title")`, "a https://example.org"},
		{"link that says itself", "[example.org](https://example.org/), [call](tel:+12025550123), [a@b.org](mailto:a@b.org)", "https://example.org/, call +12025550123, a@b.org"},
		{"link with brackets", "[a [b] c](<https://example.org/x (y)>) [w](https://example.org/w_(x))", "a [b] c https://example.org/x (y) w https://example.org/w_(x)"},
		{"link in the page", "[up](#top), [none]()", "up, none"},
		{"bold link", "**[a](https://example.org)**", "a https://example.org"},
		{"image", "![a cat](https://example.org/c.png) ![](https://example.org/d.png)", "a cat https://example.org/c.png https://example.org/d.png"},
		{"linked image", "[![cat](https://e.org/c.png)](https://e.org)", "cat https://e.org/c.png https://e.org"},
		{"bare address", "https://example.org/_a_*b*c?x=1&lt=2 and www.example.org/__init__.", "https://example.org/_a_*b*c?x=1&lt=2 and www.example.org/__init__."},
		{"bold address", "**https://example.org/a**", "https://example.org/a"},
		{"autolink", "<https://example.org> <a@b.org> <mailto:c@d.org>", "https://example.org a@b.org c@d.org"},

		{"HTML", "<b>a</b> <span class=\"x\">b</span><br/>c<p>d</p><!-- e -->f", "a b\nc\nd\nf"},
		{"HTML link", `<a class="x" href="https://example.org">here</a>`, "here https://example.org"},
		{"what is no tag", "<Ada> said <b and c> d, i <3 u", "<Ada> said <b and c> d, i <3 u"},
		{"entities", "a &lt; b &amp;&amp; c&nbsp;d &copy", "a < b && c d &copy"},

		{"fence", "Run:\n```sh\nmake *all*  # x\n- a\n```\nthen **go**", "Run:\nmake *all*  # x\n- a\nthen go"},
		{"tilde fence", "~~~\n**a**\n~~~", "**a**"},
		{"fence never closed", "```\n**a**", "a"},
		{"quoted fence", "> ```\n> _a_\n> ```", "_a_"},
		{
			"table", "| Day | **What** | Min |\n|:--|---|--:|\n| Mon | Walk \\| run | 10 |\n| Tue | Rest | |\n\nok",
			"Day: What, Min\nMon: Walk | run, 10\nTue: Rest\n\nok",
		},
		{"bars are no table", "a | b\nc | d", "a | b\nc | d"},

		{"nothing", "", ""},
		{"only marks", "---\n\n```\n```\n- [ ]\n#", "#"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Plain(tt.in))
		})
	}
}

// Bold, list, heading and table in one answer.
func TestWordsOfAnAnswer(t *testing.T) {
	in := "<think>plan</think>## Your week\n\n**Great start!** Here is the plan:\n\n1. *Walk* after coffee\n2. Rest\n\n" +
		"| Day | Minutes |\n| --- | --- |\n| Mon | 10 |\n\n2024. A good year, wasn't it?\n\n---\n"
	require.Equal(t, "Your week\n\nGreat start! Here is the plan:\n\n1) Walk after coffee\n2) Rest\n\n"+
		"Day: Minutes\nMon: 10\n\n2024. A good year, wasn't it?", Words(in))
	require.Equal(t, "Walk?", Words("## Your answer: Walk?"))
	require.Equal(t, "What helped?", Words("Your answer What helped?"))
	require.Equal(t, "¿Qué ayudó?", Words("# Your answer\n¿Qué ayudó?"))
	require.Equal(t, "Your answer helps: walk.", Words("Your answer helps: walk."))
	require.Empty(t, Words(" <think>hm</think>\n***\n"))
}

// Text in which nothing means anything to markdown comes back as it was.
func TestPlainKeepsPlainText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{
			"walk", "Nice!", "x < 3", "y > 2", "a<b", "c>d", "__init__", "snake_case_name", "2 * 3", "2*3*4", "8.30", "e.g.", "2024.", "#1",
			"5*", "C:\\new", "(so)", "[ok]", "f(x)", "-5", "~10", "don't", "“quoted”", "👍🏽", "今日は", "é", "&", "AT&T", "<3", "a|b", "=",
			"https://example.org/a_b_c?d=*e*", "www.example.org", "a@b.org", "...", "\n", "\n\n", "$5", "100%", "1) yes", "\\o/",
		}), 0, 60).Draw(rt, "words")
		text := strings.TrimSpace(blankLines.ReplaceAllString(strings.Join(words, " "), "\n\n"))
		text = trailing.ReplaceAllString(text, "")
		for _, line := range strings.Split(text, "\n") {
			if quoteLine.MatchString(strings.TrimLeft(line, " ")) {
				return // "> 2" at the start of a line is a quotation
			}
		}
		require.Equal(rt, text, Plain(text))
	})
}

func TestPlainTwiceIsPlainOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{
			"# Plan", "**bold**", "*it*", "_it_", "~~no~~", "- a", "* b", "1. c", "2. d", "> q", "---", "x < 3", "<b>x</b>", "\n", "\n\n",
			"[a](https://e.org)", "![a](https://e.org/a.png)", "https://e.org/a_b", "- [ ] t", "\n| a | b |\n|---|---|\n| c | d |\n", "walk",
		}), 0, 40).Draw(rt, "words")
		once := Plain(strings.Join(words, " "))
		require.Equal(rt, once, Plain(once))
	})
}

func FuzzPlain(f *testing.F) {
	for _, seed := range []string{
		"**a** _b_ `c` [d](https://e.org) ![](f.png) <b>g</b> <!-- h -->", "# a\n> - [ ] b\n1. c\n2. d\n\n```\ne\n```", "| a | b |\n|--|--|\n| c | d |",
		"x < 3 and y > 2", "[[[[((((", "****____~~~~", "\\", "`", "<", "![", "*a **b* c**", "<a href=x></a>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := Words(in)
		require.True(t, utf8.ValidString(out))
		require.Equal(t, strings.TrimSpace(out), out)
		if !strings.ContainsAny(in, "\\`*_{}[]<>()#+-.!|~=&:\r\n") && strings.TrimSpace(in) == in && Clean(in) == in && !strings.Contains(strings.ToLower(in), "www.") {
			require.Equal(t, in, out)
		}
	})
}
