/* The tour of the pair page: one part after the other is outlined and said in two sentences. Loaded when asked for. */

const dialog = document.getElementById("tour");
const [title, text] = [document.getElementById("tour-title"), document.getElementById("tour-words")];
const GAP = 12;

let stops = [];
let at = 0;

/* Stops whose part this page does not have are left out. */
function stopsHere() {
  return [...document.querySelectorAll("[data-tour-stops] li")]
    .map((stop) => ({ stop, part: document.querySelector(stop.dataset.at) }))
    .filter(({ part }) => part && part.getClientRects().length);
}

function clear() {
  document.querySelector(".toured")?.classList.remove("toured");
}

/* Beside what is spoken of: below it where there is room, else above, else over its lower end. */
function place(part) {
  const box = part.getBoundingClientRect();
  const height = dialog.offsetHeight;
  let top = box.bottom + GAP;
  if (top + height > innerHeight) top = box.top - GAP - height;
  if (top < 0) top = innerHeight - height - GAP;
  const left = Math.min(Math.max(GAP, box.left), innerWidth - dialog.offsetWidth - GAP);
  dialog.style.top = `${top}px`;
  dialog.style.left = `${left}px`;
}

function show(number) {
  clear();
  at = number;
  const { stop, part } = stops[at];
  title.textContent = stop.querySelector("b").textContent;
  text.textContent = stop.querySelector("span").textContent;
  dialog.querySelector("[data-tour-count]").textContent = `${at + 1} / ${stops.length}`;
  dialog.querySelector('[data-tour="back"]').disabled = at === 0;
  const next = dialog.querySelector('[data-tour="next"]');
  next.hidden = at === stops.length - 1;
  (next.hidden ? dialog.querySelector("[data-close]") : next).focus();
  part.classList.add("toured");
  part.scrollIntoView({ block: "nearest" });
  place(part);
}

function go(step) {
  const number = at + step;
  if (number >= 0 && number < stops.length) show(number);
}

dialog.addEventListener("click", (event) => {
  const way = event.target.closest("[data-tour]")?.dataset.tour;
  if (way) go(way === "next" ? 1 : -1);
});
dialog.addEventListener("keydown", (event) => {
  if (event.isComposing || event.repeat) return;
  if (event.key === "ArrowRight") go(1);
  if (event.key === "ArrowLeft") go(-1);
});
dialog.addEventListener("close", clear);
addEventListener("resize", () => dialog.open && place(stops[at].part));

export function tour() {
  stops = stopsHere();
  if (!stops.length) return;
  dialog.showModal();
  show(0);
}
