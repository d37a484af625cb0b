/* Judging: choose, explain, submit and go on; by keyboard or pointer, losing nothing on the way. */

import { Draft, post, signedOut } from "./draft.js";
import { fillHelp, listen } from "./keys.js";
import { keepSeat } from "./lease.js";
import { reading, words } from "./pair.js";
import { selected } from "./spots.js";

const form = document.getElementById("judge");
const say = document.querySelector("[data-say]");
const acts = { ...reading };

function tell(text, tone = "") {
  if (!say) return;
  say.textContent = text;
  say.dataset.tone = tone;
}

/* --- The form ------------------------------------------------------------------------------------------------------- */

const label = () => form.elements.label?.value ?? "";
const mode = form?.dataset.mode ?? "read";

function press(name, value) {
  const input = [...form.elements[name]].find((one) => one.value === value);
  if (!input) return;
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

function pressSide(name, side) {
  const input = form.querySelector(`input[name="${name}"][data-side="${side}"]`);
  if (!input) return;
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

/* Only the codes of the chosen label are offered, its preset first. */
const codes = form?.elements.reason_code;
const groups = codes ? [...codes.querySelectorAll("optgroup")] : [];

function fitToLabel({ preset = true } = {}) {
  const chosen = label();
  form.dataset.label = chosen;
  if (!codes) return;
  const kept = codes.value;
  const group = groups.find((one) => one.dataset.label === chosen);
  codes.replaceChildren(...(group ? [...group.children].map((option) => option.cloneNode(true)) : []));
  codes.disabled = !group;
  if (!preset && [...codes.options].some((option) => option.value === kept)) codes.value = kept;
  needWords();
}

function needWords() {
  const needed = label() === "undecided" || codes?.value === "other" || mode === "decide";
  const field = form.elements.reason;
  field.required = needed;
  field.placeholder = needed ? field.dataset.needed : field.dataset.free;
}

/* The line of the reason comes with the judgment; who writes first gets it first. */
function writeReason() {
  form.dataset.open = "1";
  form.elements.reason.focus();
}

/* Facts that differ have to be looked at before two texts are called copies; other labels already say that they differ,
 * and a decision is never without its reason in words. */
function unchecked() {
  if (label() !== "copy" || mode === "decide") return [];
  return [...document.querySelectorAll('input[name="checked"]')].filter((box) => !box.checked);
}

function fault() {
  if (!label()) return "need-label";
  if (form.elements.reason.required && !form.elements.reason.value.trim()) return "need-reason";
  return "";
}

/* --- Evidence from the selection ------------------------------------------------------------------------------------ */

const chosenEvidence = document.querySelector("[data-own-evidence]");

function evidence() {
  try {
    return JSON.parse(form.elements.evidence?.value || "[]");
  } catch {
    return [];
  }
}

function drawEvidence() {
  if (!chosenEvidence) return;
  const line = document.querySelector("[data-evidence-line]");
  if (line) line.hidden = evidence().length === 0;
  chosenEvidence.replaceChildren(
    ...evidence().map((one, index) => {
      const side = one.side === "left" ? "l" : "r";
      const chip = document.createElement("span");
      chip.className = "chip own";
      const jump = document.createElement("button");
      jump.type = "button";
      jump.dataset.spot = "evidence";
      jump.dataset[`${side}s`] = one.start;
      jump.dataset[`${side}e`] = one.end;
      jump.textContent = one.text.length > 24 ? `${one.text.slice(0, 24)}…` : one.text;
      const drop = document.createElement("button");
      drop.type = "button";
      drop.className = "drop";
      drop.textContent = "×";
      drop.setAttribute("aria-label", words("drop-evidence"));
      drop.addEventListener("click", () => setEvidence(evidence().filter((_, at) => at !== index)));
      chip.append(jump, drop);
      return chip;
    })
  );
}

function setEvidence(list) {
  form.elements.evidence.value = JSON.stringify(list);
  drawEvidence();
  draft?.changed();
}

/* --- Drafts --------------------------------------------------------------------------------------------------------- */

const KEPT = ["id", "label", "direction", "kept", "reason_code", "reason", "evidence", "cause_code", "adopt", "source"];

function read() {
  const data = { at: Date.now(), key: form.dataset.draftKey };
  for (const name of KEPT) if (form.elements[name]) data[name] = form.elements[name].value;
  data.checked = [...document.querySelectorAll('input[name="checked"]:checked')].map((box) => box.value);
  return data;
}

function restore(data) {
  for (const name of ["label", "direction", "kept", "adopt"]) {
    if (data[name] && form.elements[name]) {
      const list = form.elements[name] instanceof RadioNodeList ? [...form.elements[name]] : [form.elements[name]];
      for (const input of list) input.checked = input.value === String(data[name]);
    }
  }
  fitToLabel();
  for (const name of ["reason_code", "reason", "evidence", "cause_code", "source", "id"]) {
    if (data[name] && form.elements[name]) form.elements[name].value = data[name];
  }
  for (const box of document.querySelectorAll('input[name="checked"]')) {
    box.checked = (data.checked ?? []).includes(box.value);
  }
  if (form.elements.reason.value) form.dataset.open = "1";
  needWords();
  drawEvidence();
}

let draft = null;

function startDraft() {
  draft = new Draft({
    key: form.dataset.draftKey,
    url: form.dataset.draftUrl ?? "",
    read,
    say: (id) => {
      const note = document.querySelector("[data-draft-note]");
      if (note) note.textContent = words(id);
    },
  });
  let server = null;
  try {
    server = JSON.parse(form.dataset.draft || "null");
  } catch {
    server = null;
  }
  /* The server keeps one draft for a pair; one of another step or version is not for this form. */
  if (server?.key !== form.dataset.draftKey) server = null;
  const local = draft.stored();
  const newest = [local, server].filter(Boolean).sort((a, b) => (b.at ?? 0) - (a.at ?? 0))[0];
  if (newest) {
    restore(newest);
    const note = document.querySelector("[data-draft-note]");
    if (note && (newest.label || newest.reason)) note.textContent = words("draft-restored");
  }
}

/* --- Submitting ----------------------------------------------------------------------------------------------------- */

let busy = false;
let stopSeat = () => {};
let active = 0;
let since = document.visibilityState === "visible" ? performance.now() : null;

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") since = performance.now();
  else if (since !== null) {
    active += performance.now() - since;
    since = null;
  }
});

function setBusy(on) {
  busy = on;
  form.setAttribute("aria-busy", String(on));
}

async function send(url, body) {
  if (busy) return;
  setBusy(true);
  tell(words("sending"));
  let response;
  try {
    response = await post(url, body);
  } catch {
    setBusy(false);
    return tell(words("offline"), "bad");
  }
  const plain = !(response.headers.get("Content-Type") ?? "").includes("json");
  if (signedOut(response) || (response.ok && plain && response.redirected)) {
    setBusy(false);
    draft?.changed();
    tell(words("signed-out"), "bad");
    return document.getElementById("signed-out")?.showModal();
  }
  const answer = plain ? {} : await response.json();
  if (response.ok && answer.next) {
    draft?.forget();
    stopSeat();
    return location.assign(answer.next);
  }
  setBusy(false);
  return tell(answer.detail || words("failed"), "bad");
}

function submit() {
  if (busy) return;
  const wrong = fault();
  if (wrong) {
    tell(words(wrong), "bad");
    if (wrong === "need-reason") writeReason();
    return;
  }
  const open = unchecked();
  if (open.length) {
    tell(words("need-check").replace("{what}", open.map((box) => box.dataset.name).join(document.documentElement.lang.startsWith("zh") ? "、" : ", ")), "bad");
    return;
  }
  if (form.elements.active_ms) {
    form.elements.active_ms.value = String(Math.round(active + (since === null ? 0 : performance.now() - since)));
  }
  send(form.action, new FormData(form));
}

function release(how) {
  const button = form.querySelector(`button[name="how"][value="${how}"]`);
  if (!button) return;
  const body = new FormData();
  body.set("how", how);
  body.set("slot", form.elements.slot.value);
  send(button.formAction, body);
}

/* --- Wiring --------------------------------------------------------------------------------------------------------- */

function startForm() {
  form.noValidate = true;
  for (const { value } of form.querySelectorAll('input[name="label"]')) {
    acts[`label-${value}`] = () => press("label", value);
  }
  Object.assign(acts, {
    "left-first": () => pressSide("direction", "left"),
    "right-first": () => pressSide("direction", "right"),
    "same-origin": () => press("direction", "same_origin"),
    "unknown-direction": () => press("direction", "unknown"),
    "keep-left": () => pressSide("kept", "left"),
    "keep-right": () => pressSide("kept", "right"),
    "write-reason": writeReason,
    submit,
  });
  if (document.querySelector('input[name="checked"]')) {
    acts["check-facts"] = () => {
      for (const box of document.querySelectorAll('input[name="checked"]')) box.checked = true;
      draft?.changed();
      tell(words("checked"));
    };
  }
  if (form.elements.evidence) {
    acts["mark-evidence"] = () => {
      const found = selected();
      if (!found) return tell(words("select-first"));
      return setEvidence([...evidence(), found].slice(-20));
    };
  }
  if (form.elements.slot) {
    acts.later = () => release("later");
    acts.recuse = () => {
      const dialog = document.getElementById("recuse");
      if (dialog) dialog.showModal();
    };
    document.querySelector("[data-recuse]")?.addEventListener("click", () => release("recuse"));
  }
  /* Ticks and cards belong to the form but stand elsewhere on the page: listen on the document. */
  document.addEventListener("change", (event) => {
    if (event.target.form !== form) return;
    if (event.target.name === "label") fitToLabel();
    if (event.target.name === "reason_code") needWords();
    if (say?.dataset.tone === "bad") tell("");
    draft?.changed();
  });
  form.addEventListener("input", () => draft?.changed());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const how = event.submitter?.name === "how" ? event.submitter.value : "";
    if (how === "recuse" && acts.recuse) return acts.recuse();
    return how ? release(how) : submit();
  });
  /* Enter on a radio button would submit the form: only Ctrl+Enter and the button may. */
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && event.target.matches?.("input")) {
      event.preventDefault();
    }
  });
  document.querySelector("[data-retry]")?.addEventListener("click", () => {
    document.getElementById("signed-out")?.close();
    submit();
  });
  fitToLabel({ preset: false });
  if (form.dataset.draftKey) startDraft();
  drawEvidence();
  const clock = document.querySelector("[data-until]");
  if (clock) {
    stopSeat = keepSeat(clock, { words, onLapse: () => tell(words("lapsed"), "bad") });
  }
}

function holds(scope) {
  switch (scope) {
    case "page":
      return true;
    case "form":
      return form !== null;
    case "answer":
      return form !== null && Boolean(form.elements.label);
    case "seat":
      return form !== null && Boolean(form.elements.slot);
    case "decide":
      return mode === "decide";
    case "revision":
    case "copy":
      return form !== null && label() === scope;
    default:
      return false;
  }
}

export function adopt(number) {
  const wanted = number === "own" ? '[value="own"]' : `[data-place="${number}"]`;
  const input = document.querySelector(`input[name="adopt"]${wanted}`);
  if (!input) return;
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-do]");
  if (button && acts[button.dataset.do]) {
    event.preventDefault();
    acts[button.dataset.do]();
  }
  const close = event.target.closest?.("dialog [data-close]");
  if (close) close.closest("dialog").close();
});

if (form) startForm();
if (document.getElementById("tour")) {
  acts.tour = async () => {
    document.querySelector("dialog[open]")?.close();
    (await import("./tour.js")).tour();
  };
}
if (mode === "decide") {
  const { startDecision } = await import("./arbitration.js");
  startDecision(form, { acts, adopt, fitToLabel, needWords, press });
}
const possible = (scope) => ["revision", "copy"].includes(scope) ? form !== null && Boolean(form.elements.label) : holds(scope);
const help = document.getElementById("help");
if (help) fillHelp(help, acts, possible, words);
listen(acts, holds);
document.documentElement.dataset.ready = "1";
