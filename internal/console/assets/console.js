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
// into what is shown, which keeps the focus, what is typed and what is open.
(() => {
  const subject = document.body.dataset.follow;
  const toggle = document.getElementById("follow");
  const state = document.getElementById("follow-state");
  if (!subject || !toggle || !window.EventSource) return;
  toggle.checked = localStorage.getItem("follow") !== "no";
  let source, timer, retry, dropped = false, fetching = false, again = false;

  const redraw = async () => {
    if (fetching) { again = true; return; }
    fetching = true;
    try {
      const answer = await fetch(location.href, { headers: { "X-Follow": "1" } }).catch(() => undefined);
      if (!answer) return; // The stream says when the server is back.
      if (answer.redirected || answer.status === 401) { location.reload(); return; }
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
      const isTouched = (node) => node.matches?.("input, textarea, select") && node.type !== "hidden" && (node === document.activeElement
        || (node.type === "radio" || node.type === "checkbox" ? node.checked !== node.defaultChecked
          : node.tagName === "SELECT" ? [...node.options].some((o) => o.selected !== o.defaultSelected) : node.value !== node.defaultValue));
      // The hidden fields of a form say what it was drawn from: they stay while it is filled in.
      const isEdited = (node) => isTouched(node) || node.type === "hidden" && [...(node.form?.elements || [])].some(isTouched);
      Idiomorph.morph(document.getElementById("main"), fresh, {
        ignoreActiveValue: true,
        callbacks: {
          beforeNodeMorphed: (old) => !(old.nodeType === 1 && isEdited(old)),
          beforeNodeRemoved: (old) => !(old.nodeType === 1 && (old.classList.contains("notice") || old.contains(document.activeElement))),
          beforeAttributeUpdated: (name, node) => !(name === "open" && node.tagName === "DETAILS"),
        },
      });
      document.documentElement.dataset.redrawn = String(Number(document.documentElement.dataset.redrawn || 0) + 1);
    } finally {
      fetching = false;
      if (again) { again = false; schedule(); }
    }
  };
  const schedule = () => { clearTimeout(timer); timer = setTimeout(redraw, 50); };
  const start = () => {
    clearTimeout(retry);
    const stream = new EventSource("/console/live?of=" + encodeURIComponent(subject));
    source = stream;
    stream.onopen = () => { state.textContent = ""; if (dropped) { dropped = false; schedule(); } };
    stream.onerror = () => {
      dropped = true;
      state.textContent = " (connection lost, trying again)";
      // The browser gives up when a proxy answers in the place of a server that is down.
      if (stream.readyState === EventSource.CLOSED) retry = setTimeout(() => { start(); schedule(); }, 2000 + Math.random() * 3000);
    };
    stream.addEventListener("change", schedule);
    stream.addEventListener("end", () => location.reload());
  };
  toggle.addEventListener("change", () => {
    localStorage.setItem("follow", toggle.checked ? "yes" : "no");
    if (toggle.checked) { start(); schedule(); } else { clearTimeout(retry); source?.close(); state.textContent = ""; }
  });
  if (toggle.checked) start();
})();
