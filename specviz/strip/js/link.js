// The buttons that copy the address of what is shown.

import { linkTo } from "./address.js";
import { setText } from "./dom.js";

const COPIED_MS = 2500;

/** Copy the address of `page`, see `linkTo`; the button says for a moment whether it could be. */
export async function copyLink(button, page) {
  const label = (button.dataset.label ??= button.textContent); // it may be pressed twice
  setText(button, (await written(linkTo(page))) ? "Copied" : "Copy it from the address bar");
  window.clearTimeout(Number(button.dataset.copied));
  button.dataset.copied = String(window.setTimeout(() => setText(button, label), COPIED_MS));
}

/** Resolves to whether the browser let the text be copied. */
async function written(text) {
  try {
    await window.navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    if (error instanceof DOMException || error instanceof TypeError) return false; // http, or refused
    throw error;
  }
}
