"use strict";
// What the reader may change: costs, a case of their own, which class is shown. Everything else is drawn already.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";

  // Figures of single classes.
  const choice = byId("class-choice");
  if (choice) {
    choice.parentElement.hidden = false;
    choice.addEventListener("change", () => {
      for (const figure of document.querySelectorAll("[data-figure]")) {
        figure.hidden = choice.value !== "" && figure.dataset.figure !== choice.value;
      }
      document.querySelector(".many").classList.toggle("one", choice.value !== "");
      const chosen = choice.value === "" ? null : choice.selectedOptions[0].textContent;
      for (const line of document.querySelectorAll(".roc")) {
        line.classList.toggle("faint", chosen !== null && line.dataset.class !== chosen);
      }
    });
  }

  // Paper shows what is folded on the screen.
  window.addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });

  if (data.cost.length === 0) return;
  const nClasses = data.classes.length, nActions = data.actions.length, nRows = data.truth.length;
  const proba = decodeDoubles(data.proba);
  const cost = data.cost.map((row) => row.slice());
  const square = nActions === nClasses && data.actions.every((name, i) => name === data.classes[i]);
  // The row of the costs for deciding each class, where all classes can be decided.
  const ofClass = data.classes.map((name) => data.actions.indexOf(name));
  const compared = !ofClass.includes(-1);

  function decodeDoubles(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float64Array.from({length: bytes.length / 8}, (_, i) => view.getFloat64(8 * i, true));
  }

  // Deciding, as calibrant.decisions.decide does: least risk, ties to the lowest number.
  const TIE = 1e-12;
  const tieUnit = () => Math.min(1, Math.max(...cost.flat().map(Math.abs)));
  function risks(p) {
    return cost.map((row) => row.reduce((sum, value, j) => sum + value * p[j], 0));
  }
  function decide(p) {
    const each = risks(p);
    const least = Math.min(...each);
    const bound = least + TIE * Math.min(Math.max(Math.abs(least), tieUnit()), Number.MAX_VALUE);
    return each.findIndex((risk) => risk <= bound);
  }
  function mostProbable(p) {
    return p.reduce((best, value, j) => (value > p[best] ? j : best), 0);
  }
  function decideAll() {
    const counts = cost.map(() => new Float64Array(nClasses));
    const plainCounts = cost.map(() => new Float64Array(nClasses));
    for (let row = 0; row < nRows; row++) {
      const p = proba.subarray(row * nClasses, (row + 1) * nClasses);
      const weight = data.weight ? data.weight[row] : 1;
      counts[decide(p)][data.truth[row]] += weight;
      if (compared) plainCounts[ofClass[mostProbable(p)]][data.truth[row]] += weight;
    }
    return {counts, total: paid(counts), plain: compared ? paid(plainCounts) : NaN, weight: paidBy(counts, () => 1)};
  }
  const paid = (counts) => paidBy(counts, (i, j) => cost[i][j]);
  function paidBy(counts, price) {
    let sum = 0;
    counts.forEach((row, i) => row.forEach((count, j) => { sum += count * price(i, j); }));
    return sum;
  }

  // Numbers as the rest of the page writes them.
  function number(value, digits = 6) {
    if (!Number.isFinite(value)) return "unknown";
    const rounded = Number(value.toPrecision(digits));
    if (rounded !== 0 && (Math.abs(rounded) < 1e-4 || Math.abs(rounded) >= 1e15)) return String(rounded);
    return rounded.toLocaleString("en-US", {maximumFractionDigits: 12});
  }
  function percent(share) {
    if (share > 0 && share < 0.001) return "less than 0.1%";
    if (share > 0.999 && share < 1) return "more than 99.9%";
    return (100 * share).toFixed(1).replace(/\.0$/, "") + "%";
  }

  // The cost matrix becomes a form.
  for (const cell of byId("cost-table").querySelectorAll("td[data-row]")) {
    const i = Number(cell.dataset.row), j = Number(cell.dataset.column);
    const input = document.createElement("input");
    input.type = "number";
    input.step = "any";
    input.inputMode = "decimal";
    input.value = String(cost[i][j]);
    input.setAttribute("aria-label", `cost of deciding ${data.actions[i]} when the truth is ${data.classes[j]}`);
    input.setAttribute("aria-describedby", "cost-help");
    input.addEventListener("input", () => {
      const value = input.value.trim() === "" ? NaN : Number(input.value);
      input.setAttribute("aria-invalid", String(!Number.isFinite(value)));
      if (Number.isFinite(value)) {
        cost[i][j] = value;
        schedule();
      }
    });
    cell.replaceChildren(input);
  }
  byId("reset").addEventListener("click", () => {
    data.cost.forEach((row, i) => row.forEach((value, j) => { cost[i][j] = value; }));
    for (const cell of byId("cost-table").querySelectorAll("td[data-row]")) {
      const input = cell.firstElementChild;
      input.value = String(cost[Number(cell.dataset.row)][Number(cell.dataset.column)]);
      input.setAttribute("aria-invalid", "false");
    }
    schedule();
  });
  for (const part of document.querySelectorAll(".only-live")) part.hidden = false;

  let waiting = false;
  function schedule() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; refresh(); });
  }

  function show(id, value, text) {
    const output = byId(id);
    output.value = text;
    output.dataset.value = String(value);
  }
  function refresh() {
    const found = decideAll();
    const saving = found.plain === 0 ? NaN : (found.plain - found.total) / Math.abs(found.plain);
    show("live-total", found.total, number(found.total));
    show("live-mean", found.total / found.weight, number(found.total / found.weight, 4));
    show("live-plain", found.plain, compared ? number(found.plain) : "none of the decisions");
    show("live-saving", saving, Number.isFinite(saving) ? (saving < 0 ? "-" : "") + percent(Math.abs(saving)) : "unknown");
    byId("live-words").textContent = `Deciding by least cost costs ${number(found.total)} on these ${number(nRows)} rows` +
      (compared ? `; the most probable class costs ${number(found.plain)}.` : ".");
    showCounts(found.counts);
    warn();
    if (nClasses === 3) drawTriangle();
    if (nClasses === 2) drawLine();
    showProbe();
  }
  function showCounts(counts) {
    const largest = Math.max(...counts.map((row) => Math.max(...row)));
    for (const cell of byId("confusion").querySelectorAll("td[data-row]")) {
      const count = counts[Number(cell.dataset.row)][Number(cell.dataset.column)];
      cell.textContent = number(count);
      cell.className = "heat-" + (largest > 0 ? Math.round(9 * Math.sqrt(count / largest)) : 0);
    }
    byId("confusion-rows").textContent = `the ${number(nRows)} rows of this page`;
  }
  function warn() {
    let text = "";
    if (square) {
      for (let j = 0; j < nClasses; j++) {
        for (let i = 0; i < nClasses; i++) {
          if (i !== j && cost[i][j] <= cost[j][j] && text === "") {
            text = `Deciding ${data.actions[i]} when the truth is ${data.classes[j]} costs no more than being right. ` +
              "Rows are decisions, columns are truths.";
          }
        }
      }
    }
    if (byId("warning").textContent !== text) byId("warning").textContent = text;
  }

  // Drawing.
  const place = (value) => String(Math.round(value * 10) / 10);
  const shorten = (name) => ([...name].length <= 18 ? name : [...name].slice(0, 17).join("") + "…");
  function draw(kind, attributes, text) {
    const element = document.createElementNS(SVG, kind);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }
  const HALF_LETTER = 3.9, HALF_LINE = 8, GRID = 40;

  // Three classes: the areas of the triangle.
  const CORNERS = [[50, 402], [430, 402], [240, 402 - 190 * Math.sqrt(3)]];
  const inTriangle = (p) => [0, 1].map((axis) => p.reduce((sum, share, j) => sum + share * CORNERS[j][axis], 0));
  const dot = (a, b) => a.reduce((sum, value, j) => sum + value * b[j], 0);
  function area(action) {
    let corners = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    for (let other = 0; other < nActions; other++) {
      if (other === action) continue;
      const dearer = cost[other].map((value, j) => value - cost[action][j]);
      if (Math.max(...dearer.map(Math.abs)) <= TIE * tieUnit()) {
        if (other < action) return [];
        continue;
      }
      corners = cut(corners, dearer);
    }
    return corners;
  }
  function cut(corners, slope) {
    const kept = [];
    corners.forEach((here, n) => {
      const there = corners[(n + 1) % corners.length];
      const value = dot(slope, here), following = dot(slope, there);
      if (value >= 0) kept.push(here);
      if (value * following < 0) {
        const share = value / (value - following);
        kept.push(here.map((a, j) => a + share * (there[j] - a)));
      }
    });
    return kept;
  }
  function room(corners, [x, y]) {
    let turn = 0, least = Infinity;
    const edges = corners.map((corner, n) => [corner, corners[(n + 1) % corners.length]]);
    for (const [[x0, y0], [x1, y1]] of edges) turn += x0 * y1 - x1 * y0;
    for (const [[x0, y0], [x1, y1]] of edges) {
      const length = Math.hypot(x1 - x0, y1 - y0);
      if (length < 1e-9) continue;
      least = Math.min(least, Math.sign(turn) * ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) / length);
    }
    return least;
  }
  function labelPlace(corners, text) {
    const half = HALF_LETTER * [...text].length + 3;
    let best = null, most = 0;
    for (let i = 1; i < GRID; i++) {
      for (let j = 1; j < GRID - i; j++) {
        const [x, y] = inTriangle([i / GRID, j / GRID, (GRID - i - j) / GRID]);
        const box = [[x - half, y - HALF_LINE], [x - half, y + HALF_LINE], [x + half, y - HALF_LINE], [x + half, y + HALF_LINE]];
        const space = Math.min(...box.map((corner) => room(corners, corner)));
        if (space > most + 1e-9) { best = [x, y]; most = space; }
      }
    }
    return best;
  }
  function drawTriangle() {
    const areas = [], names = [];
    for (let action = 0; action < nActions; action++) {
      const corners = area(action).map(inTriangle);
      if (corners.length < 3) continue;
      const path = "M" + corners.map(([x, y]) => `${place(x)},${place(y)}`).join("L") + "Z";
      areas.push(draw("path", {class: `area a${action % 6}`, d: path}));
      const text = shorten(data.actions[action]);
      const at = labelPlace(corners, text);
      if (at) names.push(draw("text", {x: place(at[0]), y: place(at[1] + 4), "text-anchor": "middle"}, text));
    }
    byId("areas").replaceChildren(...areas);
    byId("area-names").replaceChildren(...names);
    const equal = equalRisk();
    const ring = equal && inTriangle(equal);
    byId("equal-risk").replaceChildren(...(ring ? [draw("circle", {class: "equal-risk", cx: place(ring[0]), cy: place(ring[1]), r: 6})] : []));
  }
  function equalRisk() {
    if (nActions !== 3) return null;
    // All risks are equal where the differences of the rows vanish: their cross product.
    const [u, v] = [0, 1].map((i) => cost[i].map((value, j) => value - cost[2][j]));
    const point = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const sum = point[0] + point[1] + point[2];
    if (Math.abs(sum) < 1e-12) return null;
    const shares = point.map((value) => value / sum);
    return shares.every((share) => share >= 0) ? shares : null;
  }

  // Two classes: the pieces of the line.
  const LEFT = 20, RIGHT = 540, TOP = 34, BOTTOM = 166;
  const onLine = (p) => LEFT + p * (RIGHT - LEFT);
  function pieces() {
    const ends = new Set([0, 1]);
    for (let i = 0; i < nActions; i++) {
      for (let j = 0; j < i; j++) {
        const atZero = cost[i][0] - cost[j][0], atOne = cost[i][1] - cost[j][1];
        if (atZero * atOne < 0) ends.add(atZero / (atZero - atOne));
      }
    }
    const sorted = [...ends].sort((a, b) => a - b);
    const found = [];
    for (let n = 0; n + 1 < sorted.length; n++) {
      const middle = (sorted[n] + sorted[n + 1]) / 2;
      const action = decide([1 - middle, middle]);
      const last = found[found.length - 1];
      if (last && last.action === action) last.high = sorted[n + 1];
      else found.push({action, low: sorted[n], high: sorted[n + 1]});
    }
    return found;
  }
  function drawLine() {
    const areas = [], names = [], thresholds = [];
    for (const piece of pieces()) {
      const x = onLine(piece.low), width = onLine(piece.high) - x;
      areas.push(draw("rect", {class: `area a${piece.action % 6}`, x: place(x), y: TOP, width: place(width), height: BOTTOM - TOP}));
      const text = shorten(data.actions[piece.action]);
      if (width > 2 * HALF_LETTER * [...text].length + 8) {
        names.push(draw("text", {x: place(x + width / 2), y: TOP - 12, "text-anchor": "middle"}, text));
      }
      if (piece.low > 0) {
        thresholds.push(draw("path", {class: "threshold", d: `M${place(x)},${TOP - 4}V${BOTTOM + 4}`}));
        thresholds.push(draw("text", {class: "threshold-name", x: place(x), y: BOTTOM + 38, "text-anchor": "middle"}, percent(piece.low)));
      }
    }
    byId("areas").replaceChildren(...areas);
    byId("area-names").replaceChildren(...names);
    byId("thresholds").replaceChildren(...thresholds);
  }

  // A case of the reader's own.
  const probe = byId("probe");
  function probeCase() {
    const given = [...probe.querySelectorAll("[data-probe]")].map((input) => Math.max(Number(input.value) || 0, 0));
    const sum = given.reduce((a, b) => a + b, 0);
    return sum > 0 ? given.map((value) => value / sum) : null;
  }
  function showProbe() {
    if (!probe) return;
    const p = probeCase();
    const mark = byId("probe-mark");
    if (mark) mark.replaceChildren();
    if (p === null) {
      byId("probe-words").textContent = "Give some class a probability.";
      return;
    }
    const each = risks(p);
    const listed = data.actions.map((name, i) => `${name} ${number(each[i], 4)}`).join(", ");
    byId("probe-words").textContent = `Expected cost: ${listed}. Decide ${data.actions[decide(p)]}.`;
    if (!mark) return;
    const [x, y] = nClasses === 3 ? inTriangle(p) : [onLine(p[1]), 100];
    mark.replaceChildren(draw("circle", {class: "probe-ring", cx: place(x), cy: place(y), r: 9}));
  }
  if (probe) {
    probe.addEventListener("input", showProbe);
    probe.addEventListener("submit", (event) => event.preventDefault());
    if (nClasses === 3) {
      byId("regions").addEventListener("click", (event) => {
        const drawing = byId("regions");
        const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
        const third = (CORNERS[0][1] - at.y) / (CORNERS[0][1] - CORNERS[2][1]);
        const second = (at.x - CORNERS[0][0] - third * (CORNERS[2][0] - CORNERS[0][0])) / (CORNERS[1][0] - CORNERS[0][0]);
        const p = [1 - second - third, second, third];
        if (p.some((share) => share < -0.02)) return;
        probe.querySelectorAll("[data-probe]").forEach((input, j) => { input.value = (100 * Math.max(p[j], 0)).toFixed(1); });
        showProbe();
      });
    }
  }
  refresh();
})();
