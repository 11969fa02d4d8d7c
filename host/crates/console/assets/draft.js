// The editor of a policy: while something is changed, the server says what that would change.
import { expired, parsed } from "./console.js";

const form = document.getElementById("editor");
if (form instanceof HTMLFormElement) edit(form);

/** @param {HTMLFormElement} form */
function edit(form) {
  let [timer, asking, isSent] = [0, new AbortController(), false];
  const before = new URLSearchParams(/** @type {any} */ (new FormData(form))).toString();

  async function ask() {
    asking.abort();
    asking = new AbortController();
    const place = document.getElementById("answer");
    if (!place) return;
    place.setAttribute("aria-busy", "true");
    let answer;
    try {
      answer = await fetch(form.getAttribute("data-draft") ?? "", {
        method: "POST",
        signal: asking.signal,
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(/** @type {any} */ (new FormData(form))).toString(),
      });
    } catch {
      // A newer question has been asked.
      return;
    }
    if (answer.status === 401) return expired();
    if (answer.ok) {
      const told = parsed(await answer.text());
      told.getElementById("drafted")?.remove();
      place.replaceChildren(...told.body.childNodes);
    }
    place.removeAttribute("aria-busy");
  }

  /** Say beside a factor what it was. @param {HTMLInputElement} field */
  function was(field) {
    const before = field.getAttribute("data-was");
    if (before === null) return;
    let told = field.parentElement?.querySelector(".was");
    if (field.value === before) return told?.remove();
    if (!told) {
      told = document.createElement("button");
      told.className = "was btn quiet";
      told.setAttribute("type", "button");
      told.addEventListener("click", () => {
        field.value = before;
        field.dispatchEvent(new Event("input", { bubbles: true }));
      });
      field.after(told);
    }
    told.textContent = `was ${before}`;
  }

  form.addEventListener("input", (event) => {
    const field = event.target;
    if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement)) return;
    // A slider and its field have one value.
    const of = field.getAttribute("data-for");
    if (of && field instanceof HTMLInputElement) {
      const number = form.elements.namedItem(of);
      if (number instanceof HTMLInputElement) {
        number.value = field.value;
        was(number);
      }
    } else if (field instanceof HTMLInputElement && field.name.endsWith("/factor")) {
      const slider = form.querySelector(`[data-for="${CSS.escape(field.name)}"]`);
      if (slider instanceof HTMLInputElement) slider.value = field.value;
      was(field);
    }
    paint();
    clearTimeout(timer);
    timer = window.setTimeout(ask, 120);
  });

  form.addEventListener("keydown", (event) => {
    const field = event.target;
    const isFactor = field instanceof HTMLInputElement && field.name.endsWith("/factor");
    if (!isFactor || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    const step = (event.shiftKey ? 1 : 0.1) * (event.key === "ArrowUp" ? 1 : -1);
    field.value = String(Math.round((Number(field.value) + step) * 1000) / 1000);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });

  /** Fill sliders up to where they stand. */
  function paint() {
    for (const slider of form.querySelectorAll("input[type='range']")) {
      if (!(slider instanceof HTMLInputElement)) continue;
      const share = (Number(slider.value) - Number(slider.min)) / (Number(slider.max) - Number(slider.min));
      slider.style.setProperty("--p", `${Math.max(0, Math.min(1, share)) * 100}%`);
    }
  }
  paint();

  form.addEventListener("submit", () => (isSent = true));
  window.addEventListener("beforeunload", (event) => {
    const now = new URLSearchParams(/** @type {any} */ (new FormData(form))).toString();
    if (!isSent && now !== before) event.preventDefault();
  });
}
