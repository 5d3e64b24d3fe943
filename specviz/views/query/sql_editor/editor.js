// The SQL editor: a text area over its highlighted copy, and a list of completions.
// Text only ever enters through textContent.

const KEYWORDS = (
  "all and any as asc between by case cast cross desc describe distinct else end except exclude " +
  "exists explain false filter from full group having ilike in inner intersect interval is join " +
  "lambda lateral left like limit not null nulls first last offset on or order outer over " +
  "partition qualify range recursive replace right rows select semi anti summarize then true " +
  "union unnest unpivot pivot using values when where window with within"
).split(" ");
const FUNCTIONS = (
  "abs any_value arg_max arg_min avg bool_and ceil coalesce concat contains count date_trunc " +
  "epoch_ms first floor greatest histogram if json_extract_string lag last lead least length list " +
  "list_avg list_max list_sum len lower max median min mode nullif percent_rank quantile_cont " +
  "quantile_disc rank regexp_matches replace round row_number split_part stddev string_agg " +
  "strlen substring sum trim upper"
).split(" ");
const TOKEN =
  /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*'?)|("(?:[^"]|"")*"?)|(\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|([A-Za-z_]\w*)/gi;
const WORD = /(?:([A-Za-z_]\w*)\.)?([A-Za-z_]\w*)?$/;
const MOST = 60;
const editors = new WeakMap(); // .editor -> its state; a rerun of the script finds it again

const keywords = new Set(KEYWORDS);
const functions = new Set(FUNCTIONS);

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".editor");
  const editor = editors.get(root) ?? newEditor(root);
  editor.tables = data.tables;
  editor.ask = (action) => {
    close(editor);
    setTriggerValue("asked", { action, sql: editor.area.value });
  };
  if (editor.loaded !== data.sql) {
    editor.loaded = data.sql;
    if (editor.area.value !== data.sql) editor.area.value = data.sql;
    draw(editor);
  }
}

function newEditor(root) {
  const find = (selector) => root.querySelector(selector);
  const editor = {
    area: find("textarea"),
    shown: find(".shown"),
    list: find(".completions"),
    tables: [],
    options: [],
    chosen: 0,
  };
  const { area, shown, list } = editor;
  area.addEventListener("input", () => {
    draw(editor);
    suggest(editor, false);
  });
  area.addEventListener("scroll", () => {
    shown.scrollTop = area.scrollTop;
    shown.scrollLeft = area.scrollLeft;
    close(editor);
  });
  area.addEventListener("keydown", (event) => press(editor, event));
  area.addEventListener("blur", () => close(editor));
  list.addEventListener("mousedown", (event) => {
    event.preventDefault(); // the text area keeps the focus
    const item = event.target.closest("li");
    if (item) take(editor, Number(item.dataset.place));
  });
  find(".run").addEventListener("click", () => editor.ask("run"));
  find(".save").addEventListener("click", () => editor.ask("save"));
  editors.set(root, editor);
  return editor;
}

/** The copy, word by word; the last line end needs something behind it to be drawn. */
function draw({ area, shown }) {
  const text = area.value;
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    parts.push(text.slice(at, found.index), colored(found, text));
    at = found.index + found[0].length;
  }
  parts.push(text.slice(at), "\n");
  shown.replaceChildren(...(text ? parts : []));
  shown.scrollTop = area.scrollTop;
  shown.scrollLeft = area.scrollLeft;
}

function colored(found, text) {
  const [whole, comment, string, , number, word] = found;
  let kind = comment ? "comment" : string ? "string" : number ? "number" : "";
  if (word) {
    const called = /^\s*\(/.test(text.slice(found.index + whole.length, found.index + whole.length + 9));
    const name = word.toLowerCase();
    kind = keywords.has(name) ? "keyword" : called ? "function" : "";
  }
  if (!kind) return whole;
  const node = document.createElement("span");
  node.className = kind;
  node.textContent = whole;
  return node;
}

function press(editor, event) {
  event.stopPropagation(); // Streamlit takes single letters for commands
  const open = !editor.list.hidden;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    editor.ask("run");
  } else if (event.key === " " && event.ctrlKey) {
    event.preventDefault();
    suggest(editor, true);
  } else if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    choose(editor, (editor.chosen + step + editor.options.length) % editor.options.length);
  } else if (open && (event.key === "Enter" || event.key === "Tab")) {
    event.preventDefault();
    take(editor, editor.chosen);
  } else if (open && event.key === "Escape") {
    event.preventDefault();
    close(editor);
  }
}

/** Completions at the caret: columns of the tables in the text first. */
function suggest(editor, wanted) {
  const { area } = editor;
  const [whole, owner, start = ""] = area.value.slice(0, area.selectionStart).match(WORD);
  if (insideText(area.value.slice(0, area.selectionStart))) return close(editor);
  if (!wanted && !owner && start.length < 2) return close(editor);
  const known = owner ? columnsOf(editor, owner) : everything(editor);
  const small = start.toLowerCase();
  editor.options = known.filter(({ name }) => name.toLowerCase().startsWith(small)).slice(0, MOST);
  const only = editor.options.length === 1 && editor.options[0].name.toLowerCase() === small;
  if (!editor.options.length || (only && !wanted)) return close(editor);
  editor.start = start;
  editor.list.replaceChildren(...editor.options.map(item));
  place(editor, area.selectionStart - start.length);
  editor.list.hidden = false;
  area.setAttribute("aria-expanded", "true");
  choose(editor, 0);
}

function insideText(before) {
  const bare = before.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*\n/g, "");
  return /'|"|--/.test(bare);
}

/** Columns of a table, or of what the text calls by another name. */
function columnsOf({ tables, area }, owner) {
  const named = [...area.value.matchAll(/\b(\w+)\s+(?:as\s+)?(\w+)\b/gi)]
    .filter(([, , alias]) => alias.toLowerCase() === owner.toLowerCase())
    .map(([, table]) => table.toLowerCase());
  const names = [owner.toLowerCase(), ...named];
  return tables.filter(({ name }) => names.includes(name)).flatMap(columns);
}

function columns({ name: table, columns: all }) {
  return all.map(([name, type, comment]) => ({ name, kind: `${table} · ${type}`, comment }));
}

function everything({ tables, area }) {
  const words = new Set(area.value.toLowerCase().match(/\w+/g));
  const used = tables.filter(({ name }) => words.has(name));
  return [
    ...used.flatMap(columns),
    ...tables.map(({ name, comment }) => ({ name, kind: "table", comment })),
    ...KEYWORDS.map((name) => ({ name: name.toUpperCase(), kind: "", comment: "" })),
    ...FUNCTIONS.map((name) => ({ name, kind: "function", comment: "" })),
    ...(used.length ? [] : tables.flatMap(columns)),
  ];
}

function item({ name, kind, comment }, at) {
  const node = document.createElement("li");
  node.dataset.place = at;
  node.setAttribute("role", "option");
  for (const [text, of] of [[name, "name"], [kind, "kind"], [comment, "comment"]]) {
    if (!text) continue;
    const part = document.createElement("span");
    part.className = of;
    part.textContent = text;
    node.append(part);
  }
  node.title = comment;
  return node;
}

/** Under the word: measured in the copy, which has the same letters at the same places. */
function place({ shown, list, area }, offset) {
  const walker = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
  let left = offset;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (left <= node.length) {
      const range = document.createRange();
      range.setStart(node, left);
      range.setEnd(node, Math.min(node.length, left + 1));
      const box = range.getBoundingClientRect();
      const frame = shown.getBoundingClientRect();
      const most = Math.max(0, area.clientWidth - 560);
      list.style.left = `${Math.min(most, Math.max(0, box.left - frame.left - 9))}px`;
      list.style.top = `${box.bottom - frame.top + 3}px`;
      return;
    }
    left -= node.length;
  }
}

function choose(editor, at) {
  editor.chosen = at;
  for (const node of editor.list.children) {
    const selected = Number(node.dataset.place) === at;
    node.setAttribute("aria-selected", String(selected));
    if (selected) node.scrollIntoView({ block: "nearest" });
  }
}

/** Put a completion in place of what was begun, in a way that Ctrl + Z takes back. */
function take(editor, at) {
  const { area, start } = editor;
  const { name } = editor.options[at];
  const end = area.selectionStart;
  area.setSelectionRange(end - start.length, end);
  if (!document.execCommand("insertText", false, name)) {
    area.setRangeText(name, end - start.length, end, "end");
    draw(editor);
  }
  close(editor);
}

function close({ list, area }) {
  list.hidden = true;
  area.setAttribute("aria-expanded", "false");
}
