// The map of hosts: the pointer and the keys choose a cell, and the panel beside it tells of it.
import { expired, parsed } from "./console.js";

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {[string, number, number, string]} Place id, x, y, text of the cell */

class HeatMap extends HTMLElement {
  static observedAttributes = ["data-map"];
  /** @type {{cell: number, step: number, path: string, chosen: string, hosts: Place[], cells: string | null, panel: string, layout: string, scale: string}} */
  map = { cell: 11, step: 13, path: "", chosen: "", hosts: [], cells: null, panel: "", layout: "", scale: "" };
  at = -1;
  timer = 0;

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
    this.read();
  }

  attributeChangedCallback() {
    if (this.isConnected) this.read();
  }

  read() {
    this.map = JSON.parse(this.getAttribute("data-map") ?? "{}");
    const chosen = new URLSearchParams(location.search).get("host") ?? this.map.chosen;
    this.at = this.map.hosts.findIndex(([id]) => id === chosen);
    this.mark();
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

  /** Refresh the cells of a large map in place; false: the whole page has to be refreshed. */
  async update() {
    const { cells, layout, scale, hosts } = this.map;
    if (!cells) return false;
    const answer = await fetch(cells + location.search).catch(() => null);
    if (!answer?.ok) return false;
    const now = await answer.json();
    // On another scale the legend is another, too.
    if (now.layout !== layout || now.scale !== scale || layout !== this.map.layout) return false;
    for (const [kind, drawn] of Object.entries(now.paths)) {
      const path = this.querySelector(`path.${kind}`);
      if (path && path.getAttribute("d") !== drawn) path.setAttribute("d", drawn);
    }
    hosts.forEach((host, place) => (host[3] = now.texts[place]));
    return true;
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
