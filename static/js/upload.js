// Folder and file uploads with progress by bytes. Without this module the form posts by itself.

const form = document.getElementById("upload-form");
const drop = document.getElementById("drop");
const folderInput = document.getElementById("folder");
const filesInput = document.getElementById("files");
const chosenLine = document.getElementById("chosen");
const progress = document.getElementById("upload-progress");
const words = document.getElementById("upload-words");
const bar = document.getElementById("upload-bar");
const cancel = document.getElementById("upload-cancel");
const errorBox = document.getElementById("upload-error");

/** Files dropped on the page as {path, file}; inputs keep their own. */
let dropped = [];

function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    unit += 1;
  }
  return `${unit ? bytes.toFixed(1) : bytes} ${units[unit]}`;
}

function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (_match, name) => values[name]);
}

function chosen() {
  const fromFolder = [...folderInput.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  const single = [...filesInput.files].map((file) => ({ path: file.name, file }));
  return [...dropped, ...fromFolder, ...single];
}

function describe() {
  const all = chosen();
  const total = all.reduce((sum, { file }) => sum + file.size, 0);
  chosenLine.textContent = all.length ? fill(form.dataset.chosen, { count: all.length, size: size(total) }) : "";
}

function fail(message) {
  progress.hidden = true;
  cancel.hidden = true;
  delete form.dataset.sending;
  form.removeAttribute("aria-busy");
  errorBox.textContent = message;
  errorBox.hidden = false;
  errorBox.focus();
}

async function filesBelow(entry, prefix = "") {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ path: prefix + entry.name, file }];
  }
  const reader = entry.createReader();
  const found = [];
  // A folder is read in portions; an empty one is the last.
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    for (const child of some) found.push(...(await filesBelow(child, `${prefix}${entry.name}/`)));
  }
  return found;
}

for (const kind of ["dragenter", "dragover"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.add("dragging");
  });
}
drop.addEventListener("dragleave", () => drop.classList.remove("dragging"));
drop.addEventListener("drop", async (event) => {
  event.preventDefault();
  drop.classList.remove("dragging");
  // The list of items is gone after the first await, so the entries are taken at once.
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  for (const entry of entries) dropped.push(...(await filesBelow(entry)));
  describe();
});

folderInput.addEventListener("change", describe);
filesInput.addEventListener("change", describe);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (form.dataset.sending === "now") return;
  const all = chosen();
  if (!all.length) {
    fail(form.dataset.nothing);
    return;
  }
  errorBox.hidden = true;
  form.dataset.sending = "now";
  form.setAttribute("aria-busy", "true");
  send(all);
});

/** Which of the files is being sent once so many bytes of them all are gone, counted from 1, and its path. */
function current(all, loaded, total) {
  // The parts are sent in order; what stands between them is little and is spread over all.
  const bytes = all.reduce((sum, { file }) => sum + file.size, 0);
  let left = total ? (loaded / total) * bytes : 0;
  for (const [index, { path, file }] of all.entries()) {
    if (left < file.size) return { number: index + 1, name: path };
    left -= file.size;
  }
  return { number: all.length, name: all.at(-1).path };
}

function send(all) {
  const data = new FormData();
  data.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
  for (const { path, file } of all) {
    data.append("files", file);
    data.append("path", path);
  }
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.responseType = "json";
  progress.hidden = false;
  cancel.hidden = false;
  cancel.onclick = () => request.abort();
  request.upload.onprogress = ({ loaded, total }) => {
    bar.max = total;
    bar.value = loaded;
    words.textContent =
      loaded < total
        ? fill(form.dataset.words, {
            done: size(loaded),
            total: size(total),
            count: all.length,
            ...current(all, loaded, total),
          })
        : form.dataset.finishing;
  };
  request.onload = () => {
    if (request.status === 200 && request.response?.url) window.location.assign(request.response.url);
    else fail(request.response?.detail || form.dataset.failed);
  };
  request.onerror = () => fail(form.dataset.failed);
  request.onabort = () => {
    progress.hidden = true;
    cancel.hidden = true;
    delete form.dataset.sending;
    form.removeAttribute("aria-busy");
  };
  request.send(data);
}
