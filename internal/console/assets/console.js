"use strict";
// A link to a field of a closed form opens the form, in browsers that do not do so
// themselves.
(() => {
  const reveal = () => {
    const field = document.getElementById(location.hash.slice(1));
    const closed = field?.closest("details:not([open])");
    if (closed) { closed.open = true; field.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
// A page that follows changes is fetched again when something changed and morphed
// into what is shown. What is shown becomes what was fetched, but for what a person has
// entered into fields and what is open; the focus stays where it was.
(() => {
  const subject = document.body.dataset.follow;
  const toggle = document.getElementById("follow");
  const state = document.getElementById("follow-state");
  if (!subject || !toggle || !window.EventSource) return;
  toggle.checked = localStorage.getItem("follow") !== "no";
  let port, timer, quiet, fetching = false, again = false, isPressed = false;
  const lost = " (connection lost, trying again)";

  const isBox = (field) => field.type === "radio" || field.type === "checkbox";
  const isEntered = (field) => isBox(field) ? field.checked !== field.defaultChecked
    : field.tagName === "SELECT" ? [...field.options].some((o) => o.selected !== o.defaultSelected) : field.value !== field.defaultValue;
  const isTouched = (node) => node.matches("input:not([type=hidden]), textarea, select") && (node === document.activeElement || isEntered(node));
  // The hidden fields of a form say what it was drawn from: they stay while it is filled in.
  const isKept = (node) => isTouched(node) || node.type === "hidden" && [...(node.form?.elements || [])].some(isTouched);

  // Words whose field went away are shown above the page.
  const showLost = ({ label, words }) => {
    const note = document.createElement("div");
    note.className = "notice";
    note.setAttribute("role", "status");
    note.append(Object.assign(document.createElement("p"), { textContent: `What you wrote under “${label}” was not sent: it is no longer asked for. You wrote:` }),
      Object.assign(document.createElement("p"), { className: "prewrap", textContent: words }));
    document.getElementById("main").prepend(note);
  };

  // What is pressed stays in its place until it is let go: a page that grows in between
  // would lose the click.
  addEventListener("pointerdown", () => { isPressed = true; });
  for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => { isPressed = false; if (again) { again = false; schedule(); } });

  const morph = (fresh) => {
    const page = document.getElementById("page"), focused = document.activeElement, around = [];
    for (let node = focused; node && node !== document.body; node = node.parentElement) if (node === focused || node.hasAttribute("tabindex")) around.push(node);
    const typed = [...page.querySelectorAll("textarea, input:not([type=hidden])")].filter((field) => !isBox(field) && isEntered(field))
      .map((field) => ({ field, words: field.value, label: field.labels[0]?.textContent || field.name }));
    const known = new Set([...page.querySelectorAll("[id]")].map((node) => node.id));
    Idiomorph.morph(page, fresh, {
      callbacks: {
        beforeNodeMorphed: (old) => !(old.nodeType === 1 && old.matches("textarea, select") && isTouched(old)),
        beforeAttributeUpdated: (name, node) => !(name === "open" && node.tagName === "DETAILS"
          || node.tagName === "INPUT" && name === (isBox(node) ? "checked" : "value") && isKept(node)),
      },
    });
    // Live regions outside of what is morphed tell what is new to those who do not see it.
    for (const [kind, region] of [["news", "news"], ["urgent", "news-urgent"]]) {
      const said = [...page.querySelectorAll(`[data-${kind}]`)].filter((node) => !known.has(node.id)).map((node) => node.dataset[kind]);
      if (said.length) document.getElementById(region).textContent = said.join(". ");
    }
    typed.filter(({ field }) => !field.isConnected).forEach(showLost);
    around.find((node) => node.isConnected)?.focus({ preventScroll: true });
  };

  const redraw = async () => {
    if (fetching) { again = true; return; }
    fetching = true;
    try {
      const answer = await fetch(location.href, { headers: { "X-Follow": "1" } }).catch(() => undefined);
      if (!answer) return; // The stream says when the server is back.
      if (answer.redirected || answer.status === 401) { location.reload(); return; }
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("page");
      if (isPressed) { again = true; return; }
      morph(fresh);
      document.documentElement.dataset.redrawn = String(Number(document.documentElement.dataset.redrawn || 0) + 1);
    } finally {
      fetching = false;
      if (again && !isPressed) { again = false; schedule(); }
    }
  };
  const schedule = () => { clearTimeout(timer); timer = setTimeout(redraw, 50); };
  const leave = () => { clearTimeout(quiet); port?.postMessage(""); port?.close(); port = undefined; };
  const connect = () => {
    if (window.SharedWorker) return new SharedWorker(document.body.dataset.live).port;
    const channel = new MessageChannel();
    import(document.body.dataset.live).then(() => joinStream(channel.port1));
    return channel.port2;
  };
  // The server sends something every 15 seconds. A stream that is silent for longer is dead,
  // although no error was told.
  const watch = () => {
    clearTimeout(quiet);
    quiet = setTimeout(() => { state.textContent = lost; join(); }, 30000);
  };
  const join = () => {
    leave();
    port = connect();
    port.onmessage = ({ data: says }) => {
      state.textContent = says === "lost" ? lost : "";
      if (says === "change") schedule();
      if (says === "end") location.reload();
      if (says !== "lost") watch();
    };
    port.postMessage(subject);
    watch();
  };
  // Who joins is told of a change: the page is fetched once.
  const follow = () => { if (toggle.checked && !document.hidden) join(); else leave(); };
  toggle.addEventListener("change", () => {
    localStorage.setItem("follow", toggle.checked ? "yes" : "no");
    state.textContent = "";
    follow();
  });
  // A tab that is not seen follows nothing, and is fetched once when it is seen again.
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => { if (event.persisted) follow(); });
  follow();
})();
