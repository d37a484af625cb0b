/* From offsets into the raw texts to places on the page, and back.
 *
 * Offsets count code points; the browser counts UTF-16 units. Each cell carries the offset at which its paragraph
 * starts (data-s); an invisible character stands on the page as <i class="z">, an element that counts as one.
 */

const cells = { l: [], r: [] };

export function readCells(root) {
  for (const side of ["l", "r"]) {
    cells[side] = [...root.querySelectorAll(`.cell[data-d="${side}"][data-s]`)]
      .map((node) => ({ node, start: Number(node.dataset.s) }))
      .sort((a, b) => a.start - b.start);
  }
}

function cellAt(side, offset) {
  const list = cells[side];
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle].start <= offset) low = middle;
    else high = middle - 1;
  }
  return list[low];
}

function* pieces(cell) {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.nodeType === Node.TEXT_NODE) yield { node, points: [...node.data].length };
    else if (node.classList.contains("z")) yield { node, points: 1 };
  }
}

function unitsOf(text, points) {
  let units = 0;
  for (const character of text) {
    if (points-- <= 0) break;
    units += character.length;
  }
  return units;
}

/* The boundary point at `offset` code points of a side's text, in this cell; at its end where that lies beyond. */
function within(cell, offset) {
  let left = offset - cell.start;
  let last = null;
  for (const piece of pieces(cell.node)) {
    if (left < piece.points || (left === piece.points && piece.node.nodeType === Node.TEXT_NODE)) {
      return piece.node.nodeType === Node.TEXT_NODE
        ? [piece.node, unitsOf(piece.node.data, left)]
        : [piece.node.parentNode, [...piece.node.parentNode.childNodes].indexOf(piece.node)];
    }
    left -= piece.points;
    last = piece.node;
  }
  if (!last) return [cell.node, 0];
  return last.nodeType === Node.TEXT_NODE
    ? [last, last.data.length]
    : [last.parentNode, [...last.parentNode.childNodes].indexOf(last) + 1];
}

/* The ranges of the page that show [start, end) of a side: one for each paragraph, never the other side's text. */
export function rangesOf(side, start, end) {
  const list = cells[side];
  const first = list.indexOf(cellAt(side, start));
  if (first < 0) return [];
  const found = [];
  for (let index = first; index < list.length; index += 1) {
    const from = Math.max(start, list[index].start);
    const to = Math.min(Math.max(start, end), list[index + 1]?.start ?? Infinity);
    if (index > first && from >= end) break;
    const range = document.createRange();
    range.setStart(...within(list[index], from));
    range.setEnd(...within(list[index], to));
    found.push(range);
  }
  return found;
}

/* The parts of a range outside marked changes: what colours a passage must not paint over what colours a change. */
export function besidesMarks(range) {
  const root = range.commonAncestorContainer;
  if (root.nodeType === Node.TEXT_NODE) return root.parentElement.closest("mark") ? [] : [range];
  const found = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!range.intersectsNode(node) || node.parentElement.closest("mark")) continue;
    const part = document.createRange();
    part.setStart(node, node === range.startContainer ? range.startOffset : 0);
    part.setEnd(node, node === range.endContainer ? range.endOffset : node.length);
    if (!part.collapsed) found.push(part);
  }
  return found;
}

/* Where the phrase begins that holds this offset: behind the last sign before it, else at the cell's beginning. */
export function beforePhrase(side, offset) {
  const cell = cellAt(side, offset);
  if (!cell) return null;
  let place = null;
  let at = cell.start;
  for (const { node, points } of pieces(cell.node)) {
    if (at > offset) break;
    let units = 0;
    if (node.nodeType === Node.TEXT_NODE) {
      for (const character of node.data) {
        units += character.length;
        at += 1;
        if (at <= offset && /[。！？；：，、\s]/u.test(character)) place = [node, units];
      }
    } else at += points;
  }
  const range = document.createRange();
  if (place) range.setStart(...place);
  else range.setStart(cell.node, 0);
  range.collapse(true);
  return range;
}

/* What of the texts is selected: {side: "left"|"right", start, end, text} in code points of raw, or null. */
export function selected() {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const home = (node) => (node instanceof Element ? node : node.parentElement)?.closest(".cell[data-s]");
  const [first, last] = [home(range.startContainer), home(range.endContainer)];
  if (!first || !last || first.dataset.d !== last.dataset.d) return null;
  const offset = (cell, container, at) => {
    const before = document.createRange();
    before.selectNodeContents(cell);
    before.setEnd(container, at);
    const part = before.cloneContents();
    let points = 0;
    for (const piece of pieces(part)) points += piece.points;
    return Number(cell.dataset.s) + points;
  };
  return {
    side: first.dataset.d === "l" ? "left" : "right",
    start: offset(first, range.startContainer, range.startOffset),
    end: offset(last, range.endContainer, range.endOffset),
    text: selection.toString().slice(0, 300),
  };
}
