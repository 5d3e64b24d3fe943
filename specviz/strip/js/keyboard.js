// Moving through a pane with the keyboard: ← → by steps, ↑ ↓ by tokens, Enter opens the step.

import { factsOf } from "./token.js";

/** Wire the keys of one pane; `open(index)` shows a step in the inspector. */
export function installKeys(pane, open) {
  pane.scroller.addEventListener("keydown", (event) => {
    if (event.key === "a" && (event.ctrlKey || event.metaKey)) {
      document.getSelection().selectAllChildren(pane.strip.parent);
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = MOVES[event.key];
    if (move) focusToken(pane, move(pane, event.target.closest(".tok")), event);
    else if (event.key === "Enter" && factsOf(event.target)) open(factsOf(event.target).index);
  });
}

const MOVES = {
  ArrowRight: (pane, token) => firstToken(pane, token ? stepOf(token) + 1 : 0),
  ArrowLeft: (pane, token) => firstToken(pane, token ? stepOf(token) - 1 : pane.strip.shown - 1),
  ArrowDown: (pane, token) => neighbour(pane, token, 1),
  ArrowUp: (pane, token) => neighbour(pane, token, -1),
  Home: (pane) => firstToken(pane, 0),
  End: (pane) => firstToken(pane, pane.strip.shown - 1),
};

function stepOf(token) {
  return factsOf(token).index;
}

// A step whose tokens are all hidden, or which emitted nothing, is passed over.
function firstToken(pane, index) {
  const parts = pane.strip.steps[index] ?? [];
  return parts.map((part) => part.querySelector(".tok")).find(Boolean) ?? null;
}

function neighbour(pane, token, direction) {
  if (token === null) return firstToken(pane, direction > 0 ? 0 : pane.strip.shown - 1);
  const index = stepOf(token);
  const near = [index - 1, index, index + 1].flatMap((at) => pane.strip.steps[at] ?? []);
  const tokens = near.flatMap((part) => [...part.querySelectorAll(".tok")]).filter(isShown);
  return tokens[tokens.indexOf(token) + direction] ?? null;
}

function isShown(token) {
  return token.getClientRects().length > 0;
}

function focusToken(pane, token, event) {
  event.preventDefault();
  if (token === null) return;
  token.tabIndex = -1;
  token.setAttribute("aria-describedby", "tip");
  token.focus({ preventScroll: true });
  token.scrollIntoView({ block: "nearest" });
}
