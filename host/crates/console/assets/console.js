// What scripts add to pages that are whole without them: filters that answer at once, lists that
// go on by themselves, keys, and copying. Nothing here can do what a form of the page cannot.

const trusted = globalThis.trustedTypes?.createPolicy("placewright", { createHTML: (text) => text }) ?? {
  createHTML: (text) => text,
};
document.documentElement.classList.add("scripted");

/** @param {string} text */
export function parsed(text) {
  // A document that is made so runs no scripts.
  return new DOMParser().parseFromString(trusted.createHTML(text), "text/html");
}

/** Times in the zone of the reader. @param {ParentNode} root */
function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.getAttribute("datetime") ?? "");
    if (Number.isNaN(at.getTime())) continue;
    if (time.hasAttribute("data-day")) {
      time.textContent = at.toLocaleString([], { dateStyle: "short", timeStyle: "medium", hour12: false });
    } else if (!time.hasAttribute("data-ago")) {
      time.textContent = at.toLocaleTimeString([], { hour12: false });
    }
    time.setAttribute("title", at.toLocaleString([], { dateStyle: "medium", timeStyle: "long" }));
  }
}

/** Tables that are wider than the page are moved by keys, too. */
function reachTables() {
  for (const place of document.querySelectorAll(".scroll")) {
    const isWide = place.scrollWidth > place.clientWidth;
    if (isWide && !place.querySelector("a, button, input, select")) place.setAttribute("tabindex", "0");
  }
}
window.addEventListener("resize", reachTables);

/** Say something for a while. @param {string} text */
export function toast(text) {
  const place = document.getElementById("toast");
  if (!place) return;
  const told = document.createElement("div");
  told.className = "toast";
  told.textContent = text;
  place.append(told);
  setTimeout(() => told.remove(), 8000);
}

/** The session is over: what is written on the page stays there. */
export function expired() {
  if (document.querySelector("dialog[open]")) return;
  const dialog = document.createElement("dialog");
  const title = document.createElement("h2");
  title.id = "expired";
  dialog.setAttribute("aria-labelledby", title.id);
  title.textContent = "Your session has ended";
  const text = document.createElement("p");
  text.textContent = "What you have written stays on this page. Sign in in another tab, then go on here.";
  const acts = document.createElement("p");
  acts.className = "acts";
  const link = document.createElement("a");
  link.className = "btn main";
  link.href = "/sign-in";
  link.target = "_blank";
  link.textContent = "Sign in";
  const close = document.createElement("button");
  close.className = "btn";
  close.type = "button";
  close.textContent = "Go on";
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    document.dispatchEvent(new Event("going-on"));
  });
  acts.append(link, close);
  dialog.append(title, text, acts);
  document.body.append(dialog);
  dialog.showModal();
}

let asking = new AbortController();
let isChosen = false;
// Why this page could not be read again, if it could not.
let refused = "";

/** Show another state of this page. @param {string} url @param {boolean} isKept */
async function swap(url, isKept) {
  // What somebody chose comes before what happens, which it shows as well.
  if (isChosen && !isKept) return false;
  asking.abort();
  const mine = new AbortController();
  asking = mine;
  isChosen = isKept;
  let answer, text;
  // Asked again meanwhile, neither the answer nor the rest of it comes.
  try {
    answer = await fetch(url, { signal: mine.signal, headers: { Accept: "text/html" } });
    text = await answer.text();
  } catch {
    return false;
  } finally {
    if (asking === mine) isChosen = false;
  }
  if (answer.status === 401) {
    expired();
    return false;
  }
  refused = "";
  if (!answer.ok) {
    refused = answer.status === 404 ? "What this page shows is not there any more" : `Not live: the server answers ${answer.status}`;
    liveState("broken", refused);
    return false;
  }
  const began = performance.now();
  const page = parsed(text);
  const [main, next] = [document.getElementById("main"), page.getElementById("main")];
  if (!main || !next) return false;
  if (isKept) history.replaceState(null, "", url);
  const focused = document.activeElement;
  replace(main, next);
  count(document);
  reachTables();
  worked(began);
  [shownAt, known] = [Date.now(), ""];
  // What goes elsewhere in a list loses the focus.
  if (focused instanceof HTMLElement && focused.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true });
  return true;
}

/** Put new parts in the place of old ones, and leave the rest: what has the focus, what is open
 * and what was ticked stays. @param {Element} old @param {Element} next */
export function replace(old, next) {
  // What a script has filled stays, too.
  if (old.isEqualNode(next) || old.hasAttribute("data-own")) return;
  const focused = document.activeElement;
  if (old.tagName !== next.tagName || old.id !== next.id) {
    old.replaceWith(next);
    return;
  }
  for (const name of old.getAttributeNames()) {
    // Elements of our own have set some themselves.
    const isOwn = name === "open" || old.tagName.includes("-");
    if (!next.hasAttribute(name) && !isOwn) old.removeAttribute(name);
  }
  for (const name of next.getAttributeNames()) {
    if (name === "open") continue;
    if (old.getAttribute(name) !== next.getAttribute(name)) old.setAttribute(name, next.getAttribute(name) ?? "");
  }
  if (old instanceof HTMLInputElement || old instanceof HTMLTextAreaElement || old instanceof HTMLSelectElement) {
    if (old !== focused && old instanceof HTMLInputElement && !["checkbox", "file"].includes(old.type)) old.value = next.getAttribute("value") ?? "";
    if (old instanceof HTMLSelectElement && next instanceof HTMLSelectElement && old !== focused) {
      // As one option after the other leaves a list, each becomes the chosen one of those that are left.
      const chosen = next.selectedIndex;
      old.replaceChildren(...next.childNodes);
      old.selectedIndex = chosen;
    }
    return;
  }
  if (!replaceByKey(old, next)) {
    const [before, after] = [[...old.childNodes], [...next.childNodes]];
    after.forEach((node, place) => {
      const there = before[place];
      if (!there) old.append(node);
      else if (there instanceof Element && node instanceof Element) replace(there, node);
      else if (there.nodeType !== node.nodeType) there.replaceWith(node);
      else if (there.nodeValue !== node.nodeValue) there.nodeValue = node.nodeValue;
    });
    before.slice(after.length).forEach((node) => node.remove());
  }
  if ("replaced" in old && typeof old.replaced === "function") old.replaced();
  localTimes(old);
}

/** Let rows of a table and items of a list be about what they were about, wherever they stand: the
 * button that somebody is about to press stays that of the same VM. False: they cannot be told apart.
 * @param {Element} old @param {Element} next */
function replaceByKey(old, next) {
  const [before, after] = [byKey(old), byKey(next)];
  if (!before || !after) return false;
  for (const [key, element] of before) {
    if (!after.has(key)) element.remove();
  }
  let place = old.firstElementChild;
  for (const [key, element] of after) {
    const there = before.get(key);
    if (there && there === place) place = there.nextElementSibling;
    else old.insertBefore(there ?? element, place);
    if (there) replace(there, element);
  }
  return true;
}

/** Rows or items by what their first link leads to. @param {Element} parent */
function byKey(parent) {
  /** @type {Map<string, Element>} */
  const found = new Map();
  for (const child of parent.children) {
    const isListed = child.tagName === "TR" || child.tagName === "LI";
    const key = isListed && (child.id || child.querySelector("a[href]")?.getAttribute("href"));
    if (!key || found.has(key)) return null;
    found.set(key, child);
  }
  return found.size ? found : null;
}

// Forms that only ask are sent by themselves.
let typing = 0;
/** @param {Event} event */
function ask(event) {
  const form = event.target instanceof Element ? event.target.closest("form[data-auto]") : null;
  if (!(form instanceof HTMLFormElement)) return;
  event.preventDefault();
  clearTimeout(typing);
  const url = new URL(form.getAttribute("action") ?? location.href, location.href);
  const said = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && value) said.append(name, value);
  }
  url.search = said.toString();
  typing = window.setTimeout(() => swap(url.toString(), true), event.type === "input" ? 160 : 0);
}
document.addEventListener("input", ask);
document.addEventListener("submit", ask);
// Not everything that chooses for somebody tells of input.
document.addEventListener("change", (event) => {
  if (event.target instanceof HTMLSelectElement) ask(event);
});

// Other colours are put on the page as it stands: nothing that was written on it is lost, nor the focus.
document.addEventListener("submit", (event) => {
  const [form, button] = [event.target, event.submitter];
  if (!(form instanceof HTMLFormElement) || form.getAttribute("action") !== "/scheme") return;
  if (!(button instanceof HTMLButtonElement)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  putScheme(form, button);
});

/** @param {HTMLFormElement} form @param {HTMLButtonElement} button */
async function putScheme(form, button) {
  const body = new URLSearchParams({ [button.name]: button.value });
  // The answer is a way back to this page, and its cookie is set all the same.
  const answer = await fetch("/scheme", { method: "POST", body, redirect: "manual" }).catch(() => null);
  if (answer?.type !== "opaqueredirect") return toast("The server cannot be reached. The colours stay as they are.");
  document.documentElement.setAttribute("data-scheme", button.value);
  for (const one of form.querySelectorAll("button")) one.setAttribute("aria-pressed", String(one === button));
  document.dispatchEvent(new CustomEvent("pw-scheme"));
}

// What was sent is not sent again by a second press.
document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method !== "post") return;
    if (form.hasAttribute("data-sent")) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    setTimeout(() => {
      if (event.defaultPrevented) return;
      form.setAttribute("data-sent", "");
      // The answer may be no page.
      setTimeout(() => form.removeAttribute("data-sent"), 5000);
    });
  },
  true,
);
window.addEventListener("pageshow", () => document.querySelectorAll("[data-sent]").forEach((form) => form.removeAttribute("data-sent")));

// What was written is sent where the session holds, and stays on the page where it has ended. The
// editor of policies asks by itself, and who signs in has no session yet.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.method !== "post" || event.defaultPrevented) return;
  if (form.id === "editor" || form.getAttribute("action") === "/sign-in") return;
  if (!form.querySelector("textarea, select, input:not([type='hidden'])")) return;
  if (form.hasAttribute("data-session-holds")) return form.removeAttribute("data-session-holds");
  event.preventDefault();
  event.stopImmediatePropagation();
  sendInSession(form, event.submitter instanceof HTMLButtonElement ? event.submitter : null);
});

/** @param {HTMLFormElement} form @param {HTMLButtonElement | null} button */
async function sendInSession(form, button) {
  if (form.hasAttribute("data-asking")) return;
  form.setAttribute("data-asking", "");
  const answer = await fetch("/search", { method: "HEAD" }).catch(() => null);
  form.removeAttribute("data-asking");
  if (!answer) return toast("The server cannot be reached. Nothing is saved, and what you have written stays here.");
  if (answer.status === 401) return expired();
  if (!form.isConnected) return toast("The page has changed meanwhile, and nothing was done. Look at it again.");
  form.setAttribute("data-session-holds", "");
  form.requestSubmit(button);
}

/** All that a form would send, and where. @param {HTMLFormElement} form @param {HTMLElement | null} button */
function deed(form, button) {
  const fields = new URLSearchParams(/** @type {any} */ (new FormData(form)));
  return [form.getAttribute("action"), button?.getAttribute("name"), button?.getAttribute("value"), fields].join(" ");
}

// What cannot be undone is asked about first.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement)) return;
  const button = event.submitter;
  const sure = button?.getAttribute("data-sure");
  if (!sure) return;
  if (form.hasAttribute("data-is-sure")) return form.removeAttribute("data-is-sure");
  event.preventDefault();
  const asked = deed(form, button);
  const dialog = document.createElement("dialog");
  const text = document.createElement("p");
  text.id = "sure";
  dialog.setAttribute("aria-labelledby", text.id);
  text.textContent = sure;
  const acts = document.createElement("p");
  acts.className = "acts";
  const [yes, no] = [document.createElement("button"), document.createElement("button")];
  yes.className = "btn risk";
  yes.textContent = button?.textContent ?? "Go on";
  yes.addEventListener("click", () => {
    dialog.close();
    if (!form.isConnected || deed(form, button) !== asked) {
      return toast("The page has changed meanwhile, and nothing was done. Look at it again.");
    }
    form.setAttribute("data-is-sure", "");
    form.requestSubmit(button instanceof HTMLButtonElement ? button : null);
  });
  no.className = "btn";
  no.textContent = "Leave it";
  no.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  acts.append(yes, no);
  dialog.append(text, acts);
  document.body.append(dialog);
  dialog.showModal();
  no.focus();
});

// What happens: the page is read again after events that concern it, and only while it is seen.
const shell = document.querySelector("[data-live]");
const kinds = (shell?.getAttribute("data-live") ?? "").split(",").filter(Boolean);
const cluster = shell?.getAttribute("data-cluster");
let [stream, isPaused, missed, timer, last] = [/** @type {EventSource | null} */ (null), false, 0, 0, 0];

/** @param {string} state @param {string} text */
function liveState(state, text) {
  const places = document.querySelectorAll(".live-state");
  for (const place of places) {
    place.setAttribute("data-state", state);
    place.textContent = text;
  }
  const stale = document.getElementById("broken-stream");
  if (state !== "broken" || places.length) return stale?.remove();
  if (stale) return;
  const told = document.createElement("p");
  told.className = "note warn";
  told.id = "broken-stream";
  told.setAttribute("role", "status");
  told.textContent = `${text}. This page is as it was at ${new Date().toLocaleTimeString([], { hour12: false })}.`;
  document.getElementById("main")?.before(told);
}

// A large map refreshes its cells alone; the page around it is refreshed this often, in milliseconds.
const AROUND = 5000;
let [whole, around] = [Date.now(), 0];

async function refresh() {
  timer = 0;
  // Nothing moves under a question that somebody is about to answer.
  if (document.querySelector("dialog[open]")) {
    timer = window.setTimeout(refresh, 500);
    return;
  }
  last = Date.now();
  const map = /** @type {{isLarge?: () => boolean} | null} */ (document.querySelector("pw-heat-map"));
  const isEarly = last - whole < AROUND;
  if (isEarly && map?.isLarge?.() && (await readMeasured())) {
    around ||= window.setTimeout(() => isPaused || readAll(), whole + AROUND - last);
  } else {
    await readAll();
  }
  if (stream && !refused) liveState("live", "Live");
}

// What is measured comes without an event of its own: it is asked for by the clock, twice a second,
// and less often where a page takes long to change, so that it takes a few percent of a core at most.
// In milliseconds.
const MEASURED = 500;
// While the server refuses.
const REFUSED = 5000;
const REST = 40;
// From this age on it is told.
const OLD = 3000;
let [took, shownAt, isMeasuring, known] = [0, Date.now(), false, ""];

/** The page has worked since then, to show what has changed. @param {number} began */
function worked(began) {
  took = performance.now() - began;
}

/** The age of what is measured. */
function tellAge() {
  const place = document.getElementById("measured");
  if (!place) return;
  const age = Date.now() - shownAt;
  const isOld = age >= OLD;
  place.classList.toggle("warn", isOld);
  const told = place.querySelector(".age");
  const text = isOld ? `, ${Math.round(age / 1000)} s ago` : "";
  if (told && told.textContent !== text) told.textContent = text;
}

async function measure() {
  const isSeen = !document.hidden && !isPaused && !timer && !document.querySelector("dialog[open]");
  if (isSeen && !isMeasuring && document.querySelector("[data-measured]")) {
    isMeasuring = true;
    try {
      // Where its order or its scale is another by now, the whole page has to be read.
      if (!(await readMeasured())) await readAll();
    } finally {
      isMeasuring = false;
    }
  }
  window.setTimeout(measure, Math.max(refused ? REFUSED : MEASURED, took * REST));
}
window.setTimeout(measure, MEASURED);
window.setInterval(tellAge, 1000);

/** @typedef {[string, string] | null} Used how wide its line is, and the share in words */
/** @typedef {[string, Used, Used, string]} Figures of a row: its host, CPU, memory, and the value by which it is coloured */
/** @typedef {{layout: string, scale: string, bands: string, texts: string[], legend: string, rows: Figures[], panel: string | null}} Measured */

/** Refresh what is measured in its place; false: the whole page has to be read. */
async function readMeasured() {
  const from = document.getElementById("measured")?.getAttribute("data-measured");
  if (!from) return false;
  const search = location.search;
  const said = new URLSearchParams(search);
  if (known) said.set("known", known);
  const answer = await fetch(`${from}?${said}`).catch(() => null);
  // What is refused or not reached becomes old, of which its age tells.
  if (!answer) return true;
  if (!answer.ok) return false;
  /** @type {{digest: string, now?: Measured}} */
  const told = await answer.json();
  // Asked again in another way meanwhile.
  if (search !== location.search) return true;
  const began = performance.now();
  if (told.now && !showMeasured(told.now)) {
    known = "";
    return false;
  }
  known = told.digest;
  shownAt = Date.now();
  const time = document.querySelector("#measured time");
  if (time) {
    time.setAttribute("datetime", new Date(shownAt).toISOString());
    localTimes(/** @type {Element} */ (time.parentElement));
  }
  worked(began);
  return true;
}

/** @param {Measured} now */
function showMeasured(now) {
  const rows = [...document.querySelectorAll("tr[id^='row-']")];
  if (rows.length !== now.rows.length || rows.some((row, place) => row.id !== `row-${now.rows[place][0]}`)) return false;
  const map = /** @type {{update?: (now: Measured) => boolean} | null} */ (document.querySelector("pw-heat-map"));
  if (map?.update && !map.update(now)) return false;
  const isTime = Date.now() - unseenAt >= UNSEEN;
  if (isTime) unseenAt = Date.now();
  // All are looked at before the first one changes: the browser lays them out once.
  const isShown = rows.map((row) => isTime || isInSight(row));
  for (const [place, figures] of now.rows.entries()) {
    if (!isShown[place]) unseen.set(rows[place], figures);
    else if (!showFigures(rows[place], figures)) return false;
  }
  const parts = [["legend", map && now.legend], ["host-panel", now.panel]];
  for (const [id, text] of parts) {
    const [old, next] = text ? [document.getElementById(id ?? ""), parsed(text).getElementById(id ?? "")] : [];
    if (old && next) replace(old, next);
  }
  return true;
}

// A browser lays out and paints figures that nobody sees as well. They are shown when they come into sight, and
// this often, in milliseconds.
const UNSEEN = 5000;
let unseenAt = Date.now();
/** What rows out of sight are to show. @type {Map<Element, Figures>} */
const unseen = new Map();

/** @param {Element} row */
function isInSight(row) {
  const { top, bottom } = row.getBoundingClientRect();
  return bottom >= 0 && top <= innerHeight;
}

/** Show what is measured of a host; false: its row has not the bars for it. @param {Element} row @param {Figures} figures */
function showFigures(row, [, cpu, memory, value]) {
  unseen.delete(row);
  const bars = row.querySelectorAll(".meas svg");
  if (!showUsed(bars[0], cpu) || !showUsed(bars[1], memory)) return false;
  const cell = row.querySelector("td.value .figure");
  if (cell && cell.textContent !== value) cell.textContent = value;
  return true;
}

function showWhatIsInSight() {
  const rows = [...unseen].filter(([row]) => isInSight(row));
  for (const [row, figures] of rows) showFigures(row, figures);
}
addEventListener("scroll", showWhatIsInSight, { passive: true, capture: true });
addEventListener("resize", showWhatIsInSight, { passive: true });

/** The line of what is used in a bar; false: it has none, and should. @param {Element | undefined} bar @param {Used} used */
function showUsed(bar, used) {
  const line = bar?.querySelector(".f-used");
  if (!bar || !line || !used) return !line && !used;
  const [wide, text] = used;
  if (line.getAttribute("width") === wide) return true;
  line.setAttribute("width", wide);
  bar.setAttribute("aria-label", (bar.getAttribute("aria-label") ?? "").replace(/[^,]* used$/, ` ${text} used`));
  return true;
}

async function readAll() {
  clearTimeout(around);
  around = 0;
  whole = Date.now();
  await swap(location.href, false);
  unseen.clear();
}

/** @param {MessageEvent} message */
function happened(message) {
  const event = JSON.parse(message.data);
  document.dispatchEvent(new CustomEvent("happened", { detail: event }));
  const ends = event.kind === "cluster-removed" && event.cluster === cluster;
  const fits = ends || kinds.includes("*") || kinds.some((kind) => event.kind.startsWith(kind));
  if (!fits || (cluster && event.cluster && event.cluster !== cluster)) return;
  if (isPaused) {
    // What the page would not show is none that it lacks.
    const filter = new URLSearchParams(location.search);
    const lacks = (/** @type {string} */ key, /** @type {boolean} */ fits) => filter.get(key) && !fits;
    if (lacks("cluster", event.cluster === filter.get("cluster")) || lacks("by", event.by === filter.get("by"))) return;
    if (lacks("kind", event.kind.startsWith(filter.get("kind") ?? ""))) return;
    missed += 1;
    liveState("paused", filter.get("text") ? "Paused" : `Paused, ${missed} new`);
    return;
  }
  // Twice a second at most.
  if (!timer) timer = window.setTimeout(refresh, Math.max(60, last + 500 - Date.now()));
}

// Until a stream that was refused is asked for again, in milliseconds.
const AGAIN = 5000;
let again = 0;
document.addEventListener("going-on", () => {
  listen();
  if (kinds.length && !isPaused) readAll();
});

function listen() {
  if (!kinds.length || stream || document.hidden) return;
  stream = new EventSource("/events/stream");
  stream.addEventListener("open", () => liveState(isPaused ? "paused" : "live", isPaused ? "Paused" : "Live"));
  stream.addEventListener("error", () => {
    liveState("broken", "Not live: the stream is broken");
    // A browser tries again where a connection ends, and not where the server refuses: the session
    // may have ended, of which reading the page tells.
    if (stream?.readyState !== EventSource.CLOSED) return;
    hush();
    readAll().finally(() => {
      clearTimeout(again);
      again = window.setTimeout(() => document.querySelector("dialog[open]") || listen(), AGAIN);
    });
  });
  // Events have names of their own.
  const names = stream.addEventListener.bind(stream);
  for (const kind of KINDS) names(kind, happened);
}

function hush() {
  stream?.close();
  stream = null;
}

const KINDS = `reset cluster-created cluster-removed policy-attached policy-changed policy-lost-filters policy-removed policy-refused
policy-kept-although-deleted cluster-without-policy cluster-stopped cluster-restarted vm-placed vm-confirmed vm-moved
vm-resized vm-cancelled reservation-expired reservation-lost inventory-changed host-state-changed plan-made plan-begun
plan-ended plan-halted plan-cancelled restart-begun restart-failed balance-failed unit-seen unit-refused file-waits
unit-in-force unit-held unit-kept-although-deleted unit-removed unit-distrusted unit-rolled-back unit-returned
unit-not-returned unit-takes-name unit-disabled unit-enabled unit-pinned unit-unpinned unit-paused unit-tried-again
unit-recovered unit-quarantined shadow-began shadow-discarded shadow-promoted folder-trouble library-not-kept noted
noted-warning quota-changed quota-removed`.split(/\s+/);

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return hush();
  listen();
  if (kinds.length && !isPaused) readAll();
});
window.addEventListener("pagehide", hush);
listen();

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const pause = target?.closest("[data-pause]");
  if (pause) {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    pause.textContent = isPaused ? "Go on" : "Pause";
    liveState(isPaused ? "paused" : "live", isPaused ? "Paused" : "Live");
    if (!isPaused) {
      missed = 0;
      readAll();
    }
  }
  // What may not be done is said, and nothing is sent.
  const barred = target?.closest("[aria-disabled='true']");
  if (barred) {
    event.preventDefault();
    toast(barred.getAttribute("title") ?? "You may not do this.");
  }
  const code = target?.closest(".copied pre");
  if (code && !getSelection()?.toString()) {
    navigator.clipboard?.writeText(code.textContent ?? "").then(() => toast("Copied."), () => {});
  }
});

// Lists of ticks: a button counts what is ticked.
/** @param {ParentNode} root */
function count(root) {
  for (const button of root.querySelectorAll("[data-counts]")) {
    const form = button.closest("form");
    if (!form) continue;
    const ticked = form.querySelectorAll("input[type='checkbox'][name='move']:checked").length;
    const words = (button.getAttribute("data-counts") ?? "").split("|");
    button.textContent = ticked === 1 ? words[0] : words[1].replace("#", String(ticked));
    button.toggleAttribute("disabled", ticked === 0);
  }
}
document.addEventListener("change", (event) => {
  const all = event.target instanceof HTMLInputElement && event.target.matches("[data-all]") ? event.target : null;
  if (all) {
    for (const tick of all.closest("form")?.querySelectorAll("input[name='move']:not(:disabled)") ?? []) {
      if (tick instanceof HTMLInputElement) tick.checked = all.checked;
    }
  }
  count(document);
});

// Keys. None acts while something is written, or with a key held down.
/** @type {Record<string, string>} */
const ways = { o: "/", y: "/policies", u: "/units", e: "/events" };
/** @type {Record<string, string>} */
const ofCluster = { h: "", v: "/vms", r: "/groups", d: "/decisions", p: "/plans", q: "/questions" };
let isGoing = false;

// Who speaks to the machine switches single letters off.
const OFF = "keys-off";
const areOff = () => localStorage.getItem(OFF) === "yes";

/** What keys do here: a title, and pairs of keys and meanings. @returns {[string, [string, string][]][]} */
function keysHere() {
  /** @type {[string, [string, string][]][]} */
  const all = [
    ["Everywhere", [
      ["?", "shows this list"], ["/", "goes to the filter of the page, or to the search"],
      ["G O", "overview"], ["G Y", "policies"], ["G U", "units"], ["G E", "events"],
    ]],
  ];
  if (document.querySelector(".side .ways a[href^='/clusters/']")) {
    all.push(["The cluster", [
      ["G H", "hosts"], ["G V", "VMs"], ["G R", "groups"], ["G D", "decisions"], ["G P", "plans"], ["G Q", "questions"],
    ]]);
  }
  if (rows().length) all.push(["Tables", [["J K", "go to the next row and back"]]]);
  const letters = [...document.querySelectorAll("#main a[data-key]")];
  if (letters.length) {
    all.push(["Values", letters.map((it) => [(it.getAttribute("data-key") ?? "").toUpperCase(), it.textContent ?? ""])]);
  }
  if (document.querySelector("pw-heat-map")) {
    all.push(["The map, when it has the focus", [
      ["← → ↑ ↓", "choose a host"], ["Home End", "the first and the last of the line"], ["Enter", "opens it"], ["T", "goes to its row"],
    ]]);
  }
  if (document.querySelector("[data-all]")) {
    all.push(["Moves", [["Space", "ticks"], ["A", "ticks all that wait"], ["Shift Enter", "approves the ticked ones"]]]);
  }
  if (document.getElementById("editor")) {
    all.push(["The editor", [
      ["↑ ↓", "change a factor by 0.1, with Shift by 1"], ["Alt ↑ ↓", "move an entry"], ["Enter", "tries the draft; only the button saves it"],
    ]]);
  }
  return all;
}

/** Show what keys do on this page. */
function showKeys() {
  if (document.querySelector("dialog[open]")) return;
  const dialog = document.createElement("dialog");
  dialog.className = "keys";
  const title = document.createElement("h2");
  title.id = "keys-title";
  title.textContent = "Keys of this page";
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.append(title);
  for (const [name, keys] of keysHere()) {
    const [head, list] = [document.createElement("h3"), document.createElement("dl")];
    head.textContent = name;
    for (const [key, meaning] of keys) {
      const [term, told] = [document.createElement("dt"), document.createElement("dd")];
      for (const one of key.split(" ")) {
        const sign = document.createElement("kbd");
        sign.className = "kbd";
        sign.textContent = one;
        term.append(sign, " ");
      }
      told.textContent = meaning;
      list.append(term, told);
    }
    dialog.append(head, list);
  }
  const [label, tick] = [document.createElement("label"), document.createElement("input")];
  label.className = "lab";
  tick.type = "checkbox";
  tick.checked = !areOff();
  tick.addEventListener("change", () => localStorage.setItem(OFF, tick.checked ? "no" : "yes"));
  label.append(tick, " Keys of one letter act");
  const [acts, close] = [document.createElement("p"), document.createElement("button")];
  acts.className = "acts";
  close.className = "btn";
  close.type = "button";
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  acts.append(close);
  dialog.append(label, acts);
  document.body.append(dialog);
  dialog.showModal();
  close.focus();
}
document.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("[data-keys]")) showKeys();
});

/** The rows that keys move along. */
function rows() {
  return [...document.querySelectorAll("#main tbody tr:not(.group)")];
}

document.addEventListener("keydown", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const writes = target?.closest("input:not([type='checkbox']), textarea, select, dialog");
  const form = target?.closest("form");
  if (event.key === "Enter" && event.shiftKey && form?.querySelector("[data-counts]")) {
    event.preventDefault();
    if (form.querySelector("[data-counts]:disabled")) toast("Nothing is ticked.");
    else form.requestSubmit();
    return;
  }
  if (writes || event.ctrlKey || event.metaKey || event.altKey || areOff()) return;
  if (event.key === "?") {
    event.preventDefault();
    showKeys();
    return;
  }
  if (isGoing) {
    isGoing = false;
    const named = document.querySelector(".side .ways a[href^='/clusters/']")?.getAttribute("href");
    const to = ways[event.key] ?? (named && event.key in ofCluster ? named + ofCluster[event.key] : undefined);
    if (to) location.assign(to);
    return;
  }
  if (event.key === "g") isGoing = true;
  if (event.key === "/") {
    const search = document.querySelector("#main input[type='search']") ?? document.querySelector(".side .find input");
    if (search instanceof HTMLElement) {
      event.preventDefault();
      search.focus();
    }
  }
  if (event.key === "j" || event.key === "k") {
    const all = rows();
    const at = all.findIndex((row) => row.contains(document.activeElement));
    const next = all[Math.max(0, at + (event.key === "j" ? 1 : -1))];
    const place = next?.querySelector("input:not(:disabled), a, button");
    if (place instanceof HTMLElement) place.focus();
  }
  const letter = document.querySelector(`#main a[data-key="${CSS.escape(event.key)}"]`);
  if (letter instanceof HTMLElement) letter.click();
  if (event.key === "a" && document.querySelector("[data-all]")) {
    const all = document.querySelector("[data-all]");
    if (all instanceof HTMLInputElement) all.click();
  }
});

localTimes(document);
count(document);
reachTables();
