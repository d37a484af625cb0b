/* Reading a pair: jumps through changes, evidence and facts, the change bar, only-changes and swapped sides. */

import { besidesMarks, beforePhrase, rangesOf, readCells } from "./spots.js";

const pair = document.getElementById("pair");
const bar = document.querySelector(".judge");

/* The words of this page in the reader's language; the page carries them. */
export function words(id) {
  return document.querySelector(`[data-word="${id}"]`)?.textContent ?? "";
}

function light(name, ranges) {
  if (!("highlights" in CSS)) return;
  CSS.highlights.set(name, new Highlight(...ranges));
}

function show(thing) {
  const box = thing.getBoundingClientRect();
  const room = innerHeight - (bar?.offsetHeight ?? 0);
  scrollBy({ top: box.top - Math.max(24, (room - Math.min(box.height, room * 0.6)) / 2.4) });
}

/* Whatever is folded around a place opens. */
function reveal(place) {
  place.closest(".pr")?.classList.add("shown");
  const record = place.closest("details.record");
  if (record) record.open = true;
}

/* --- Changes -------------------------------------------------------------------------------------------------------- */

let current = 0;
const total = Number(pair.dataset.changes);
const counter = document.querySelector("[data-counter]");

export function goToChange(number) {
  if (!total) return;
  current = ((number - 1 + total) % total) + 1;
  for (const old of pair.querySelectorAll(".cur")) old.classList.remove("cur");
  const marks = shownTexts().querySelectorAll(`[data-c="${current}"]`);
  for (const mark of marks) mark.classList.add("cur");
  for (const old of document.querySelectorAll(".strip .now")) old.classList.remove("now");
  for (const mark of document.querySelectorAll(".strip [data-to]")) {
    if (Number(mark.dataset.to) <= current && current <= Number(mark.dataset.end)) mark.classList.add("now");
  }
  if (counter) counter.textContent = `${current}/${total}`;
  for (const mark of marks) reveal(mark);
  if (marks.length) show(marks[0]);
}

/* --- Spots: evidence and facts -------------------------------------------------------------------------------------- */

/* A chip names one place on each side, or several: then each further press goes to the next of them. */
function placesOf(chip) {
  if (chip.dataset.places) return chip.dataset.places.split(";").map((place) => place.split(","));
  const { ls = "", le = "", rs = "", re = "" } = chip.dataset;
  return [[ls, le, rs, re]];
}

function spotsOf(chip) {
  const places = placesOf(chip);
  const [ls, le, rs, re] = places[Number(chip.dataset.at ?? 0) % places.length];
  return [
    ...(ls === "" ? [] : rangesOf("l", Number(ls), Number(le))),
    ...(rs === "" ? [] : rangesOf("r", Number(rs), Number(re))),
  ];
}

function goToSpot(chip) {
  if (pair.classList.contains("by-article")) showArticles(false);
  if (chip.classList.contains("here")) chip.dataset.at = String(Number(chip.dataset.at ?? 0) + 1);
  for (const other of document.querySelectorAll("[data-spot].here")) other.classList.remove("here");
  chip.classList.add("here");
  const spots = spotsOf(chip);
  for (const spot of spots) {
    const node = spot.startContainer;
    const row = (node instanceof Element ? node : node.parentElement).closest(".pr");
    if (row) reveal(row);
  }
  light("spot", spots);
  if (spots.length) show(spots[0]);
}

function step(kind, by) {
  const chips = [...document.querySelectorAll(`[data-spot="${kind}"]`)];
  if (!chips.length) return;
  const at = chips.findIndex((chip) => chip.classList.contains("here"));
  const next = at < 0 ? (by > 0 ? 0 : chips.length - 1) : (at + by + chips.length) % chips.length;
  const chip = chips[next];
  if (chip.closest(".beyond")) unfold(chip.closest("[data-fold]"), true);
  goToSpot(chip);
}

/* --- Lists of one line ---------------------------------------------------------------------------------------------- */

/* What of a list does not fit into its first line stands behind a button; nothing is folded that would fit. */
const folds = [...document.querySelectorAll("[data-fold]")];

function unfold(fold, open) {
  fold.classList.toggle("open", open);
  fit(fold);
}

function fit(fold) {
  const button = fold.querySelector(".rest");
  const items = [...fold.querySelectorAll("li")];
  const open = fold.classList.contains("open");
  if (!open) {
    button.hidden = true;
    let beyond = items.filter((item) => item.offsetTop > items[0].offsetTop + 4).length;
    if (beyond) {
      /* The button takes some of the line itself. */
      button.hidden = false;
      button.textContent = words("rest").replace("{n}", beyond);
      beyond = items.filter((item) => item.offsetTop > items[0].offsetTop + 4).length;
      button.textContent = words("rest").replace("{n}", beyond);
    }
  } else {
    button.textContent = words("fold");
  }
  button.setAttribute("aria-expanded", String(open));
  for (const item of items) item.classList.toggle("beyond", !open && item.offsetTop > items[0].offsetTop + 4);
}

function startFolds() {
  for (const fold of folds) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link rest";
    button.addEventListener("click", () => unfold(fold, !fold.classList.contains("open")));
    fold.append(button);
    fit(fold);
  }
  addEventListener("resize", () => folds.forEach(fit), { passive: true });
}

/* --- Article by article --------------------------------------------------------------------------------------------- */

const tableLink = document.querySelector('[data-do="articles"]');

function articleTable() {
  return document.getElementById("articles");
}

function shownTexts() {
  return (pair.classList.contains("by-article") && articleTable()) || pair;
}

function showArticles(on) {
  pair.classList.toggle("by-article", on);
  tableLink.setAttribute("aria-pressed", String(on));
  later();
}

/* The table is fetched when somebody asks for it, once; the address itself is a page of its own, for printing. */
async function toggleArticles() {
  if (articleTable()) return showArticles(!pair.classList.contains("by-article"));
  const sides = pair.querySelector(".pr .cell")?.dataset.d === "r" ? "rl" : "lr";
  const response = await fetch(`${tableLink.getAttribute("href")}?sides=${sides}`).catch(() => null);
  if (!response?.ok || response.redirected) return location.assign(tableLink.href);
  const fetched = new DOMParser().parseFromString(await response.text(), "text/html");
  const table = fetched.getElementById("articles");
  if (!table || articleTable()) return undefined;
  pair.append(document.adoptNode(table));
  showArticles(true);
  return pair.scrollIntoView({ block: "nearest" });
}

/* Its lines say left and right in words: for exchanged sides it is fetched anew. */
function swapArticles() {
  const shown = pair.classList.contains("by-article");
  articleTable()?.remove();
  if (shown) {
    showArticles(false);
    toggleArticles();
  }
}

/* --- Only changes, swapped sides ------------------------------------------------------------------------------------ */

function onlyChanges(on = !pair.classList.contains("only")) {
  pair.classList.toggle("only", on);
  for (const button of document.querySelectorAll('[data-do="only-changes"]')) {
    button.setAttribute("aria-pressed", String(on));
  }
  const wish = pair.classList.contains("kin") ? "dedupreview_shared" : "dedupreview_only";
  document.cookie = `${wish}=${on ? 1 : 0}; path=/; max-age=31536000; samesite=lax`;
  if (current) goToChange(current);
  later();
}

/* Exchange what stands left and right. Answers name the texts themselves, so what was chosen stays true. */
export function swapSides() {
  for (const holder of document.querySelectorAll(".pr, [data-swap]")) {
    const [first, last] = [holder.firstElementChild, holder.lastElementChild];
    if (first === last) continue;
    const mark = document.createElement("i");
    first.replaceWith(mark);
    last.replaceWith(first);
    mark.replaceWith(last);
  }
  for (const holder of document.querySelectorAll("[data-swap-text]")) {
    const [first, last] = [holder.firstElementChild, holder.lastElementChild];
    [first.textContent, last.textContent] = [last.textContent, first.textContent];
  }
  folds.forEach(fit);
  for (const holder of document.querySelectorAll("[data-swap-value]")) {
    const [first, second] = holder.querySelectorAll("input[data-side]");
    const chosen = holder.querySelector("input:checked")?.value;
    [first.value, second.value] = [second.value, first.value];
    for (const input of holder.querySelectorAll("input")) input.checked = input.value === chosen;
  }
  for (const sign of pair.querySelectorAll(".lo .go b, .ro .go b")) {
    sign.textContent = sign.textContent === "◧" ? "◨" : "◧";
  }
  for (const mark of document.querySelectorAll(".strip .l, .strip .r")) {
    const left = mark.classList.toggle("l");
    mark.classList.toggle("r", !left);
    mark.setAttribute("y", left ? "0" : "7");
  }
  const field = document.querySelector('input[name="sides"]');
  if (field) field.value = field.value === "lr" ? "rl" : "lr";
  const times = document.querySelector('input[name="swapped"]');
  if (times) times.value = String(Number(times.value) + 1);
  greyKnown();
  swapArticles();
  document.dispatchEvent(new CustomEvent("pair:swapped"));
}

/* --- The change bar ------------------------------------------------------------------------------------------------- */

const view = document.querySelector(".strip .view");

/* Where each row begins on the bar, in lines as the server guessed them: the bar shows folded text too. */
const starts = new Map();
let lines = 0;
for (const row of pair.querySelectorAll(".pr")) {
  const height = Number(/(?:^| )k(\d+)/.exec(row.className)?.[1] ?? 1);
  starts.set(row, [lines, lines + height]);
  lines += height;
}

function rowAt(y, step) {
  const box = pair.getBoundingClientRect();
  let node = document.elementFromPoint(box.left + box.width / 2, y)?.closest(".pr, .fold, .record");
  while (node && !starts.has(node)) node = node[step] ?? node.parentElement.closest("details.record")?.[step];
  return node;
}

function drawView() {
  if (!view || !lines) return;
  const box = pair.querySelector(".texts").getBoundingClientRect();
  const room = innerHeight - (bar?.offsetHeight ?? 0);
  const top = rowAt(Math.max(box.top, 0) + 16, "nextElementSibling");
  const end = rowAt(Math.min(box.bottom, room) - 16, "previousElementSibling");
  if (box.top > room || box.bottom < 0) return view.setAttribute("width", "0");
  if (!top && !end) return undefined;
  const from = (1000 * starts.get(top ?? end)[0]) / lines;
  const to = (1000 * starts.get(end ?? top)[1]) / lines;
  view.setAttribute("x", String(from));
  return view.setAttribute("width", String(Math.max(to - from, 2)));
}

let drawing = false;
function later() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawView();
  });
}

addEventListener("scroll", later, { passive: true });
addEventListener("resize", later, { passive: true });

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-to], a[data-go]");
  if (link) {
    event.preventDefault();
    goToChange(Number(link.dataset.to ?? link.dataset.go));
    return;
  }
  const mark = event.target.closest?.("a[data-row]");
  if (mark) {
    event.preventDefault();
    const row = document.getElementById(`r${mark.dataset.row}`);
    row.classList.add("shown");
    show(row);
    return;
  }
  const chip = event.target.closest?.("[data-spot]");
  if (chip) {
    event.preventDefault();
    goToSpot(chip);
  }
});

/* --- Passages known from other documents ---------------------------------------------------------------------------- */

const known = [...document.querySelectorAll("[data-known]")];

function greyKnown() {
  light("known", known.flatMap(spotsOf).flatMap(besidesMarks));
}

/* The words stand in the text itself, where the reader is; they are drawn by the style sheet and not part of it. */
function tagKnown() {
  for (const chip of known.filter((one) => one.querySelector(".kind"))) {
    const { ls = "", rs = "" } = chip.dataset;
    for (const [side, start] of [["l", ls], ["r", rs]]) {
      const place = start === "" ? null : beforePhrase(side, Number(start));
      if (!place) continue;
      const tag = document.createElement("i");
      tag.className = "known-tag";
      tag.dataset.n = chip.querySelector(".kind").textContent;
      place.insertNode(tag);
    }
  }
}

/* Light up what a card or chip speaks of while the pointer rests on it. */
document.addEventListener("pointerover", (event) => {
  const chip = event.target.closest?.("[data-spot]");
  if (chip) light("hint", spotsOf(chip));
  else if (CSS.highlights?.size) light("hint", []);
});

function toggleDialog(id) {
  const dialog = document.getElementById(id);
  if (dialog) dialog.showModal();
}

/* What the reading keys do; the judging page adds its own. */
export const reading = {
  "next-change": () => goToChange(current + 1),
  "previous-change": () => goToChange(current ? current - 1 : total),
  "next-evidence": () => step("evidence", 1),
  "previous-evidence": () => step("evidence", -1),
  "next-fact": () => step("fact", 1),
  "only-changes": () => onlyChanges(),
  articles: toggleArticles,
  swap: swapSides,
  help: () => toggleDialog("help"),
  guideline: () => toggleDialog("guideline"),
  escape: () => document.activeElement?.blur(),
};
if (!document.getElementById("guideline")) delete reading.guideline;
if (!tableLink) delete reading.articles;

readCells(pair);
startFolds();
tagKnown();
greyKnown();
drawView();
