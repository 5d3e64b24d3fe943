// Making elements. Text only ever enters through textContent: model output is data.

/** An element with a class and a text, both optional. */
export function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined && text !== null) node.textContent = text;
  return node;
}

/** Set a text only if it differs: an untouched text node costs no layout. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A value from localStorage, or null where the browser forbids it. */
export function remembered(key) {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key, value) {
  try {
    window.localStorage.setItem(key, value);
  } catch {
    // Private windows may refuse; the setting then lasts as long as the page.
  }
}
