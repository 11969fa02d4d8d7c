// A unit is handed in without leaving the page: one that is dropped anywhere on it is checked at once, and
// its file stays in the form, so that putting it in force is one more press.
import { expired, parsed, toast } from "./console.js";

function handIn() {
  const form = document.querySelector("form.drop");
  const file = form?.querySelector("input[type='file']");
  return form instanceof HTMLFormElement && file instanceof HTMLInputElement ? { form, file } : null;
}

/** @param {DragEvent} event */
function carriesFiles(event) {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

/** Those that are no signatures. @param {FileList} files */
function units(files) {
  return [...files].filter((file) => !file.name.endsWith(".sig"));
}

document.addEventListener("dragover", (event) => {
  const there = handIn();
  if (!there || !carriesFiles(event)) return;
  // Or the browser would leave the page and show the file.
  event.preventDefault();
  there.form.classList.add("over");
});

document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) handIn()?.form.classList.remove("over");
});

document.addEventListener("drop", (event) => {
  const there = handIn();
  if (!there || !carriesFiles(event)) return;
  event.preventDefault();
  there.form.classList.remove("over");
  const files = event.dataTransfer?.files;
  if (!files || files.length > 2 || units(files).length !== 1) {
    return toast("Drop one unit at a time, together with its signature if it has one.");
  }
  there.file.files = files;
  const check = there.form.querySelector("button[value='check']");
  if (check instanceof HTMLButtonElement) there.form.requestSubmit(check);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  // What is to be asked about first comes again.
  if (event.defaultPrevented) return;
  if (form instanceof HTMLFormElement && form === handIn()?.form) {
    event.preventDefault();
    send(form, event.submitter);
  }
});

/** Send the form, and show below it what became of the unit. @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter */
async function send(form, submitter) {
  const body = new FormData(form, submitter);
  const buttons = [...form.querySelectorAll("button")];
  const files = handIn()?.file.files;
  const name = (files && units(files)[0]?.name) ?? "the file";
  /** @type {Record<string, string>} */
  const doing = { put: "is checked and put in force …", shadow: "is checked, and then judges …" };
  shownBelow(status(`${name} ${doing[String(body.get("deed"))] ?? "is checked …"}`));
  for (const button of buttons) button.disabled = true;
  isSending = true;
  follow();
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } });
    if (answer.status === 401) {
      document.getElementById("became")?.replaceChildren();
      return expired();
    }
    const page = parsed(await answer.text());
    const staged = page.getElementById("staged")?.closest("section");
    const said = page.querySelector("#main p")?.textContent;
    shownBelow(staged ?? status(`It was not taken: ${said ?? answer.statusText}`));
    askWith(form, staged?.querySelector("[data-replayed]")?.textContent ?? "");
    const [list, next] = [document, page].map((it) => it.querySelector("#main section[aria-label='Units']"));
    if (list && next) list.replaceWith(next);
  } catch {
    shownBelow(status("The server does not answer. Try again."));
  } finally {
    isSending = false;
    for (const button of buttons) button.disabled = false;
    // A button that is switched off loses the focus.
    if (document.activeElement === document.body) submitter?.focus();
  }
}

/** Ask with what a check has told, before a unit is put in force. @param {HTMLFormElement} form
 * @param {string} told */
function askWith(form, told) {
  const put = form.querySelector("button[value='put'][data-sure]");
  if (!put) return;
  const question = put.getAttribute("data-question") ?? put.getAttribute("data-sure") ?? "";
  put.setAttribute("data-question", question);
  put.setAttribute("data-sure", `${question} ${told}`.trim());
}

// Of another file it is not known yet.
document.addEventListener("change", (event) => {
  const there = handIn();
  if (there && event.target === there.file) askWith(there.form, "");
});

let [isSending, isFollowing] = [false, false];

/** Show what is being staged, step by step, until nothing is. */
async function follow() {
  if (isFollowing) return;
  isFollowing = true;
  // What was seen may not have begun.
  for (let idle = 0; (isSending || idle < 2) && !document.hidden; idle += 1) {
    const place = document.getElementById("under-way");
    const answer = await fetch("/units?view=stagings", { headers: { Accept: "text/html" } }).catch(() => null);
    if (!place || !answer?.ok) break;
    place.replaceChildren(...(parsed(await answer.text()).getElementById("under-way")?.childNodes ?? []));
    if (place.childElementCount) idle = 0;
    await new Promise((done) => setTimeout(done, 200));
  }
  isFollowing = false;
}

document.addEventListener("happened", (event) => {
  if (event instanceof CustomEvent && event.detail.kind === "unit-seen") follow();
});
if (document.getElementById("under-way")?.childElementCount) follow();

/** @param {string} text */
function status(text) {
  const told = document.createElement("section");
  told.className = "panel in";
  told.textContent = text;
  return told;
}

/** Show it below the form. @param {Element} told */
function shownBelow(told) {
  document.getElementById("became")?.replaceChildren(told);
}
