"use strict";
const $ = id => document.getElementById(id);
let complaint = "";       // why the last action failed, until the next one
let current = decodeURIComponent(location.hash.slice(1));
const rows = new Map();   // number -> list row
const shown = new Map();  // sid -> line below a text
const drafts = new Map(); // number -> unsent text
const states = {
  from_phone: { queued: "on its way to the coach", received: "received by the coach", failed: "not taken by the coach" },
  to_phone: { accepted: "accepted", queued: "queued", sent: "sent", delivered: "delivered", failed: "failed" },
};
// The fields that an error may begin with, and what the page calls them.
const fields = {
  number: ["number", "Phone number"], phone_number: ["number", "Phone number"],
  name: ["name", "Name"], timezone: ["zone", "Time zone"],
};

async function call(path, body) {
  const response = await fetch(path, body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error || "The simulator answered " + response.status + ".");
  return answer;
}

const messagesOf = number => "/sim/phones/" + encodeURIComponent(number) + "/messages";

// say changes a text only when it differs: a live region repeats what is set.
function say(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function element(tag, text, name) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

function showPhones(phones) {
  for (const phone of phones) {
    let row = rows.get(phone.number);
    if (!row) {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.append(element("span", phone.number), element("span", "", "soft"));
      button.addEventListener("click", () => choose(phone.number));
      item.append(button);
      $("list").append(item);
      row = { button, last: button.lastChild };
      rows.set(phone.number, row);
    }
    const last = (phone.blocked ? "Sent STOP. " : "") + (phone.last || "No texts yet");
    if (row.last.textContent !== last) row.last.textContent = last;
    row.button.setAttribute("aria-current", phone.number === current);
  }
}

function showMessages(messages) {
  const log = $("log");
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  let added = false;
  for (const message of messages) {
    let row = shown.get(message.sid);
    if (!row) {
      const item = element("li", "", message.direction);
      row = element("small", "");
      item.append(element("span", message.direction === "to_phone" ? "Coach: " : "You: ", "unseen"), element("p", message.body), row);
      $("texts").append(item);
      shown.set(message.sid, row);
      added = true;
    }
    const state = (states[message.direction] || {})[message.status] || message.status;
    const line = new Date(message.at).toLocaleString() + " - " + state;
    if (row.textContent !== line) row.textContent = line;
    row.className = message.status === "failed" ? "failed" : "";
  }
  if (added && atEnd) log.scrollTop = log.scrollHeight;
}

function choose(number) {
  if (current) drafts.set(current, $("body").value);
  current = number;
  complaint = "";
  location.hash = encodeURIComponent(number);
  shown.clear();
  $("texts").replaceChildren();
  $("body").value = drafts.get(number) || "";
  return refresh().then(() => { $("log").scrollTop = $("log").scrollHeight; $("body").focus(); });
}

async function refresh() {
  try {
    const overview = await call("/sim/phones");
    say("coach", overview.coach);
    $("script").hidden = !overview.script;
    say("script", overview.script ? "The answers on these phones come from a script. " + overview.script : "");
    $("enrol").hidden = !overview.enrolment;
    if (!current && overview.phones.length) current = overview.phones[0].number;
    showPhones(overview.phones);
    const number = current;
    say("phone-title", number || "Choose or add a phone");
    $("body").disabled = $("send").disabled = !number;
    if (number) {
      const answer = await call(messagesOf(number));
      if (number === current) showMessages(answer.messages);
    }
    say("trouble", complaint);
  } catch (problem) {
    say("trouble", problem instanceof TypeError ? "The simulator does not answer. Trying again..." : problem.message);
  }
}

// complain shows why something was refused and leads to the field, if one is to blame.
function complain(start, problem) {
  let text = problem instanceof TypeError ? "the simulator does not answer" : problem.message;
  const [, name, rest] = /^([a-z_]+): ([^]*)$/.exec(text) || [];
  if (fields[name]) {
    const [id, label] = fields[name];
    text = label + ": " + rest;
    $(id).setAttribute("aria-invalid", "true");
    $(id).focus();
  }
  complaint = start + text;
  say("trouble", complaint);
}

function forgive() {
  complaint = "";
  say("trouble", "");
  say("notice", "");
  for (const [id] of Object.values(fields)) $(id).removeAttribute("aria-invalid");
}

async function send(event) {
  event.preventDefault();
  const body = $("body").value, number = current;
  if (!number || !body.trim()) return;
  forgive();
  try {
    await call(messagesOf(number), { body });
    if (number === current) $("body").value = "";
    drafts.delete(number);
    await refresh();
    $("log").scrollTop = $("log").scrollHeight;
  } catch (problem) {
    complain("The text was not sent. ", problem);
  }
}

async function enrol(event) {
  event.preventDefault();
  if ($("enrol").hidden) return addStranger();
  forgive();
  try {
    const answer = await call("/sim/participants", {
      number: $("number").value.trim(), name: $("name").value.trim(), timezone: $("zone").value.trim(),
    });
    $("number").value = $("name").value = "";
    say("notice", "Enrolled " + answer.number + ". " + answer.message);
    await choose(answer.number);
  } catch (problem) {
    complain("Not enrolled. ", problem);
  }
}

async function addStranger() {
  forgive();
  const number = $("number").value.replace(/[\s().-]/g, "");
  try {
    await call("/sim/phones", { number });
    $("number").value = $("name").value = "";
    await choose(number);
  } catch (problem) {
    complain("Not added. ", problem);
  }
}

$("compose").addEventListener("submit", send);
$("body").addEventListener("keydown", event => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
});
$("add").addEventListener("submit", enrol);
$("stranger").addEventListener("click", addStranger);
$("zone").value = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

async function follow() {
  await refresh();
  setTimeout(follow, 1000);
}
follow();
