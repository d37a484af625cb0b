/* The decision: adopting a card fills the answer with its label, direction, code and entry kept; all stay changeable. */

export function startDecision(form, { acts, adopt, fitToLabel, needWords, press }) {
  function fill(input) {
    const { label, direction, code, kept } = input.dataset;
    if (!label) return;
    press("label", label);
    fitToLabel();
    if (direction) press("direction", direction);
    if (form.elements.kept) press("kept", kept ?? "");
    if (code && [...form.elements.reason_code.options].some((option) => option.value === code)) {
      form.elements.reason_code.value = code;
    }
    needWords();
  }

  document.addEventListener("change", (event) => {
    if (event.target.name === "adopt") fill(event.target);
    /* Another label than the adopted card's is the arbitrator's own. */
    if (event.target.name === "label" && event.isTrusted) {
      const own = document.querySelector('input[name="adopt"][value=""]');
      if (own) own.checked = true;
    }
  });
  acts["adopt-1"] = () => adopt(1);
  acts["adopt-2"] = () => adopt(2);
  acts["adopt-own"] = () => adopt("own");
  const chosen = document.querySelector('input[name="adopt"]:checked');
  if (chosen && !form.elements.label.value) fill(chosen);
}
