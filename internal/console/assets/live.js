"use strict";
// The stream of changes that all tabs of a browser share: browsers allow six connections
// to a server, and a stream holds one. It runs in a shared worker, or in the page where
// there is none. A tab joins with what it follows, and leaves with an empty text.
(() => {
  const tabs = new Map();
  let source, covered = [], heard = 0, lost = false, retry;
  const tell = (says, subjects) => tabs.forEach((subject, port) => { if (!subjects || subjects.includes(subject)) port.postMessage(says); });
  const hear = (says, subjects) => { heard = Date.now(); tell(says, subjects); };

  const open = () => {
    clearTimeout(retry);
    covered = [...new Set(tabs.values())];
    // The old stream is heard until the new one is open, so that no change is missed.
    if (source?.readyState !== EventSource.OPEN) source?.close();
    const old = source, stream = new EventSource("/console/live?" + covered.map((subject) => "of=" + encodeURIComponent(subject)).join("&"));
    source = stream;
    // A stream that opens is not yet one on which something comes.
    stream.onopen = () => { old?.close(); lost = false; heard = Date.now(); };
    stream.addEventListener("beat", () => hear("beat"));
    stream.addEventListener("change", (event) => hear("change", event.data.split(" ")));
    stream.addEventListener("end", () => hear("end"));
    stream.onerror = () => {
      if (stream !== source) { stream.close(); return; }
      old?.close();
      lost = true;
      tell("lost");
      // The browser gives up when a proxy answers in the place of a server that is down. A
      // fetch tells whether the viewer is to sign in again.
      if (stream.readyState === EventSource.CLOSED) retry = setTimeout(() => { open(); tell("change"); }, 2000 + Math.random() * 3000);
    };
  };

  self.joinStream = (port) => {
    port.onmessage = ({ data: subject }) => {
      if (subject) tabs.set(port, subject); else tabs.delete(port);
      if (!tabs.size) { clearTimeout(retry); source?.close(); source = undefined; covered = []; return; }
      if (!subject) return;
      const isSilent = Date.now() - heard > 29000;
      if (isSilent) source?.close();
      // A stream begins with a change of everything. A tab that joins an open one is told
      // the same: its page may have been drawn before what was told last.
      if (isSilent || !covered.includes(subject)) open(); else port.postMessage(lost ? "lost" : "change");
    };
  };
  self.onconnect = (event) => self.joinStream(event.ports[0]);
})();
