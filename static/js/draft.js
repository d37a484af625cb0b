/* What has been typed and not yet submitted: kept in this browser at once, on the server a moment later. */

const WAIT = 1200;

export function csrf() {
  const found = document.cookie.match(/(?:^|;\s*)dedupreview_csrf=([^;]*)/);
  return found ? decodeURIComponent(found[1]) : "";
}

/* POST to an address of this site. The token is the cookie's, which a new sign-in renews; the form's own would be stale. */
export function post(url, body) {
  if (body instanceof FormData) body.delete("csrfmiddlewaretoken");
  return fetch(url, {
    method: "POST",
    body,
    credentials: "same-origin",
    headers: { "X-CSRFToken": csrf(), "X-Requested-With": "fetch", Accept: "application/json" },
  });
}

/* Whether the answer says that this person is no longer signed in. */
export function signedOut(response) {
  return response.status === 401 || response.status === 403 || (response.redirected && /\/login(?:[/?]|$)/.test(response.url));
}

export class Draft {
  /* `read()` gives the form's state as a plain object; `say(id)` tells the person how it was kept. */
  constructor({ key, url, read, say }) {
    Object.assign(this, { key, url, read, say, timer: 0 });
  }

  stored() {
    try {
      return JSON.parse(localStorage.getItem(this.key) ?? "null");
    } catch {
      return null;
    }
  }

  changed() {
    const data = this.read();
    try {
      localStorage.setItem(this.key, JSON.stringify(data));
    } catch {
      /* Private windows may refuse; the server's copy is still to come. */
    }
    if (!this.url) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(data), WAIT);
  }

  async send(data) {
    const body = new FormData();
    body.set("data", JSON.stringify(data));
    try {
      const response = await post(this.url, body);
      this.say(response.ok && !response.redirected ? "draft-saved" : "draft-local");
    } catch {
      this.say("draft-local");
    }
  }

  stop() {
    clearTimeout(this.timer);
    this.url = "";
  }

  forget() {
    this.stop();
    try {
      localStorage.removeItem(this.key);
    } catch {
      /* Nothing was kept there. */
    }
  }
}
