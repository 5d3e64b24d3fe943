// What is in view, in the address behind the #: arm, step, time, and whether it is presented.
// Streamlit keeps its own parameters in front of it and sends none of this to the app.

const OWN = ["arm", "step", "at", "present"];

/** `{ arm, step, at, present }` of the address; null where it says nothing, `step` from 0. */
export function readView() {
  const said = new URLSearchParams(window.location.hash.slice(1));
  const number = (name) => (/^\d+(\.\d+)?$/.test(said.get(name) ?? "") ? Number(said.get(name)) : null);
  const step = number("step");
  return {
    arm: said.get("arm"),
    step: step === null || step < 1 ? null : Math.floor(step) - 1,
    at: number("at"),
    present: said.has("present"),
  };
}

/** Write what is in view, without a new entry in the browser's history. */
export function writeView({ arm, step, at, present }) {
  const said = new URLSearchParams(window.location.hash.slice(1));
  for (const name of OWN) said.delete(name);
  if (arm !== null) said.set("arm", arm);
  if (step !== null) said.set("step", String(step + 1));
  if (at !== null) said.set("at", String(Math.round(at * 10) / 10));
  if (present) said.set("present", "yes");
  const hash = said.toString() ? `#${said}` : "";
  if (hash === window.location.hash) return;
  const { pathname, search } = window.location;
  window.history.replaceState(window.history.state, "", `${pathname}${search}${hash}`);
}

/** The address to copy: of `page`, a path of this app, or else of the page that is open. */
export function linkTo(page) {
  if (!page) return window.location.href;
  const url = new URL(page, appRoot());
  url.hash = window.location.hash;
  return url.href;
}

/** The root of this app, below whatever path Streamlit itself is served from. */
export function appRoot() {
  const script = document.querySelector('script[src*="static/js/"]');
  return script ? script.src.replace(/static\/js\/.*$/, "") : `${window.location.origin}/`;
}
