package console

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// formNames are the names in forms of fields that the API calls otherwise.
var formNames = map[string]string{
	"phone_number": "phone", "message": "body", "waiting_messages": "waiting", "target_state": "mode", "paused_until": "until", "expires_at": "days", "scopes": "scope",
	"name": "view_name",
}

// markRefused returns the page of a refused form with the field to blame marked, named
// as the page names it and with the focus, and with the form open. Where no field is to
// blame the focus is on the problem.
func (v *viewer) markRefused(page []byte) []byte {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return page // what a browser would be given all the same
	}
	problem := findNode(doc, func(n *html.Node) bool { return attrOf(n, "id") == "problem" })
	form := findNode(doc, v.isSentForm)
	if problem == nil {
		return page
	}
	focused := problem
	if form != nil {
		for outer := range form.Ancestors() {
			if outer.Data == "details" {
				setAttr(outer, "open", "")
			}
		}
		if control, why := v.blamed(form); control != nil {
			focused = control
			setAttr(control, "aria-invalid", "true")
			setAttr(control, "aria-describedby", strings.TrimSpace("problem "+attrOf(control, "aria-describedby")))
			problem.FirstChild.Data = notDone + labelText(doc, control) + ": " + why
		}
	}
	setAttr(focused, "autofocus", "")
	var out bytes.Buffer
	if html.Render(&out, doc) != nil {
		return page
	}
	return out.Bytes()
}

// notDone begins what is said of a refused form.
const notDone = "Not done: "

// isSentForm reports whether a node is the form that was sent; key and form tell apart
// forms of one address.
func (v *viewer) isSentForm(n *html.Node) bool {
	if n.Data != "form" || attrOf(n, "action") != v.request.URL.Path || !strings.EqualFold(attrOf(n, "method"), v.request.Method) {
		return false
	}
	for _, name := range []string{"key", "form"} {
		field := findNode(n, func(field *html.Node) bool { return attrOf(field, "type") == "hidden" && attrOf(field, "name") == name })
		if field != nil && attrOf(field, "value") != v.value(name) {
			return false
		}
	}
	return true
}

// blamed returns the control of a form whose name begins the problem, and what is wrong
// with it; nil where it begins with none.
func (v *viewer) blamed(form *html.Node) (*html.Node, string) {
	name, why, _ := strings.Cut(v.problem, ": ")
	name = name[strings.LastIndexByte(name, '.')+1:]
	names := []string{name, formNames[name]}
	return findNode(form, func(n *html.Node) bool {
		isControl := n.Data == "input" && attrOf(n, "type") != "hidden" || n.Data == "textarea" || n.Data == "select"
		return isControl && slices.Contains(names, attrOf(n, "name"))
	}), why
}

// labelText is the name of a control on its page, without what explains it.
func labelText(doc, control *html.Node) string {
	label := findNode(doc, func(n *html.Node) bool { return n.Data == "label" && attrOf(n, "for") == attrOf(control, "id") })
	for outer := range control.Ancestors() {
		if label == nil && outer.Data == "fieldset" {
			label = findNode(outer, func(n *html.Node) bool { return n.Data == "legend" })
		}
	}
	if label == nil || label.FirstChild == nil {
		return attrOf(control, "name")
	}
	text := label.FirstChild.Data
	if end := strings.IndexAny(text, "(,;:"); end > 0 {
		text = text[:end]
	}
	return strings.TrimSpace(text)
}

// findNode returns the first node below one that fits; nil for none.
func findNode(below *html.Node, fits func(*html.Node) bool) *html.Node {
	for n := range below.Descendants() {
		if n.Type == html.ElementNode && fits(n) {
			return n
		}
	}
	return nil
}

func attrOf(n *html.Node, key string) string {
	for _, attr := range n.Attr {
		if attr.Key == key {
			return attr.Val
		}
	}
	return ""
}

// setAttr gives a node an attribute, in the place of an earlier value.
func setAttr(n *html.Node, key, value string) {
	n.Attr = append(slices.DeleteFunc(n.Attr, func(attr html.Attribute) bool { return attr.Key == key }), html.Attribute{Key: key, Val: value})
}
