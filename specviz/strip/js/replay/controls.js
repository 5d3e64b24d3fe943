// The replay controls: play, step, speed, and a scrubber over the time of the run.

import { setText } from "../dom.js";
import { durationMs } from "../model.js";
import { formatClock } from "../text.js";
import { MAX_SPEED, seek, seekStep, togglePlay } from "./clock.js";

/**
 * Wire the controls in `root`. `view()` gives `{ run, clock, arms }`, arms being those to step
 * through; `changed()` is called after every move.
 */
export function newControls(root, view, changed) {
  const controls = {
    root,
    play: root.querySelector("[data-do=play]"),
    scrub: root.querySelector("input"),
    speed: root.querySelector("select"),
    time: root.querySelector("output"),
  };
  const act = (button, action) => {
    root.querySelector(`[data-do=${button}]`).addEventListener("click", () => {
      action(view());
      changed();
    });
  };
  act("play", ({ clock, run }) => togglePlay(clock, run, performance.now()));
  act("back", ({ clock, run, arms }) => seekStep(clock, run, arms, -1));
  act("forward", ({ clock, run, arms }) => seekStep(clock, run, arms, 1));
  controls.scrub.addEventListener("input", () => {
    const { clock, run } = view();
    seek(clock, run, Number(controls.scrub.value));
    changed();
  });
  controls.speed.addEventListener("change", () => {
    const value = controls.speed.value;
    view().clock.speed = value === MAX_SPEED ? MAX_SPEED : Number(value);
  });
  return controls;
}

/** Show the clock's position; the controls rest until the run has ended. */
export function drawControls(controls, { run, clock }) {
  const duration = durationMs(run);
  const ready = run.ended && duration > 0;
  const now = Math.min(clock.ms, duration);
  controls.root.classList.toggle("resting", !ready);
  for (const control of [...controls.root.querySelectorAll("button, input, select")]) {
    control.disabled = !ready;
  }
  controls.play.classList.toggle("playing", clock.playing);
  controls.play.setAttribute("aria-label", clock.playing ? "pause" : "play");
  controls.scrub.max = String(duration);
  controls.scrub.value = String(now);
  controls.scrub.style.setProperty("--done", duration ? String(now / duration) : "0");
  const words = ready ? `${formatClock(now)} of ${formatClock(duration)}` : "replay after the run";
  controls.scrub.setAttribute("aria-valuetext", words);
  setText(controls.time, words);
}
