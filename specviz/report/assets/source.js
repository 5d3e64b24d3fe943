// The replays are in the page: this takes the place of the connection to the app.

const storedReplays = JSON.parse(document.getElementById("replays").textContent);

/** Give the messages of one replay, as a socket would: one after the other, later. */
export function follow(source, handlers) {
  let over = false;
  let next = 0;
  const { messages } = storedReplays[Number(source)];

  function give() {
    if (over || next >= messages.length) return;
    handlers.message(messages[next]);
    next += 1;
    window.setTimeout(give, 0);
  }

  handlers.connected();
  window.setTimeout(give, 0);
  return {
    close() {
      over = true;
    },
    retryNow() {},
  };
}
