/* The one registry of keyboard commands of the judging pages.
 *
 * Two entries may share a key only if their scopes never hold at the same time (see EXCLUSIVE). The help dialog is made
 * from this list, and a test looks for collisions in it.
 */

export const KEYS = [
  { keys: ["1"], act: "label-copy", scope: "answer", group: "judge", text: "label-copy" },
  { keys: ["2"], act: "label-revision", scope: "answer", group: "judge", text: "label-revision" },
  { keys: ["3"], act: "label-citation", scope: "answer", group: "judge", text: "label-citation" },
  { keys: ["4"], act: "label-template", scope: "answer", group: "judge", text: "label-template" },
  { keys: ["5"], act: "label-independent", scope: "answer", group: "judge", text: "label-independent" },
  { keys: ["0"], act: "label-undecided", scope: "answer", group: "judge", text: "label-undecided" },
  { keys: ["ArrowRight"], act: "left-first", scope: "revision", group: "judge", text: "left-first" },
  { keys: ["ArrowLeft"], act: "right-first", scope: "revision", group: "judge", text: "right-first" },
  { keys: ["="], act: "same-origin", scope: "revision", group: "judge", text: "same-origin" },
  { keys: ["-"], act: "unknown-direction", scope: "revision", group: "judge", text: "unknown-direction" },
  { keys: ["ArrowLeft"], act: "keep-left", scope: "copy", group: "judge", text: "keep-left" },
  { keys: ["ArrowRight"], act: "keep-right", scope: "copy", group: "judge", text: "keep-right" },
  { keys: ["c"], act: "check-facts", scope: "answer", group: "judge", text: "check-facts" },
  { keys: ["r"], act: "write-reason", scope: "answer", group: "judge", text: "write-reason" },
  { keys: ["a"], act: "adopt-1", scope: "decide", group: "judge", text: "adopt-1" },
  { keys: ["b"], act: "adopt-2", scope: "decide", group: "judge", text: "adopt-2" },
  { keys: ["d"], act: "adopt-own", scope: "decide", group: "judge", text: "adopt-own" },
  { keys: ["Ctrl+Enter"], act: "submit", scope: "form", group: "judge", text: "submit", fields: true },
  { keys: ["s"], act: "later", scope: "seat", group: "judge", text: "later" },
  { keys: ["Shift+s"], act: "recuse", scope: "seat", group: "judge", text: "recuse" },
  { keys: ["n"], act: "next-change", scope: "page", group: "read", text: "next-change" },
  { keys: ["p"], act: "previous-change", scope: "page", group: "read", text: "previous-change" },
  { keys: ["j"], act: "next-evidence", scope: "page", group: "read", text: "next-evidence" },
  { keys: ["k"], act: "previous-evidence", scope: "page", group: "read", text: "previous-evidence" },
  { keys: ["f"], act: "next-fact", scope: "page", group: "read", text: "next-fact" },
  { keys: ["e"], act: "mark-evidence", scope: "answer", group: "read", text: "mark-evidence" },
  { keys: ["o"], act: "only-changes", scope: "page", group: "read", text: "only-changes" },
  { keys: ["v"], act: "articles", scope: "page", group: "read", text: "articles" },
  { keys: ["x"], act: "swap", scope: "page", group: "read", text: "swap" },
  { keys: ["g"], act: "guideline", scope: "page", group: "read", text: "guideline" },
  { keys: ["?", "？"], act: "help", scope: "page", group: "read", text: "help" },
  { keys: ["Escape"], act: "escape", scope: "page", group: "read", text: "escape", fields: true },
];

/* Scopes that cannot hold together: only one label is chosen at a time. */
const EXCLUSIVE = [["revision", "copy"]];

/* Pairs of entries that would answer the same key at the same time, as "key: act / act". */
export function collisions(entries = KEYS) {
  const exclusive = (a, b) =>
    EXCLUSIVE.some(([x, y]) => (a === x && b === y) || (a === y && b === x));
  const found = [];
  entries.forEach((entry, index) => {
    for (const other of entries.slice(index + 1)) {
      for (const key of entry.keys) {
        if (other.keys.includes(key) && !exclusive(entry.scope, other.scope)) {
          found.push(`${key}: ${entry.act} / ${other.act}`);
        }
      }
    }
  });
  return found;
}

/* The name of a key as the registry writes it: letters in lower case, Shift named only with letters. */
export function nameOf(event) {
  const control = event.ctrlKey || event.metaKey;
  if (event.altKey || (control && event.key !== "Enter")) return "";
  if (control) return "Ctrl+Enter";
  if (/^[a-zA-Z]$/.test(event.key)) {
    return (event.shiftKey ? "Shift+" : "") + event.key.toLowerCase();
  }
  return event.key;
}

/* Whether the key belongs to an input method: then nothing here may act on it. */
export function composing(event) {
  return event.isComposing || event.keyCode === 229 || event.key === "Process";
}

const PRESSED_ONLY = new Set(["radio", "checkbox", "button", "submit", "reset"]);

function inField(target) {
  if (!(target instanceof Element)) return false;
  if (target.closest("textarea, select, [contenteditable]")) return true;
  const input = target.closest("input");
  return input !== null && !PRESSED_ONLY.has(input.type);
}

/* Listen for the registry's keys. `acts` maps an act to a function; `holds(scope)` says whether a scope holds now. */
export function listen(acts, holds) {
  document.addEventListener("keydown", (event) => {
    if (composing(event) || event.defaultPrevented || event.repeat) return;
    if (document.querySelector("dialog[open]")) return;
    const name = nameOf(event);
    const field = inField(event.target);
    const entry = KEYS.find(
      (one) =>
        one.keys.includes(name) && one.act in acts && holds(one.scope) && (!field || one.fields)
    );
    if (!entry) return;
    event.preventDefault();
    acts[entry.act]();
  });
}

const DRAWN = { ArrowRight: "→", ArrowLeft: "←", Escape: "Esc", "-": "−" };

/* Fill the help dialog's lists with the entries that this page answers. `words(id)` gives the text of a command. */
export function fillHelp(dialog, acts, possible, words) {
  for (const list of dialog.querySelectorAll("[data-keys]")) {
    for (const entry of KEYS) {
      if (entry.group !== list.dataset.keys || !(entry.act in acts) || !possible(entry.scope)) continue;
      const term = document.createElement("dt");
      for (const part of entry.keys[0].split("+")) {
        const key = document.createElement("kbd");
        key.textContent = DRAWN[part] ?? (part.length === 1 ? part.toUpperCase() : part);
        term.append(key);
      }
      const what = document.createElement("dd");
      what.textContent = words(`key-${entry.text}`);
      list.append(term, what);
    }
  }
}
