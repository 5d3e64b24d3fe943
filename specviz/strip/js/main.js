// The component: connects the socket, the model and the drawing, once per frame.

import { readView, writeView } from "./address.js";
import { hasSelection, installCopy } from "./copy.js";
import { element, remember, remembered, setText } from "./dom.js";
import { drawStepCount, showHint, showStep } from "./inspector.js";
import { installKeys } from "./keyboard.js";
import { copyLink } from "./link.js";
import { newRun, seenQuery, stepsAt, takeBatch, takeHello } from "./model.js";
import { drawHead, drawPane, newPane } from "./pane.js";
import { closePresentation, newPresentation, present, refresh } from "./presentation/presentation.js";
import { newClock, seek, tick } from "./replay/clock.js";
import { drawControls, newControls } from "./replay/controls.js";
import { bringIntoSight } from "./sight.js";
import { follow } from "./socket.js";
import { installTooltip } from "./tooltip.js";

const FRAME_BUDGET_MS = 40; // of drawing, so that a flood of steps leaves the page usable
const DRAFTS_KEY = "specviz.show-rejected-drafts";
const NOTHING_YET =
  "Nothing has run yet. Type a prompt, choose the arms and press Run: " +
  "every drafted token appears here as it is judged.";
const OPENED_MS = 300; // a step must stay open this long before Python hears of it
const RECONNECT_NOTE_MS = 1500; // shorter interruptions are not worth a word

const views = new WeakMap(); // shadow root -> view; a rerun of the script finds its view again
const connected = new Set(); // views with a source: a page may have several
const reported = new Set(); // sources whose end Python has heard of

class View {
  constructor(root) {
    this.root = root;
    this.top = root.querySelector(".strip-root");
    this.parts = Object.fromEntries(
      ["panes", "verdict", "inspector", "message", "controls", "presentation", "tip"].map((name) => [
        name,
        root.querySelector(`[data-part=${name}]`),
      ]),
    );
    this.source = null;
    this.calls = 0;
    this.frame = 0;
    this.controls = newControls(
      this.parts.controls,
      () => ({ run: this.run, clock: this.clock, arms: this.steppedArms() }),
      () => this.moved(),
    );
    this.presentation = newPresentation(this.parts.presentation, {
      arms: () => [...this.run.arms.values()],
      moved: (arm, index) => this.select(this.paneOf(arm), index),
      closed: () => {
        this.writeAddress();
        this.reportOpened();
      },
      copyFrom: (button) => this.copyFrom(button),
    });
    this.wire();
    this.reset();
  }

  wire() {
    installCopy(this.top, this.root);
    installTooltip(this.top, this.parts.tip);
    this.parts.panes.addEventListener("click", (event) => this.clicked(event));
    this.parts.inspector.addEventListener("click", (event) => {
      if (event.target.closest(".close")) this.deselect();
    });
    this.top.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.parts.presentation.open) this.deselect();
    });
    const act = (name, action) =>
      this.root.querySelector(`[data-do=${name}]`).addEventListener("click", action);
    act("present", () => this.present());
    act("copy", (event) => this.copyFrom(event.currentTarget));
    const toggle = this.root.querySelector("[data-part=drafts]");
    const show = (on) => this.top.classList.toggle("without-drafts", !on);
    toggle.checked = remembered(DRAFTS_KEY) !== "no";
    show(toggle.checked);
    toggle.addEventListener("change", () => {
      show(toggle.checked);
      remember(DRAFTS_KEY, toggle.checked ? "yes" : "no");
    });
  }

  /** Take the arguments of a (re)run of the script. */
  update({ source, mode, height, link }, { finished, opened }) {
    this.mode = mode;
    this.link = link;
    this.finished = finished;
    this.opened = opened;
    this.top.style.setProperty("--strip-height", `${height}px`);
    if (source === this.source) {
      this.writeAddress(); // a rerun may have written the address without its end
      return;
    }
    this.wanted = this.source === null ? readView() : null;
    this.close();
    this.source = source;
    this.reset();
    if (source) this.connect();
  }

  close() {
    window.clearTimeout(this.openedTimer);
    connected.delete(this);
    closePresentation(this.presentation);
    this.connection?.close();
    this.connection = null;
    this.source = null;
    window.cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  reset() {
    this.run = newRun();
    this.clock = newClock();
    this.panes = [];
    this.selected = null;
    this.fillPanes(this.source ? "Connecting to the run …" : NOTHING_YET);
    this.say("");
    showHint(this.parts.inspector);
    this.schedule();
  }

  /** A sentence in the place of the panes. */
  fillPanes(sentence) {
    this.parts.panes.replaceChildren(element("p", "empty-panes", sentence));
  }

  connect() {
    connected.add(this);
    this.connection = follow(this.source, {
      seen: () => seenQuery(this.run),
      connected: () => this.say(""),
      message: (message) => this.take(message),
      dropped: (wait) => this.dropped(wait),
      refused: (reason) => this.refused(reason || "The app closed the connection to this run."),
    });
  }

  take(message) {
    if (message.type === "hello") {
      if (takeHello(this.run, message)) this.makePanes();
    } else if (message.type === "batch") {
      if (!takeBatch(this.run, message)) return false;
    } else if (message.type === "end") {
      this.run.ended = true;
      this.reportEnd();
      this.restore();
    }
    this.schedule();
    return true;
  }

  /** Open what the address names, once all of it is there; not what it named of another run. */
  restore() {
    const { wanted } = this;
    this.wanted = null;
    const pane = this.panes.find((candidate) => candidate.arm.info.id === wanted?.arm);
    if (pane) {
      if (wanted.at !== null) seek(this.clock, this.run, wanted.at);
      if (pane.arm.steps[wanted.step]) this.select(pane, wanted.step);
      if (wanted.present) this.present();
    } else if (wanted?.arm === null && wanted.at !== null) {
      seek(this.clock, this.run, wanted.at); // no step was open
    }
    this.writeAddress();
  }

  reportEnd() {
    if (this.mode !== "live" || reported.has(this.source)) return;
    reported.add(this.source);
    this.finished();
  }

  makePanes() {
    this.panes = [...this.run.arms.values()].map(newPane);
    this.parts.panes.dataset.count = String(this.panes.length);
    this.parts.panes.replaceChildren(...this.panes.map((pane) => pane.root));
    for (const pane of this.panes) {
      installKeys(pane, (index) => this.select(pane, index));
      pane.follows = this.mode === "live"; // a stored run is read from its beginning
    }
  }

  clicked(event) {
    const pane = this.panes.find((candidate) => candidate.root.contains(event.target));
    const step = event.target.closest(".step");
    if (pane && step && !hasSelection(this.root)) this.select(pane, Number(step.dataset.step));
  }

  select(pane, index) {
    this.mark(false);
    this.selected = { pane, index, revision: pane.arm.revision };
    this.mark(true);
    showStep(this.parts.inspector, pane.arm, index);
    this.inSight = false;
    this.schedule();
    this.writeAddress();
    this.reportOpened();
  }

  deselect() {
    if (this.selected === null) return;
    this.mark(false);
    this.selected = null;
    showHint(this.parts.inspector);
    this.writeAddress();
  }

  /** The opened step, once after it was opened. */
  scrollToSelection() {
    const { pane, index } = this.selected;
    const part = pane.strip.steps[index]?.[0];
    if (this.inSight || !part || this.parts.presentation.open) return;
    this.inSight = true;
    bringIntoSight(part, pane.scroller, this.parts.inspector);
  }

  /** A stored run's page shows more of the opened step below the strip. */
  reportOpened() {
    window.clearTimeout(this.openedTimer);
    if (this.mode !== "replay" || this.selected === null || this.parts.presentation.open) return;
    const { pane, index } = this.selected;
    this.openedTimer = window.setTimeout(
      () => this.opened({ arm: pane.arm.info.id, step: index }),
      OPENED_MS,
    );
  }

  paneOf(arm) {
    return this.panes.find((pane) => pane.arm === arm);
  }

  /** Show one arm step by step: the opened one, else the last of the first arm that drafted. */
  present() {
    const arms = [...this.run.arms.values()].filter((arm) => arm.steps.length > 0);
    if (arms.length === 0) return;
    const drafting = arms.find((arm) => arm.steps.some((step) => step.drafted.length > 0));
    const arm = this.selected?.pane.arm ?? drafting ?? arms[0];
    present(this.presentation, arm, this.selected?.index ?? 0);
  }

  writeAddress() {
    if (!this.run.ended || this.wanted) return;
    const { arm } = readView();
    const others = [...connected].filter((view) => view !== this);
    if (!this.selected && others.some((view) => view.run.arms.has(arm))) return; // it names theirs
    const { pane, index } = this.selected ?? {};
    writeView({
      arm: pane?.arm.info.id ?? null,
      step: index ?? null,
      at: this.clock.ms < Infinity && !this.clock.playing ? this.clock.ms : null,
      present: this.parts.presentation.open,
    });
  }

  /** Copy the address of what is shown, with the step that is open. */
  copyFrom(button) {
    this.writeAddress();
    return copyLink(button, this.link);
  }

  mark(on) {
    if (this.selected === null) return;
    const { pane, index } = this.selected;
    for (const part of pane.strip.steps[index] ?? []) part.classList.toggle("selected", on);
  }

  // Steps that were replaced by better knowledge are not what the reader had opened.
  drawSelection() {
    if (this.selected === null) return;
    const { pane, index, revision } = this.selected;
    if (revision === pane.arm.revision) {
      drawStepCount(this.parts.inspector, pane.arm, index);
      refresh(this.presentation);
      this.mark(true);
      this.scrollToSelection();
    } else {
      this.selected = null;
      closePresentation(this.presentation);
      showHint(this.parts.inspector);
    }
  }

  steppedArms() {
    return this.selected ? [this.selected.pane.arm] : [...this.run.arms.values()];
  }

  /** The reader moved the clock: the inspector goes along. */
  moved() {
    for (const pane of this.panes) pane.follows = true;
    this.draw();
    this.schedule();
    this.writeAddress();
    if (this.selected === null || this.clock.playing) return;
    const { pane } = this.selected;
    const shown = stepsAt(pane.arm, this.clock.ms);
    if (shown > 0) this.select(pane, shown - 1);
  }

  dropped(wait) {
    if (wait < RECONNECT_NOTE_MS && this.run.hello) return;
    const retry = element("button", "retry", "Try now");
    retry.addEventListener("click", () => this.connection?.retryNow());
    const lost = "The connection was lost; partial output is kept.";
    const what = this.run.hello ? lost : "The app does not answer.";
    this.say(`${what} Trying again in ${Math.round(wait / 1000)} s.`, retry);
  }

  refused(reason) {
    this.say(reason);
    if (this.run.hello === null) this.fillPanes("There is nothing to show.");
  }

  say(sentence, ...more) {
    setText(this.parts.message, sentence);
    this.parts.message.append(...more);
    this.parts.message.hidden = sentence === "";
  }

  schedule() {
    if (this.frame) return;
    this.frame = window.requestAnimationFrame(() => {
      this.frame = 0;
      if (!this.draw() || this.clock.playing) this.schedule();
    });
  }

  /** Draw what has changed; returns whether all of it is drawn. */
  draw() {
    const now = performance.now();
    tick(this.clock, this.run, now);
    let done = true;
    for (const pane of this.panes) {
      done = drawPane(pane, this.clock.ms, now + FRAME_BUDGET_MS) && done;
      drawHead(pane, this.clock.ms);
    }
    this.drawSelection();
    this.drawVerdict();
    drawControls(this.controls, { run: this.run, clock: this.clock });
    return done;
  }

  drawVerdict() {
    const { verdict } = this.run;
    const kind = { true: "good", false: "bad" }[String(verdict?.ok)] ?? "open";
    this.parts.verdict.className = `verdict ${kind}`;
    setText(this.parts.verdict, verdict?.text ?? "");
  }
}

/**
 * Called by Streamlit when the component is mounted, and again whenever its data change. It may
 * also call, and at once clean up after, a call that a newer one has overtaken: only the newest
 * may close the view.
 */
export default function render({ parentElement, data, setTriggerValue, setStateValue }) {
  let view = views.get(parentElement);
  if (!view?.top.isConnected) {
    view = new View(parentElement);
    views.set(parentElement, view);
  }
  view.calls += 1;
  const call = view.calls;
  view.update(data, {
    finished: () => setTriggerValue("finished", true),
    opened: (step) => setStateValue("opened", step),
  });
  return () => {
    if (view.calls === call) view.close();
  };
}
