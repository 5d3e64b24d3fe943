// One arm, one step at a time, in type that reads from the last row: for a screen in a room.

import { element, remember, remembered, setText } from "../dom.js";
import { stepElements } from "../strip.js";
import { displayText, formatProbability, tokenName } from "../text.js";
import { isTree, positionsOf } from "../tree.js";
import { ruleWords } from "../words.js";
import { caption } from "./caption.js";

const SIZE_KEY = "specviz.presentation-size";
const SIZES = { least: 0.6, most: 2.2, factor: 1.12 };
const STEPS_BEFORE = 60; // more would be above the screen
const STEPS_AFTER = 40;
const MOST_CARDS = 8;

/**
 * Wire `dialog`. `view` gives `arms()`, `moved(arm, index)` for every step that is shown, `closed()`
 * and `copyFrom(button)`, which copies the address and says on the button whether it could.
 */
export function newPresentation(dialog, view) {
  const part = (name) => dialog.querySelector(`[data-show=${name}]`);
  const names = ["title", "badge", "step", "text", "caption", "cards", "speed", "play"];
  const parts = Object.fromEntries(names.map((name) => [name, part(name)]));
  const presentation = { dialog, view, parts, stage: part("stage"), arm: null, index: 0, timer: 0 };
  resize(presentation, Number(remembered(SIZE_KEY)) || 1);
  dialog.addEventListener("keydown", (event) => pressed(presentation, event));
  dialog.addEventListener("close", () => left(presentation));
  dialog.addEventListener("click", (event) => clicked(presentation, event));
  parts.speed.addEventListener("change", () => presentation.timer && play(presentation));
  // The browser's own Esc ends the full screen without a key event.
  document.addEventListener("fullscreenchange", () => {
    if (!document.fullscreenElement && dialog.open && presentation.filled) dialog.close();
  });
  return presentation;
}

/** Begin with step `index` of `arm`. Full screen where the browser allows it. */
export function present(presentation, arm, index) {
  const { dialog, stage } = presentation;
  if (!dialog.open) dialog.showModal();
  show(presentation, arm, index);
  presentation.filled = false;
  if (!navigator.userActivation?.isActive) return; // opened by a link, which may not fill the screen
  const refused = () => {}; // by the browser's settings: the window is filled all the same
  stage.requestFullscreen?.().then(() => (presentation.filled = true), refused);
}

/** The steps were replaced by better knowledge, or there are more of them. */
export function refresh(presentation) {
  const { arm, index, dialog } = presentation;
  if (dialog.open && arm) setText(presentation.parts.step, stepWords(arm, index));
}

export function closePresentation(presentation) {
  if (presentation.dialog.open) presentation.dialog.close();
}

function show(presentation, arm, index) {
  const step = arm.steps[index];
  const { parts } = presentation;
  Object.assign(presentation, { arm, index });
  setText(parts.title, `${arm.info.title} on ${arm.info.engine}`);
  setText(parts.badge, arm.fidelity ?? "");
  setText(parts.step, stepWords(arm, index));
  parts.text.replaceChildren(...textAround(arm, index));
  parts.text.querySelector(".now")?.scrollIntoView({ block: "center" });
  parts.caption.replaceChildren(...caption(arm, step).map(captionPart));
  parts.cards.replaceChildren(...cardsOf(arm, step));
  presentation.view.moved(arm, index);
}

function stepWords(arm, index) {
  return `Step ${index + 1} of ${arm.steps.length}`;
}

function captionPart(part) {
  return part.code === undefined ? part : element("code", "", part.code);
}

// What came before and what is still to come is plain; the step has its marks.
function textAround(arm, index) {
  const before = element("span", "past", outputOf(arm, Math.max(0, index - STEPS_BEFORE), index));
  const now = element("span", "now step");
  now.append(...stepElements(arm, arm.steps[index], index));
  const after = element("span", "to-come", outputOf(arm, index + 1, index + 1 + STEPS_AFTER));
  return [before, now, after];
}

function outputOf(arm, from, to) {
  const tokens = arm.steps.slice(from, to).flatMap((step) => step.emitted);
  return displayText(tokens.map((token) => token.text).join(""));
}

// In the order of judgement: what was judged, then what was not, then the target's own.
function cardsOf(arm, step) {
  const judged = isTree(step)
    ? positionsOf(step).flatMap(({ candidates }) => candidates.map((place) => step.drafted[place]))
    : step.drafted;
  const shown = judged.filter((drafted) => drafted.text !== null).slice(0, MOST_CARDS);
  const own = step.drafted.length ? step.emitted.filter((token) => token.origin !== "accepted") : [];
  const cards = shown.map((drafted) => draftedCard(arm, step, drafted));
  if (shown.length < step.drafted.length) {
    cards.push(element("p", "rest", `${step.drafted.length - shown.length} more drafted`));
  }
  return [...cards, ...own.map(targetCard)];
}

function draftedCard(arm, step, drafted) {
  const card = element("div", `shown ${drafted.verdict}`);
  const unjudged = drafted.verdict === "unverified";
  card.append(
    element("p", "name", tokenName(drafted.text)),
    wideBar("target", drafted.target_prob),
    wideBar("draft", drafted.draft_prob),
    element("p", "verdict", unjudged ? "never judged" : drafted.verdict),
    element("p", "rule", unjudged ? "" : (ruleWords(arm, step, drafted) ?? "")),
  );
  return card;
}

function targetCard(token) {
  const card = element("div", `shown own ${token.origin}`);
  card.append(
    element("p", "name", tokenName(token.text)),
    element("p", "verdict", token.origin),
    element("p", "rule", "from the target"),
  );
  return card;
}

function wideBar(of, value) {
  const isKnown = typeof value === "number";
  const track = element("div", `wide-bar of-${of}`);
  const fill = element("span", "fill");
  fill.style.inlineSize = isKnown ? `${Math.min(1, value) * 100}%` : "0";
  track.append(fill, element("span", "number", isKnown ? formatProbability(value) : "–"));
  track.setAttribute("aria-label", `${of} ${isKnown ? formatProbability(value) : "not known"}`);
  track.setAttribute("role", "img");
  return track;
}

// --- moving ----------------------------------------------------------------------------------------

const ACTIONS = {
  back: (it) => move(it, -1),
  forward: (it) => move(it, 1),
  first: (it) => stopAt(it, 0),
  last: (it) => stopAt(it, it.arm.steps.length - 1),
  armBefore: (it) => changeArm(it, -1),
  armAfter: (it) => changeArm(it, 1),
  play: (it) => (it.timer ? pause(it) : play(it)),
  smaller: (it) => resize(it, it.size / SIZES.factor),
  larger: (it) => resize(it, it.size * SIZES.factor),
  copy: (it, button) => it.view.copyFrom(button),
  leave: (it) => it.dialog.close(),
};

const KEYS = {
  ArrowRight: ACTIONS.forward,
  PageDown: ACTIONS.forward,
  ArrowLeft: ACTIONS.back,
  PageUp: ACTIONS.back,
  Home: ACTIONS.first,
  End: ACTIONS.last,
  ArrowDown: ACTIONS.armAfter,
  ArrowUp: ACTIONS.armBefore,
  " ": ACTIONS.play,
  "+": ACTIONS.larger,
  "=": ACTIONS.larger,
  "-": ACTIONS.smaller,
};

function pressed(presentation, event) {
  const press = KEYS[event.key];
  const elsewhere = event.target.closest("select") || (event.key === " " && event.target.closest("button"));
  if (!press || elsewhere || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  press(presentation);
}

function clicked(presentation, event) {
  const button = event.target.closest("button");
  if (button) ACTIONS[button.dataset.press]?.(presentation, button);
}

function move(presentation, by) {
  stopAt(presentation, presentation.index + by);
}

function stopAt(presentation, index) {
  pause(presentation);
  goTo(presentation, index);
}

function goTo(presentation, index) {
  const { arm } = presentation;
  const wanted = Math.min(arm.steps.length - 1, Math.max(0, index));
  if (wanted !== presentation.index) show(presentation, arm, wanted);
}

// The other arm at the same place of its output: arms differ in time and in their steps.
function changeArm(presentation, by) {
  pause(presentation);
  const arms = presentation.view.arms().filter((arm) => arm.steps.length > 0);
  const next = arms[(arms.indexOf(presentation.arm) + by + arms.length) % arms.length];
  const at = presentation.arm.steps[presentation.index].emitted[0]?.position ?? 0;
  const index = next.steps.findLastIndex((step) => (step.emitted[0]?.position ?? Infinity) <= at);
  show(presentation, next, Math.max(0, index));
}

function play(presentation) {
  pause(presentation);
  const { arm, index, parts } = presentation;
  if (index >= arm.steps.length - 1) goTo(presentation, 0);
  presentation.timer = window.setInterval(() => {
    if (presentation.index >= presentation.arm.steps.length - 1) pause(presentation);
    else goTo(presentation, presentation.index + 1);
  }, 1000 / Number(parts.speed.value));
  setText(parts.play, "Pause");
}

function pause(presentation) {
  window.clearInterval(presentation.timer);
  presentation.timer = 0;
  setText(presentation.parts.play, "Play");
}

function resize(presentation, size) {
  presentation.size = Math.min(SIZES.most, Math.max(SIZES.least, size));
  presentation.dialog.style.setProperty("--size", presentation.size.toFixed(3));
  remember(SIZE_KEY, String(presentation.size));
}

function left(presentation) {
  pause(presentation);
  presentation.arm = null;
  if (document.fullscreenElement) document.exitFullscreen();
  presentation.view.closed();
}
