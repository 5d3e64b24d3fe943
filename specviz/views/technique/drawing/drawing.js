// The decision tree: a grid of boxes, and lines measured from the boxes' positions.
// Text only ever enters through textContent.

const SVG = "http://www.w3.org/2000/svg";
const GAP = 11; // how far a line over a row or in the lane keeps from the boxes
const drawings = new WeakMap(); // .tree -> its drawing; a rerun of the script finds it again

export default function ({ data, parentElement, setTriggerValue }) {
  const tree = parentElement.querySelector(".tree");
  const drawing = drawings.get(tree) ?? newDrawing(tree);
  drawing.lines = data.lines;
  drawing.click = (id) => setTriggerValue("clicked", id);
  // Boxes stay the same elements: one that is replaced between press and release is not clicked.
  for (const box of data.boxes) update(boxOf(drawing, box), box);
  drawLines(drawing);
}

function newDrawing(tree) {
  const svg = document.createElementNS(SVG, "svg");
  const drawing = { tree, svg, boxes: new Map(), lines: [], click: () => {} };
  tree.append(svg);
  new ResizeObserver(() => drawLines(drawing)).observe(tree);
  drawings.set(tree, drawing);
  return drawing;
}

function boxOf(drawing, { id, leaf, row, column }) {
  const found = drawing.boxes.get(id);
  if (found) return found;
  const node = document.createElement(leaf ? "button" : "div");
  node.dataset.id = id;
  node.style.gridRow = row;
  node.style.gridColumn = column;
  const names = leaf ? ["text"] : ["text", "answer", "evidence", "note"];
  node.append(...names.map(newPart));
  if (leaf) node.addEventListener("click", () => drawing.click(id));
  drawing.boxes.set(id, node);
  drawing.tree.append(node);
  return node;
}

function newPart(name) {
  const node = document.createElement("span");
  node.className = name;
  return node;
}

function update(node, box) {
  node.className = `box ${box.leaf ? "leaf" : "question"} ${box.state} ${box.tone}`;
  node.title = box.tip;
  if (box.leaf) node.setAttribute("aria-pressed", String(box.state === "path"));
  for (const part of node.children) part.textContent = box[part.className];
}

function drawLines({ tree, svg, boxes, lines }) {
  const frame = tree.getBoundingClientRect();
  const place = new Map();
  for (const [id, node] of boxes) {
    const box = node.getBoundingClientRect();
    place.set(id, {
      left: box.left - frame.left,
      right: box.right - frame.left,
      top: box.top - frame.top,
      bottom: box.bottom - frame.top,
      x: box.left - frame.left + box.width / 2,
      y: box.top - frame.top + box.height / 2,
    });
  }
  // Lit lines last: they lie above the others.
  const sorted = [...lines].sort((one, other) => one.lit - other.lit);
  svg.replaceChildren(...sorted.flatMap((line) => drawn(line, place)));
}

function drawn(line, place) {
  const [points, label] = route(line, place.get(line.start), place.get(line.end));
  const path = document.createElementNS(SVG, "polyline");
  path.setAttribute("points", points.map((point) => point.join(",")).join(" "));
  const text = document.createElementNS(SVG, "text");
  text.setAttribute("x", label[0]);
  text.setAttribute("y", label[1]);
  text.textContent = line.label;
  const name = `${line.lit ? "lit" : ""} ${line.guessed ? "guessed" : ""}`;
  path.setAttribute("class", name);
  text.setAttribute("class", name);
  return [path, text];
}

/** The points of a line, and where its label begins. */
function route({ route: kind }, from, to) {
  if (kind === "down") {
    return [[[from.x, from.bottom], [from.x, to.top]], [from.x + 5, from.bottom + 12]];
  }
  if (kind === "right") {
    return [[[from.right, from.y], [to.left, from.y]], [from.right + 4, from.y - 4]];
  }
  if (kind === "over") {
    const above = from.top - GAP;
    const points = [[from.x, from.top], [from.x, above], [to.x, above], [to.x, to.top]];
    return [points, [from.x + 6, above - 4]];
  }
  const below = from.bottom + GAP;
  const lane = to.left - 2 * GAP;
  const points = [
    [from.x, from.bottom], [from.x, below], [lane, below], [lane, to.y], [to.left, to.y],
  ];
  return [points, [from.x + 5, below + 13]];
}
