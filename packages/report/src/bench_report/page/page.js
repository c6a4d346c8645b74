"use strict";
// The tables are in the page already; this sorts, filters and compares them. Text goes in as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  document.documentElement.classList.add("scripts");

  // Figures as everywhere in a report: three digits, the interval to the same place.
  function decimalsOf(value, digits) {
    return digits - 1 - Math.floor(Math.log10(Math.abs(value)));
  }
  function figure(value, decimals) {
    const place = 10 ** decimals;
    return (Math.round(value * place) / place).toFixed(Math.max(decimals, 0)).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, "\u00a0");
  }
  function withInterval(value, low, high) {
    if (low === null || high === null) return [figure(value, decimalsOf(value, 3)), ""];
    let decimals;
    for (let digits = 3; digits <= 5; digits += 1) {
      decimals = decimalsOf(value, digits);
      if (figure(low, decimals) !== figure(high, decimals)) break;
    }
    return [figure(value, decimals), `${figure(low, decimals)}–${figure(high, decimals)}`];
  }

  const UNITS = { "img/s": (sec) => 1 / sec, ms: (sec) => sec * 1e3 };
  // A time with its ends, which are hundred-thousandths of it below and above, in a unit.
  function timing(unit, sec, below, above) {
    const of = UNITS[unit];
    if (below === null) return withInterval(of(sec), null, null);
    const ends = [of(sec * (1 - below / 1e5)), of(sec * (1 + above / 1e5))];
    return withInterval(of(sec), Math.min(...ends), Math.max(...ends));
  }

  // [ratio, low, high, sure] of column `one` over column `other`; each pair is stored once, the earlier column first.
  function ratioOf(row, one, other) {
    const count = row.sec.length;
    const [a, b] = one < other ? [one, other] : [other, one];
    const place = 4 * ((a * (2 * count - a - 1)) / 2 + b - a - 1);
    const found = row.ratios.slice(place, place + 4);
    if (found[0] === null) return null;
    if (one < other) return found;
    const [ratio, low, high, sure] = found;
    return [1 / ratio, high === null ? null : 1 / high, low === null ? null : 1 / low, sure];
  }

  // A table whose rows are sorted by a column's key, absent keys last, and shown where `wanted` says so.
  // `downFirst` says of a column whether its largest key comes first.
  function sortable(table, keyOf, wanted, noun = "transforms", downFirst = (column) => column >= 0) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((element, index) => ({ element, index, name: element.cells[0].textContent }));
    const heads = all(".sort", table);
    const state = { column: null, down: false };
    function sort() {
      const key = (row) => (state.column === null ? row.index : state.column < 0 ? row.name : keyOf(row.index, state.column));
      const sign = state.down ? -1 : 1;
      const keyed = rows.map((row) => [key(row), row]);
      keyed.sort(([a, one], [b, other]) => {
        if (a === null || b === null) return (a === null) - (b === null) || one.index - other.index;
        const order = typeof a === "string" ? a.localeCompare(b) : a - b;
        return sign * order || one.index - other.index;
      });
      body.append(...keyed.map(([, row]) => row.element));
      for (const head of heads) {
        const here = Number(head.dataset.column) === state.column;
        if (here) head.parentElement.setAttribute("aria-sort", state.down ? "descending" : "ascending");
        else head.parentElement.removeAttribute("aria-sort");
      }
    }
    for (const head of heads) {
      head.addEventListener("click", () => {
        const column = Number(head.dataset.column);
        state.down = state.column === column ? !state.down : downFirst(column);
        state.column = column;
        sort();
      });
    }
    return {
      sort,
      filter() {
        let shown = 0;
        for (const row of rows) {
          row.element.hidden = !wanted(row);
          shown += !row.element.hidden;
        }
        return `${shown} of ${rows.length} ${noun}`;
      },
    };
  }

  function matches(name, search) {
    return name.toLowerCase().includes(search.value.trim().toLowerCase());
  }

  // Puts a figure and its interval where the page has them; what else is in the cell stays.
  function show(cell, [text, interval]) {
    const winner = cell.querySelector("b");
    (winner ?? cell).firstChild.data = winner ? text : `${text} `;
    const small = cell.querySelector("small");
    if (small) small.textContent = interval;
  }

  function speedPart(root, { rows, copy }) {
    const [search, baseline, key, comparable, count] = [".search", ".baseline", ".key", ".comparable", ".count"].map((name) =>
      root.querySelector(name),
    );
    const base = (row) => (baseline.value === "" ? row.fastest : Number(baseline.value));
    const compared = (row) => row.sec.filter((sec) => sec !== null).length > 1;
    function keyOf(index, column) {
      const row = rows[index];
      if (row.sec[column] === null) return null;
      if (key.value === "speed") return 1 / row.sec[column];
      if (base(row) === column) return 1;
      const found = base(row) === null ? null : ratioOf(row, column, base(row));
      return found ? found[0] : null;
    }
    const table = sortable(
      root.querySelector("table.speed"),
      keyOf,
      (row) => matches(row.name, search) && (!comparable.checked || compared(rows[row.index])),
    );
    const slots = [...root.querySelector("table.speed").tBodies[0].rows].map((element, index) =>
      [...element.cells].slice(1).map((cell, column) => {
        if (rows[index].sec[column] === null) return null;
        const slot = document.createElement("span");
        slot.className = "ratio";
        cell.append(slot);
        return slot;
      }),
    );
    function compare() {
      rows.forEach((row, index) => slots[index].forEach((slot, column) => slot && tell(slot, row, column)));
    }
    function tell(slot, row, column) {
      const other = base(row);
      slot.className = "ratio";
      if (!compared(row)) slot.textContent = "alone";
      else if (other === column) slot.textContent = "1× baseline";
      else {
        const found = other === null ? null : ratioOf(row, column, other);
        if (!found) slot.textContent = "no baseline here";
        else {
          const [ratio, low, high, sure] = found;
          const [text, interval] = withInterval(ratio, low, high);
          const verdict = sure ? (ratio > 1 ? "faster" : "slower") : "unsure";
          slot.classList.add(verdict);
          slot.textContent = `${{ faster: "▲", slower: "▼", unsure: "·" }[verdict]} ${text}×${interval && ` (${interval})`}`;
        }
      }
    }
    const unit = root.querySelector(".unit");
    function convert() {
      const { tFoot } = root.querySelector("table.speed");
      root.querySelector(".unit-title").textContent = unit.selectedOptions[0].dataset.title;
      slots.forEach((row, index) => {
        const { sec, ends } = rows[index];
        row.forEach((slot, column) => {
          if (slot) show(slot.parentElement, timing(unit.value, sec[column], ends[2 * column], ends[2 * column + 1]));
        });
      });
      [...tFoot.rows[1].cells].slice(1).forEach((cell, column) => {
        if (copy[column]) show(cell, timing(unit.value, ...copy[column]));
      });
    }
    unit.addEventListener("change", convert);
    const filter = () => (count.textContent = table.filter());
    search.addEventListener("input", filter);
    comparable.addEventListener("change", filter);
    key.addEventListener("change", table.sort);
    baseline.addEventListener("change", () => {
      compare();
      if (key.value === "ratio") table.sort();
    });
    compare();
    filter();
  }

  function picturePart(root) {
    const galleries = all(".gallery", root);
    // The input is in the page once; here it comes to stand beside every transform's outputs.
    const inputs = root.querySelector(".inputs");
    if (inputs) {
      for (const row of all(".gallery .row", root)) row.prepend(...all("figure", inputs).map((input) => input.cloneNode(true)));
      inputs.hidden = true;
    }
    const [search, order, count] = [".search", ".order", ".count"].map((name) => root.querySelector(name));
    search.addEventListener("input", filter);
    order.addEventListener("change", () => {
      const sorted = [...galleries];
      if (order.value === "difference") sorted.sort((a, b) => b.dataset.largest - a.dataset.largest);
      root.append(...sorted);
    });
    function filter() {
      for (const gallery of galleries) gallery.hidden = !matches(gallery.querySelector("h4").textContent, search);
      count.textContent = `${galleries.filter((gallery) => !gallery.hidden).length} of ${galleries.length} transforms`;
    }
    filter();
  }

  // Dots for values by round, in thousandths of their middle; at most EDGE of them to each side.
  const EDGE = 200;
  function strip(values) {
    const make = (name, attributes) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      return element;
    };
    const percent = (value) => `${(value / 10).toFixed(1)} %`;
    const told = `by round, from ${percent(Math.min(...values))} to ${percent(Math.max(...values))} of the middle`;
    const picture = make("svg", { class: "strip", viewBox: "0 0 84 26", role: "img", "aria-label": told });
    picture.append(make("line", { x1: 0, x2: 84, y1: 13, y2: 13 }));
    const step = 76 / Math.max(values.length - 1, 1);
    values.forEach((value, round) => {
      const y = 13 - (Math.max(-EDGE, Math.min(EDGE, value)) / EDGE) * 10;
      const attributes = { cx: (4 + round * step).toFixed(1), cy: y.toFixed(1), r: 2 };
      picture.append(make("circle", Math.abs(value) > EDGE ? { ...attributes, class: "beyond" } : attributes));
    });
    return picture;
  }

  function noisePart(root, { rows, copies }) {
    const [search, count] = [".search", ".count"].map((name) => root.querySelector(name));
    const table = sortable(
      root.querySelector("table.noise"),
      (index, column) => rows[index].cv[column],
      (row) => matches(row.name, search),
    );
    const filter = () => (count.textContent = table.filter());
    search.addEventListener("input", filter);
    filter();
    const cells = [...root.querySelector("table.noise").tBodies[0].rows].map((row) => [...row.cells].slice(1));
    return () => {
      all(".copy-strip", root).forEach((cell, index) => copies[index].length && cell.append(strip(copies[index])));
      cells.forEach((row, index) =>
        row.forEach((cell, column) => {
          const values = rows[index].rounds[column];
          if (values.length) cell.append(strip(values));
        }),
      );
    };
  }

  // A table of scores, whose cells carry their keys; each has its own tools before it.
  function scoreTable(table) {
    const tools = table.parentElement.previousElementSibling;
    const [search, count] = [".search", ".count"].map((name) => tools.querySelector(name));
    const keys = [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1).map(({ dataset: { key } }) => (key === "" ? null : Number(key))));
    const mostFirst = new Set(all("[data-most-first]", table).map((head) => Number(head.dataset.column)));
    const whole = search.classList.contains("exact"); // "C" is carbon, and not all that begin with it
    const wanted = ({ name }) => (whole && search.value.trim() ? name.toLowerCase() === search.value.trim().toLowerCase() : matches(name, search));
    const sorted = sortable(table, (index, column) => keys[index][column], wanted, table.dataset.noun, (column) => mostFirst.has(column));
    const filter = () => (count.textContent = sorted.filter());
    search.addEventListener("input", filter);
    filter();
  }
  all("table.scored").forEach(scoreTable);

  const draw = [];
  data.forEach((part, number) => {
    const [speed, pictures, noise] = ["speed", "pictures", "noise"].map((panel) =>
      document.querySelector(`#${panel} [data-part="part-${number}"]`),
    );
    speedPart(speed, part);
    picturePart(pictures);
    draw.push(noisePart(noise, part));
  });

  const tabs = all('[role="tab"]');
  function open(chosen) {
    for (const tab of tabs) {
      const here = tab === chosen;
      tab.setAttribute("aria-selected", String(here));
      tab.tabIndex = here ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !here;
    }
    if (part) part.closest(".choose").hidden = chosen.id === "tab-scores"; // it chooses among tables of speeds
    // Strips are drawn when they are first looked at: a large report has thousands.
    if (chosen.id === "tab-noise") draw.splice(0).forEach((drawPart) => drawPart());
  }
  tabs.forEach((tab, index) => {
    document.getElementById(tab.getAttribute("aria-controls")).setAttribute("role", "tabpanel");
    tab.addEventListener("click", () => open(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = step ? tabs.at((index + step) % tabs.length) : { Home: tabs[0], End: tabs.at(-1) }[event.key];
      if (!next) return;
      event.preventDefault();
      open(next);
      next.focus();
    });
  });
  const part = document.getElementById("part");
  open(tabs[0]);
  // Paper has no tabs: every view is printed, so the strips have to be there.
  window.addEventListener("beforeprint", () => draw.splice(0).forEach((drawPart) => drawPart()));

  function choosePart() {
    for (const element of all(".part")) element.hidden = element.dataset.part !== part.value;
  }
  if (part) {
    part.addEventListener("change", choosePart);
    choosePart();
  }
})();
