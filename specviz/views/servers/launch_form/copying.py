"""A button that copies a text, which Streamlit 1.67 has only inside a block of code."""

from __future__ import annotations

import streamlit as st

_CSS = """
button {
  padding: 0.4rem 0.75rem; min-height: 2.5rem; font: inherit; font-size: 0.875rem; cursor: pointer;
  color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius);
}
button:is(:hover, :focus-visible) {
  border-color: var(--st-primary-color); outline: 1px solid var(--st-primary-color);
}
"""

_JS = """
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const say = (text) => { button.textContent = text; };
  say("Copy the command");
  button.onclick = async () => {
    try {
      await window.navigator.clipboard.writeText(data);
      say("Copied");
    } catch (error) {
      if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
      say("Select it below"); // http, or refused
    }
    window.setTimeout(say, 2500, "Copy the command");
  };
}
"""

_component = st.components.v2.component(
    "specviz.copy", html='<button type="button">Copy the command</button>', css=_CSS, js=_JS
)


def copy_button(command: str) -> None:
    """It says for a moment whether the browser let the command be copied."""
    _component(key="launch_copy", data=command, width="content")
