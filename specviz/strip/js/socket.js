// The connection: follow a route, come back after a drop, resume where it broke.

import { appRoot } from "./address.js";

const BACKOFF_MS = [500, 1000, 2000, 4000, 8000, 10000];
const GOODBYE_FROM = 4000; // close codes from here on: the server asks us not to come back

/** The URL of a route of this host, below whatever path Streamlit itself is served from. */
function socketUrl(source, seen) {
  const url = new URL(source.replace(/^\/+/, ""), appRoot());
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  if (seen) url.searchParams.set("seen", seen);
  return url;
}

/**
 * Follow `source` until its last message. `handlers`: `seen()` gives the value to resume from,
 * `message(data)` takes one message and returns false if something is missing before it,
 * `dropped(waitMs)`, `refused(reason)` and `connected()` report. A message of the type `failed` has
 * the app's own reason and is the last. Returns `{ close, retryNow }`.
 */
export function follow(source, handlers) {
  let socket = null;
  let timer = 0;
  let failures = 0;
  let over = false;

  function connect() {
    window.clearTimeout(timer);
    const current = new WebSocket(socketUrl(source, handlers.seen()));
    socket = current;
    current.onmessage = (message) => {
      if (socket === current) take(JSON.parse(message.data));
    };
    current.onclose = (event) => {
      if (socket === current) lost(event);
    };
  }

  function take(data) {
    if (data.type === "failed") {
      over = true;
      handlers.refused(data.sentence);
      return;
    }
    if (data.type === "hello") handlers.connected();
    if (handlers.message(data) === false) {
      socket.onmessage = null; // what follows the gap comes again
      socket.close(); // onclose resumes
      return;
    }
    if (data.type !== "hello") failures = 0;
    if (data.type === "end") over = true;
  }

  function lost(event) {
    if (over) return;
    if (event.code >= GOODBYE_FROM) {
      over = true;
      handlers.refused(event.reason);
      return;
    }
    const wait = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)];
    failures += 1;
    handlers.dropped(wait);
    timer = window.setTimeout(connect, wait);
  }

  connect();
  return {
    close() {
      over = true;
      window.clearTimeout(timer);
      socket.close();
    },
    retryNow() {
      if (!over && socket.readyState === WebSocket.CLOSED) connect();
    },
  };
}
