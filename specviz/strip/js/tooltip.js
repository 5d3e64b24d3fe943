// One tooltip for everything: tokens, badges, figures. It follows the pointer and the focus.

import { element } from "./dom.js";
import { draftedOf } from "./model.js";
import { formatMs, formatProbability, visibleText } from "./text.js";
import { factsOf } from "./token.js";
import { UNNAMED, VERDICT_WORDS, channelWords, originWords, ruleWords } from "./words.js";

const GAP_PX = 8;

/** Show tooltips for what lies inside `root`, in the element `tip`. */
export function installTooltip(root, tip) {
  tip.setAttribute("popover", "manual"); // the top layer: no pane clips it
  const show = (event) => showFor(tip, event.target.closest?.(".tok, [data-tip]"));
  root.addEventListener("pointerover", show);
  root.addEventListener("focusin", show);
  root.addEventListener("pointerleave", () => hide(tip));
  root.addEventListener("pointerout", (event) => event.relatedTarget === null && hide(tip));
  root.addEventListener("focusout", () => hide(tip));
  root.addEventListener("scroll", () => hide(tip), { capture: true, passive: true });
  root.addEventListener("keydown", (event) => event.key === "Escape" && hide(tip));
}

function hide(tip) {
  if (tip.matches(":popover-open")) tip.hidePopover();
}

function showFor(tip, target) {
  const content = target ? contentFor(target) : null;
  if (content === null) return hide(tip);
  tip.replaceChildren(...content);
  if (!tip.matches(":popover-open")) tip.showPopover();
  place(tip, target.getClientRects()[0] ?? target.getBoundingClientRect());
}

function place(tip, anchor) {
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = Math.min(anchor.left, window.innerWidth - width - GAP_PX);
  const below = anchor.bottom + GAP_PX;
  const top = below + height <= window.innerHeight ? below : anchor.top - height - GAP_PX;
  tip.style.left = `${Math.max(GAP_PX, left)}px`;
  tip.style.top = `${Math.max(GAP_PX, top)}px`;
}

function contentFor(target) {
  const about = factsOf(target);
  if (about) return about.drafted ? droppedContent(about) : emittedContent(about);
  return target.dataset.tip ? [element("p", "", target.dataset.tip)] : null;
}

function emittedContent({ arm, step, index, nth }) {
  const token = step.emitted[nth];
  const drafted = draftedOf(step, nth);
  return [
    headline(token.text === "" ? "part of a character" : visibleText(token.text), token.origin),
    element("p", "", originWords(step, token)),
    rows([
      ["kind", channelWords(token)],
      ["token id", token.token_id ?? "not reported by the server"],
      ["position", token.position],
      ...judgementRows(arm, step, drafted),
      ...stepRows(step, index),
    ]),
  ];
}

function droppedContent({ arm, step, index, drafted }) {
  const unnamed = drafted.text === null || drafted.text === undefined;
  const words = unnamed ? UNNAMED : VERDICT_WORDS[drafted.verdict];
  const name = unnamed ? "?" : drafted.text === "" ? "part of a character" : visibleText(drafted.text);
  return [
    headline(name, drafted.verdict),
    element("p", "", words),
    rows([
      ["token id", drafted.token_id ?? (unnamed ? null : "not reported by the server")],
      ...judgementRows(arm, step, drafted),
      ...stepRows(step, index),
    ]),
  ];
}

function judgementRows(arm, step, drafted) {
  if (drafted === null) return [];
  const probability = (value) => (typeof value === "number" ? formatProbability(value) : null);
  return [
    ["depth", drafted.depth],
    ["target probability", probability(drafted.target_prob)],
    ["draft probability", probability(drafted.draft_prob)],
    [drafted.verdict === "unverified" ? "why" : "rule", ruleWords(arm, step, drafted)],
  ];
}

function stepRows(step, index) {
  return [
    ["step", index + 1],
    ["at", `${formatMs(step.elapsed_ms)} ms`],
  ];
}

function headline(name, kind) {
  return element("p", `name ${kind}`, name);
}

function rows(pairs) {
  const list = element("dl");
  for (const [label, value] of pairs) {
    if (value === null || value === undefined) continue;
    list.append(element("dt", "", label), element("dd", "", String(value)));
  }
  return list;
}
