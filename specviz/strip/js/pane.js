// One arm's pane: title, fidelity, figures, progress, the strip and what there is to say of it.

import { element, setText } from "./dom.js";
import { stepsAt } from "./model.js";
import { drawSteps, newStrip } from "./strip.js";
import { FIDELITY_WORDS, NOT_LOSSLESS, PHASE_WORDS } from "./words.js";

const NEAR_END_PX = 24; // scrolled this close to the end counts as following
const BLANK = "\u00a0";
// Keeps the place of the figures until the first ones arrive.
const BLANK_FIGURES = Array(7).fill({ label: BLANK, value: BLANK });

/** The pane of `arm`, with `root` to put into the page. */
export function newPane(arm) {
  const root = element("section", "pane");
  root.dataset.arm = arm.info.id;
  const badge = element("span", "badge");
  badge.tabIndex = 0;
  const head = element("header", "head");
  const title = element("h3", "title");
  const lossy = element("span", "lossy", "not lossless");
  lossy.tabIndex = 0;
  lossy.dataset.tip = NOT_LOSSLESS;
  const headline = element("span", "headline");
  headline.tabIndex = 0;
  head.append(title, headline, lossy, badge);
  const figures = element("dl", "figures");
  const progress = element("div", "progress");
  progress.append(element("div", "bar"));
  const scroller = element("div", "scroller");
  scroller.tabIndex = 0;
  scroller.setAttribute("role", "region");
  const text = element("div", "text");
  const note = element("p", "note");
  note.setAttribute("role", "status");
  scroller.append(text, note);
  root.append(head, figures, progress, scroller);
  const strip = newStrip(text, arm);
  const parts = { root, title, headline, lossy, badge, figures, progress, scroller, note };
  const pane = { ...parts, arm, strip, follows: true, top: 0, aim: Infinity };
  scroller.addEventListener("scroll", () => noteScrolling(pane), { passive: true });
  scroller.addEventListener("scrollend", () => (pane.aim = Infinity), { passive: true });
  scroller.addEventListener("wheel", (event) => noteWheel(pane, event), { passive: true });
  // Blocks out of sight have an estimated height, so the end moves when they come into sight.
  new ResizeObserver(() => followEnd(pane)).observe(text);
  return pane;
}

// Only the reader scrolls up; new text never lowers scrollTop. A pane that grows lowers it too, but
// stays at its end.
function noteScrolling(pane) {
  const { scrollTop } = pane.scroller;
  const end = endOf(pane);
  if (scrollTop < pane.top && end - scrollTop > 1) pane.follows = false;
  else if (scrollTop >= Math.min(end, pane.aim) - NEAR_END_PX) pane.follows = true;
  pane.top = scrollTop;
}

// Browsers scroll smoothly: a token drawn before the first scroll event would end a movement up,
// and one down arrives where the end was when it began.
function noteWheel(pane, event) {
  if (event.deltaY > 0) pane.aim = endOf(pane);
  else if (event.deltaY < 0 && pane.scroller.scrollTop > 0) pane.follows = false;
}

function endOf({ scroller }) {
  return scroller.scrollHeight - scroller.clientHeight;
}

function followEnd(pane) {
  if (!pane.follows) return;
  pane.scroller.scrollTop = pane.scroller.scrollHeight;
  pane.top = pane.scroller.scrollTop;
}

/** Draw what is to be seen at time `ms` of the clock. Returns whether all of it is drawn. */
export function drawPane(pane, ms, deadline) {
  const count = stepsAt(pane.arm, ms);
  const changed = pane.strip.shown !== count || pane.strip.revision !== pane.arm.revision;
  const done = changed ? drawSteps(pane.strip, count, deadline) : true;
  if (changed) followEnd(pane);
  return done;
}

/** Draw what is said about the arm: title, badge, figures, progress, note. */
export function drawHead(pane, ms) {
  drawTitle(pane);
  drawBadge(pane);
  drawFigures(pane);
  drawState(pane, ms);
}

function drawTitle({ arm, root, title, scroller }) {
  if (title.textContent === arm.info.title) return;
  title.textContent = arm.info.title;
  title.dataset.tip = `engine: ${arm.info.engine}`;
  root.setAttribute("aria-label", arm.info.title);
  scroller.setAttribute("aria-label", `output of ${arm.info.title}`);
}

function drawBadge({ arm, lossy, badge }) {
  lossy.hidden = arm.info.lossless !== false;
  const words = [arm.info.badge, arm.fidelity, arm.info.model].filter(Boolean).join(" · ");
  setText(badge, words);
  badge.hidden = words === "";
  badge.dataset.tip = FIDELITY_WORDS[arm.fidelity] ?? "";
}

// The first figure is the headline: how many tokens in how many passes, if the passes are known.
function drawFigures({ arm, headline, figures }) {
  const [passes, ...list] = arm.figures ?? BLANK_FIGURES;
  setText(headline, passes.value ?? "");
  headline.hidden = !passes.value?.trim();
  headline.dataset.tip = passes.title ?? "";
  while (figures.childElementCount > list.length) figures.lastElementChild.remove();
  while (figures.childElementCount < list.length) {
    const cell = element("div", "figure");
    cell.append(element("dt"), element("dd"));
    figures.append(cell);
  }
  list.forEach((figure, index) => drawFigure(figures.children[index], figure));
}

function drawFigure(cell, figure) {
  const missing = figure.value === null || figure.value === undefined;
  const [label, value] = cell.children;
  setText(label, figure.label);
  setText(value, missing ? "–" : figure.value);
  value.classList.toggle("missing", missing);
  const tip = missing ? figure.reason : figure.title;
  cell.dataset.tip = tip ? `${figure.label}: ${tip}` : "";
  if (tip) cell.tabIndex = 0;
  else cell.removeAttribute("tabindex");
}

function drawState({ arm, root, progress, note }, ms) {
  const { phase, note: sentence } = arm.state;
  root.dataset.phase = phase;
  const replayed = ms < Infinity && arm.steps.length > 0;
  const fraction = replayed ? stepsAt(arm, ms) / arm.steps.length : progressOf(arm);
  progress.classList.toggle("open", fraction === null);
  progress.firstElementChild.style.transform = `scaleX(${fraction ?? 1})`;
  setText(note, sentence || PHASE_WORDS[phase] || "");
}

// Of the steps where max_tokens is known, of the loading where the server reports it; else unknown.
function progressOf(arm) {
  const { phase, fraction } = arm.state;
  if (phase === "waiting") return 0;
  if (phase === "finished") return 1;
  if (typeof fraction === "number") return Math.min(1, Math.max(0, fraction));
  const most = arm.info.max_tokens;
  const tokens = arm.steps.at(-1)?.emitted.at(-1)?.position;
  if (most && phase !== "starting") return Math.min(1, ((tokens ?? -1) + 1) / most);
  return phase === "starting" || phase === "running" ? null : 1;
}
