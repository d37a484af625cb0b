/* The seat's time: shown by the minute, renewed while the page is looked at, and said plainly when it has run out. */

import { post } from "./draft.js";

const EVERY = 60_000;

export function keepSeat(clock, { words, onLapse }) {
  let until = Date.parse(clock.dataset.until);
  /* The server's clock decides; this machine's may be wrong by minutes. */
  const skew = Date.parse(clock.dataset.now) - Date.now();
  const length = until - Date.parse(clock.dataset.now);
  let lapsed = false;

  function left() {
    return until - (Date.now() + skew);
  }

  function draw() {
    const minutes = Math.ceil(left() / 60_000);
    clock.textContent = minutes > 0 ? words("lease-left").replace("{n}", minutes) : words("lease-over");
    clock.classList.toggle("soon", minutes <= 3);
    if (minutes <= 0 && !lapsed) {
      lapsed = true;
      onLapse();
    }
  }

  async function renew() {
    if (document.visibilityState !== "visible" || left() > length * 0.75) return draw();
    try {
      const response = await post(clock.dataset.url, new FormData());
      if (response.ok && !response.redirected) {
        until = Date.parse((await response.json()).lease_expires_at);
        lapsed = false;
      } else if (response.status === 409) {
        until = Date.now() + skew;
      }
    } catch {
      /* Offline for now: the clock goes on and the next minute tries again. */
    }
    return draw();
  }

  draw();
  const timer = setInterval(renew, EVERY);
  document.addEventListener("visibilitychange", renew);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", renew);
  };
}
