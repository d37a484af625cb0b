// What every page shares: confirmations, and buttons that cannot be pressed twice by accident.

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== "post") return;
  if (form.dataset.sending) {
    event.preventDefault();
    return;
  }
  const question = event.submitter?.dataset.confirm ?? form.dataset.confirm;
  if (question && !window.confirm(question)) {
    event.preventDefault();
    return;
  }
  form.dataset.sending = "yes";
  form.setAttribute("aria-busy", "true");
});

// Coming back with the browser's own button shows the page as it was left, with its buttons usable again.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sending]")) {
    delete form.dataset.sending;
    form.removeAttribute("aria-busy");
  }
});

// A message that follows a POST is the first thing to hear about.
document.querySelector(".error-summary")?.focus();
