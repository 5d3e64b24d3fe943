// The clock of a replay: one time for all arms. Knows nothing of the page.

import { durationMs } from "../model.js";

export const MAX_SPEED = "max";
const MAX_SPEED_MS = 1000; // at full speed the whole run takes this long

/** A clock at the end of the run, which is also where a live run is watched from. */
export function newClock() {
  return { ms: Infinity, playing: false, speed: 1, last: 0 };
}

/** Start, from the beginning if the end is reached, or stop. */
export function togglePlay(clock, run, now) {
  clock.playing = !clock.playing;
  clock.last = now;
  if (clock.playing && clock.ms >= durationMs(run)) clock.ms = 0;
}

/** Let the time since the last frame pass. */
export function tick(clock, run, now) {
  if (!clock.playing) return;
  const duration = durationMs(run);
  const speed = clock.speed === MAX_SPEED ? duration / MAX_SPEED_MS : clock.speed;
  clock.ms += (now - clock.last) * speed;
  clock.last = now;
  if (clock.ms >= duration) Object.assign(clock, { ms: Infinity, playing: false });
}

/** Move to `ms`, stopped there. */
export function seek(clock, run, ms) {
  clock.playing = false;
  clock.ms = ms >= durationMs(run) ? Infinity : Math.max(0, ms);
}

/** Move to the next (`direction` 1) or the previous (-1) step among `arms`. */
export function seekStep(clock, run, arms, direction) {
  const now = Math.min(clock.ms, durationMs(run));
  const times = arms.flatMap((arm) => arm.steps.map((step) => step.elapsed_ms));
  const later = (ms) => (direction > 0 ? ms > now : ms < now);
  const found = times.filter(later).reduce(
    (best, ms) => (best === null || (ms - best) * direction < 0 ? ms : best),
    null,
  );
  seek(clock, run, found ?? (direction > 0 ? Infinity : 0));
}
