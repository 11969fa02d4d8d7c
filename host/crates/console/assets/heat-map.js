// The map of hosts: the pointer and the keys choose a cell, and the panel beside it tells of it.
import { expired, parsed } from "./console.js";

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {[string, number, number, string]} Place id, x, y, text of the cell */
/** @typedef {{colours: Map<string, string>, full: string, blank: string, edge: string}} Colours by the sign of a band; of the notch of a full cell; of a cell without a band, and of its edge */
/** @typedef {Colours & {context: CanvasRenderingContext2D, scale: number}} Brush with the pixels of a unit of the map */

class HeatMap extends HTMLElement {
  static observedAttributes = ["data-map"];
  /** @type {{cell: number, step: number, path: string, chosen: string, hosts: Place[], large: boolean, panel: string, layout: string, scale: string, bands: string}} */
  map = { cell: 11, step: 13, path: "", chosen: "", hosts: [], large: false, panel: "", layout: "", scale: "", bands: "" };
  at = -1;
  timer = 0;
  /** Whether cells are drawn that its data do not say. */
  isDrawn = false;
  /** @type {HTMLCanvasElement | null} */
  canvas = null;
  /** @type {Colours} */
  colours = { colours: new Map(), full: "", blank: "", edge: "" };

  connectedCallback() {
    this.tabIndex = 0;
    this.setAttribute("role", "application");
    this.setAttribute("aria-label", "Map of hosts: arrow keys choose a host");
    this.addEventListener("click", (event) => this.choose(this.under(event)));
    this.addEventListener("dblclick", () => this.open());
    this.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("pointermove", (event) => {
      const place = this.map.hosts[this.under(event)];
      this.title = place ? `${place[0]}: ${place[3]}` : "";
    });
    new ResizeObserver(() => this.redraw()).observe(this);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    document.addEventListener("pw-scheme", () => this.redraw());
    this.read();
  }

  attributeChangedCallback() {
    if (this.isConnected) this.read();
  }

  read() {
    this.isDrawn = false;
    this.plain();
    this.map = JSON.parse(this.getAttribute("data-map") ?? "{}");
    const chosen = new URLSearchParams(location.search).get("host") ?? this.map.chosen;
    this.at = this.map.hosts.findIndex(([id]) => id === chosen);
    this.mark();
  }

  /** The page was read again, and what is in the element is that of the page. */
  replaced() {
    if (this.isDrawn) this.read();
    else this.mark();
  }

  /** The host under the pointer. @param {MouseEvent} event */
  under(event) {
    const svg = this.querySelector("svg");
    const matrix = svg?.getScreenCTM();
    if (!svg || !matrix) return -1;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const { cell, hosts } = this.map;
    return hosts.findIndex(([, left, top]) => x >= left && x <= left + cell && y >= top && y <= top + cell);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { step, hosts } = this.map;
    const here = hosts[this.at];
    if (event.key === "Enter") return this.open();
    if (event.key === "t" && here) {
      const link = document.getElementById(`row-${here[0]}`)?.querySelector("a");
      if (link) link.focus();
      return;
    }
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Home" || event.key === "End") {
      event.preventDefault();
      const row = hosts.filter(([, , y]) => !here || y === here[2]);
      const next = event.key === "Home" ? row[0] : row[row.length - 1];
      return this.choose(hosts.indexOf(next));
    }
    if (!(event.key in moves)) return;
    event.preventDefault();
    if (!here) return this.choose(0);
    const [dx, dy] = moves[/** @type {keyof typeof moves} */ (event.key)];
    // The nearest cell in that direction.
    let [best, least] = [-1, Infinity];
    hosts.forEach(([, x, y], place) => {
      const along = (x - here[1]) * dx + (y - here[2]) * dy;
      const aside = Math.abs((x - here[1]) * dy) + Math.abs((y - here[2]) * dx);
      const far = along + aside * 3;
      if (along >= step / 2 && far < least) [best, least] = [place, far];
    });
    if (best >= 0) this.choose(best);
  }

  /** @param {number} place */
  choose(place) {
    if (place < 0) return;
    this.at = place;
    this.mark();
    this.querySelector(".cur")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const url = new URL(location.href);
    url.searchParams.set("host", this.map.hosts[place][0]);
    history.replaceState(null, "", url);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.tell(), 90);
  }

  /** Have the panel tell of the chosen host. */
  async tell() {
    const answer = await fetch(this.map.panel + location.search).catch(() => null);
    if (answer?.status === 401) return expired();
    if (!answer?.ok) return;
    const [old, next] = [document.getElementById("host-panel"), parsed(await answer.text()).getElementById("host-panel")];
    if (old && next) old.replaceChildren(...next.childNodes);
  }

  /** Whether its cells are refreshed without the page around them. */
  isLarge() {
    return this.map.large;
  }

  /** Show what its cells are now, in their places; false: the whole page has to be read.
   * @param {{layout: string, scale: string, bands: string, texts: string[]}} now */
  update(now) {
    const { layout, scale, hosts } = this.map;
    // On another scale the legend is another, too.
    if (now.layout !== layout || now.scale !== scale) return false;
    this.draw(now.bands);
    hosts.forEach((host, place) => (host[3] = now.texts[place]));
    this.isDrawn = true;
    return true;
  }

  /** Draw those cells anew that have changed. @param {string} bands */
  draw(bands) {
    const was = this.map.bands;
    this.map.bands = bands;
    if (was === bands) return;
    const isNew = !this.canvas;
    const brush = this.brush();
    if (!brush) return;
    for (let place = 0; place < bands.length; place++) {
      if (isNew || was[place] !== bands[place]) this.paint(brush, place);
    }
  }

  /** What cells are drawn with; where nothing was drawn yet, on a canvas under the outlines of the page, which
   * are hidden from then on: to draw one of thousands of cells there costs as much as to draw them all.
   * @returns {Brush | null} */
  brush() {
    const svg = this.querySelector("svg");
    if (!svg) return null;
    if (!this.canvas) {
      const fill = (/** @type {string} */ kind) => {
        const path = svg.querySelector(`path.${kind}`);
        return path ? getComputedStyle(path).fill : "";
      };
      const colours = new Map([..."0123456"].map((sign) => [sign, fill(`c${sign}`)]));
      const blank = svg.querySelector("path.cx");
      this.colours = { colours, full: fill("over"), blank: fill("cx"), edge: blank ? getComputedStyle(blank).stroke : "" };
      const { width, height } = svg.getBoundingClientRect();
      const canvas = document.createElement("canvas");
      canvas.setAttribute("aria-hidden", "true");
      [canvas.width, canvas.height] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
      [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
      this.canvas = canvas;
      this.append(canvas);
      this.classList.add("drawn");
    }
    const context = this.canvas.getContext("2d");
    return context && { context, scale: this.canvas.width / svg.viewBox.baseVal.width, ...this.colours };
  }

  /** Draw a cell. @param {Brush} brush @param {number} place */
  paint({ context, scale, colours, full, blank, edge }, place) {
    const [, x, y] = this.map.hosts[place];
    const { cell, bands } = this.map;
    const at = (/** @type {number} */ units) => Math.round(units * scale);
    const [left, top, right, low] = [at(x), at(y), at(x + cell), at(y + cell)];
    const sign = bands[place];
    // One that is full is of the highest band, with a notch.
    context.fillStyle = sign === "x" ? blank : (colours.get(sign === "f" ? "6" : sign) ?? "");
    context.fillRect(left, top, right - left, low - top);
    if (sign === "f") {
      const half = at(Math.floor(cell / 2));
      context.fillStyle = full;
      context.beginPath();
      context.moveTo(right - half, top);
      context.lineTo(right, top);
      context.lineTo(right, top + half);
      context.fill();
    }
    if (sign === "x") {
      context.strokeStyle = edge;
      context.lineWidth = Math.max(1, Math.round(scale));
      context.strokeRect(left + 0.5, top + 0.5, right - left - 1, low - top - 1);
    }
  }

  /** Another size or other colours: what was drawn is drawn anew. */
  redraw() {
    if (!this.canvas) return;
    this.plain();
    const brush = this.brush();
    if (brush) this.map.hosts.forEach((_, place) => this.paint(brush, place));
  }

  /** The outlines of the page are seen again. */
  plain() {
    this.canvas?.remove();
    this.canvas = null;
    this.classList.remove("drawn");
  }

  open() {
    const here = this.map.hosts[this.at];
    if (here) location.assign(`${this.map.path}/${encodeURIComponent(here[0])}`);
  }

  /** Draw the frame of the chosen cell. */
  mark() {
    const svg = this.querySelector("svg");
    svg?.querySelectorAll(".cur").forEach((frame) => frame.remove());
    const here = this.map.hosts[this.at];
    if (!svg || !here) return;
    for (const kind of ["cur halo", "cur"]) {
      const frame = document.createElementNS(SVG, "rect");
      const wide = kind === "cur" ? 1.5 : 3;
      frame.setAttribute("class", kind);
      frame.setAttribute("x", String(here[1] - wide));
      frame.setAttribute("y", String(here[2] - wide));
      frame.setAttribute("width", String(this.map.cell + 2 * wide));
      frame.setAttribute("height", String(this.map.cell + 2 * wide));
      svg.append(frame);
    }
  }
}

customElements.define("pw-heat-map", HeatMap);
