// The editor of a policy: while something is changed, the server says what that would change.
import { expired, parsed, toast } from "./console.js";

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
    let answer, text;
    try {
      answer = await fetch(form.getAttribute("data-draft") ?? "", {
        method: "POST",
        signal: asking.signal,
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(/** @type {any} */ (new FormData(form))).toString(),
      });
      text = await answer.text();
    } catch (error) {
      // A newer question has been asked, or the server cannot be reached.
      if (error instanceof DOMException && error.name === "AbortError") return;
      return stale(place, "The server cannot be reached.");
    }
    if (answer.status === 401) return expired();
    if (!answer.ok) return stale(place, `The server did not answer the question (status ${answer.status}).`);
    const told = parsed(text);
    told.getElementById("drafted")?.remove();
    mark(told.getElementById("faults"));
    told.getElementById("faults")?.remove();
    place.replaceChildren(...told.body.childNodes);
    place.removeAttribute("aria-busy");
  }

  /** The figures are of an earlier draft: say so, and offer to ask again.
   * @param {HTMLElement} place @param {string} why */
  function stale(place, why) {
    place.querySelector(".stale-answer")?.remove();
    place.removeAttribute("aria-busy");
    const told = document.createElement("p");
    told.className = "note warn stale-answer";
    told.setAttribute("role", "alert");
    told.textContent = `${why} What stands here is of an earlier draft. `;
    const again = document.createElement("button");
    again.className = "btn";
    again.type = "button";
    again.textContent = "Ask again";
    again.addEventListener("click", ask);
    told.append(again);
    place.prepend(told);
  }

  /** Say what is wrong at the fields that it is wrong with. @param {HTMLElement | null} faults */
  function mark(faults) {
    if (!faults) return;
    for (const old of form.querySelectorAll("p.wrong")) old.remove();
    for (const field of form.querySelectorAll("[aria-invalid]")) {
      field.removeAttribute("aria-invalid");
      describe(field, "");
    }
    for (const fault of faults.children) {
      const name = fault.getAttribute("data-field") ?? "";
      const field = document.getElementById(name);
      const place = field ?? form.querySelector(`[data-entry="${CSS.escape(name)}"]`);
      if (!place) continue;
      const told = document.createElement("p");
      told.className = "wrong";
      told.id = `wrong-${name}`;
      told.textContent = fault.textContent;
      if (!field) {
        place.append(told);
        continue;
      }
      const row = field.closest(".entry");
      if (row) row.append(told);
      else field.after(told);
      field.setAttribute("aria-invalid", "true");
      describe(field, told.id);
      field.closest("details")?.setAttribute("open", "");
    }
  }

  /** Name what describes a field. @param {Element} field @param {string} wrong */
  function describe(field, wrong) {
    const hint = document.getElementById(`hint-${field.id}`) ? `hint-${field.id}` : "";
    const ids = [wrong, hint].filter(Boolean).join(" ");
    if (ids) field.setAttribute("aria-describedby", ids);
    else field.removeAttribute("aria-describedby");
  }

  /** Move, add or remove a part: the server changes the document, and the form is shown anew.
   * @param {string} deed @param {string} way @param {string} done what is told then
   * @param {string} [then] id of the table whose last row has the focus then */
  async function move(deed, way, done = "It is removed.", then) {
    clearTimeout(timer);
    asking.abort();
    asking = new AbortController();
    const said = new URLSearchParams(/** @type {any} */ (new FormData(form)));
    said.set("deed", deed);
    let answer, text;
    try {
      answer = await fetch(form.getAttribute("action") ?? "", { method: "POST", signal: asking.signal, body: said });
      text = await answer.text();
    } catch (error) {
      // Another deed has come meanwhile.
      if (error instanceof DOMException && error.name === "AbortError") return;
      return toast("The server cannot be reached. Nothing was changed here.");
    }
    if (answer.status === 401) return expired();
    const shown = parsed(text);
    const next = shown.getElementById("editor");
    const refused = shown.getElementById("wrong-add-unit");
    if (refused && deed === "add") return notAdded(refused.textContent ?? "");
    if (!answer.ok || !next) {
      const why = shown.querySelector("#main p")?.textContent;
      return toast(why ?? "It could not be changed. Reload the page to go on.");
    }
    // What a summary is called comes first; what follows changes.
    const called = (/** @type {Element} */ summary) => summary.firstChild?.textContent ?? "";
    const open = [...form.querySelectorAll("details[open] > summary")].map(called);
    const focused = document.activeElement?.getAttribute("name") ?? "";
    form.replaceChildren(...next.childNodes);
    for (const summary of form.querySelectorAll("details > summary")) {
      if (open.includes(called(summary))) summary.parentElement?.setAttribute("open", "");
    }
    tellAll();
    const row = then ? document.getElementById(then)?.querySelector("tbody tr:last-child input") : null;
    if (row instanceof HTMLElement) {
      row.focus();
      return toast(done);
    }
    if (!deed.startsWith("move/")) {
      const field = form.elements.namedItem(focused.startsWith("policy/") ? focused : "add-unit");
      if (field instanceof HTMLElement) field.focus();
      return toast(deed === "add" ? "It is added at the end of its list." : done);
    }
    const parts = deed.split("/");
    const entry = `entry/${parts[1]}/${parts[2]}/${parts[4]}/entry`;
    const moved = form.querySelector(`[data-entry="${CSS.escape(entry)}"]`);
    const button = moved?.querySelector(`[data-way="${way}"]`) ?? moved?.querySelector("[data-way]");
    if (button instanceof HTMLElement) button.focus();
    toast(`${moved?.querySelector("b")?.textContent ?? "It"} is now number ${Number(parts[4]) + 1} of ${parts[2]}.`);
  }

  /** Say at its field why a unit is not added. @param {string} why */
  function notAdded(why) {
    const field = document.getElementById("add-unit");
    const place = field?.closest(".bar");
    if (!field || !place) return toast(why);
    document.getElementById("wrong-add-unit")?.remove();
    const told = document.createElement("p");
    told.className = "wrong";
    told.id = "wrong-add-unit";
    told.setAttribute("role", "alert");
    told.textContent = why;
    place.append(told);
    field.setAttribute("aria-invalid", "true");
    describe(field, told.id);
    field.focus();
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
      if (slider instanceof HTMLInputElement) follow(slider, factor(field));
      was(field);
    }
    paint();
    clearTimeout(timer);
    timer = window.setTimeout(ask, 120);
  });

  // Another unit for the order of batches or the balance has other settings.
  form.addEventListener("change", (event) => {
    if (event.target instanceof HTMLSelectElement) {
      clearTimeout(timer);
      timer = window.setTimeout(ask, 120);
    }
    const name = event.target instanceof HTMLInputElement ? event.target.name : "";
    if (/^policy\/(order|balance)\/unit$/.test(name)) move("try", "up", "Its settings stand below it.");
  });

  form.addEventListener("keydown", (event) => {
    const field = event.target;
    if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown") && field instanceof Element) {
      const way = event.key === "ArrowUp" ? "up" : "down";
      const button = field.closest(".entry")?.querySelector(`[data-way="${way}"]`);
      if (!(button instanceof HTMLButtonElement)) return;
      event.preventDefault();
      move(button.value, way);
      return;
    }
    if (!(field instanceof HTMLInputElement)) return;
    const slider = field.hasAttribute("data-for") ? field : null;
    const number = form.elements.namedItem(field.getAttribute("data-for") ?? field.name);
    const isFactor = number instanceof HTMLInputElement && number.name.endsWith("/factor") && !number.readOnly;
    const up = event.key === "ArrowUp" || (slider && event.key === "ArrowRight");
    const down = event.key === "ArrowDown" || (slider && event.key === "ArrowLeft");
    if (!isFactor || (!up && !down)) return;
    event.preventDefault();
    // What is no number yet is somebody's to finish.
    const before = factor(number);
    if (!Number.isFinite(before)) return;
    let next = Number((before + (event.shiftKey ? 1 : 0.1) * (up ? 1 : -1)).toPrecision(12));
    // A slider ends where it ends.
    if (slider) next = Math.min(Math.max(next, Number(slider.min)), Number(slider.max));
    number.value = String(next);
    number.dispatchEvent(new Event("input", { bubbles: true }));
  });

  /** The factor in a field; NaN: it is no number. @param {HTMLInputElement} field */
  function factor(field) {
    const text = field.value.trim();
    return text ? Number(text) : 1;
  }

  /** Move a slider to its field's number, however far away that is. @param {HTMLInputElement} slider @param {number} value */
  function follow(slider, value) {
    if (!Number.isFinite(value)) return;
    const most = Math.max(10, Math.ceil(Math.abs(value) * 2));
    const isBeyond = value < Number(slider.min) || value > Number(slider.max);
    if (isBeyond || most * 2 <= Number(slider.max)) {
      slider.min = String(value < 0 ? -most : 0);
      slider.max = String(most);
    }
    slider.value = String(value);
  }

  /** Say of all factors what they were, and fill their sliders. */
  function tellAll() {
    for (const field of form.querySelectorAll("input[data-was]")) {
      if (field instanceof HTMLInputElement) was(field);
    }
    paint();
  }

  /** Fill sliders up to where they stand. */
  function paint() {
    for (const slider of form.querySelectorAll("input[type='range']")) {
      if (!(slider instanceof HTMLInputElement)) continue;
      const share = (Number(slider.value) - Number(slider.min)) / (Number(slider.max) - Number(slider.min));
      slider.style.setProperty("--p", `${Math.max(0, Math.min(1, share)) * 100}%`);
    }
  }
  tellAll();

  // A row without any value is removed.
  form.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-empty]") : null;
    const row = button?.closest("tr");
    if (!row) return;
    const table = row.closest("table");
    for (const field of row.querySelectorAll("input")) field.value = "";
    row.hidden = true;
    const next = table?.querySelector("tr:not([hidden]) input");
    if (next instanceof HTMLElement) next.focus();
    clearTimeout(timer);
    timer = window.setTimeout(ask, 120);
    toast("The row is removed.");
  });

  form.addEventListener("submit", (event) => {
    const isAdding = document.activeElement?.getAttribute("name") === "add-unit";
    const button = isAdding ? form.querySelector("button[value='add']") : event.submitter;
    const redraws = button?.getAttribute("data-redraw") ?? undefined;
    if (button instanceof HTMLButtonElement && (redraws || /^(move\/|remove\/|unwatch\/|add$)/.test(button.value))) {
      event.preventDefault();
      move(button.value, button.getAttribute("data-way") ?? "up", redraws, button.getAttribute("data-then") ?? undefined);
      return;
    }
    if (button instanceof HTMLButtonElement && button.value === "try") {
      event.preventDefault();
      clearTimeout(timer);
      ask();
      return;
    }
    if (isChecked) {
      isSent = true;
      return;
    }
    // What was written stays here until the server can take it.
    event.preventDefault();
    check(button instanceof HTMLElement ? button : null);
  });

  let isChecked = false;
  /** Send the form where the session holds and the policy is still there. @param {HTMLElement | null} button */
  async function check(button) {
    let answer;
    try {
      answer = await fetch(form.getAttribute("action") ?? "", { method: "HEAD" });
    } catch {
      return toast("The server cannot be reached. Nothing is saved, and the draft stays here.");
    }
    if (answer.status === 401) return expired();
    if (answer.status === 404) return toast("Somebody has removed this policy. Nothing is saved, and the draft stays here.");
    isChecked = true;
    form.requestSubmit(button);
    isChecked = false;
  }

  // The other view is of the same draft.
  for (const tab of document.querySelectorAll("a[data-view]")) {
    tab.addEventListener("click", (event) => {
      const button = form.querySelector(`button[name="deed"][value="${tab.getAttribute("data-view")}"]`);
      if (!(button instanceof HTMLButtonElement)) return;
      event.preventDefault();
      form.requestSubmit(button);
    });
  }

  // Dragging is the same deed: an entry goes to the place of the one that it is dropped on.
  let dragged = "";
  /** @param {Event} event */
  const over = (event) => {
    const row = event.target instanceof Element ? event.target.closest(".entry") : null;
    const [from, to] = [dragged.split("/"), (row?.getAttribute("data-entry") ?? "").split("/")];
    const isThere = dragged && from[1] === to[1] && from[2] === to[2] && from[3] !== to[3];
    return row && isThere ? { row, deed: `move/${from[1]}/${from[2]}/${from[3]}/${to[3]}` } : null;
  };
  const clear = () => form.querySelectorAll(".entry.over").forEach((row) => row.classList.remove("over"));
  form.addEventListener("dragstart", (event) => {
    const grip = event.target instanceof Element ? event.target.closest(".grip") : null;
    const row = grip?.closest(".entry");
    if (!row) return;
    dragged = row.getAttribute("data-entry") ?? "";
    event.dataTransfer?.setData("text/plain", row.querySelector("b")?.textContent ?? "");
    event.dataTransfer?.setDragImage(row, 8, 8);
  });
  form.addEventListener("dragover", (event) => {
    const place = over(event);
    clear();
    if (!place) return;
    event.preventDefault();
    place.row.classList.add("over");
  });
  form.addEventListener("drop", (event) => {
    const place = over(event);
    clear();
    if (!place) return;
    event.preventDefault();
    dragged = "";
    move(place.deed, "up");
  });
  form.addEventListener("dragend", () => {
    dragged = "";
    clear();
  });
  window.addEventListener("beforeunload", (event) => {
    const now = new URLSearchParams(/** @type {any} */ (new FormData(form))).toString();
    if (!isSent && now !== before) event.preventDefault();
  });
}
