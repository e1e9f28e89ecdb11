/* The page of a file of arrays on named dimensions: the result of a sweep, a family of gaits, or the curvature of a
 * connection. An array over two axes of numbers is a map, over one axis it is curves, and the shapes of gaits are closed
 * curves in shape space. Other dimensions are chosen in lists, or are one curve each.
 */
"use strict";

curvebody.Charts = class {
  constructor(page) {
    this.page = page;
    this.drawing = {name: "charts"};
    this.arrays = page.tables;
    this.scales = new Map();
    for (const t of this.arrays) if (t.dims.length === 1 && (!t.dims[0] || t.dims[0] === t.name)) this.scales.set(t.name, t);
    const own = t => !this.scales.has(t.name) && t.value && t.dims.every(d => d !== "letter") && !/^(status|warned|gait|lines)$/.test(t.name);
    this.lengths = new Map(this.arrays.filter(t => t.value).flatMap(t => t.dims.map((d, i) => [d, t.lengths[i]])));
    this.layout();
    this.charts = [];
    const shown = this.arrays.filter(t => own(t) && !this.isCoordinate(t)), why = new Map(shown.map(t => [t, this.flat(t)]));
    const rank = t => t.name === "curvature" || t.name === "cost" ? 0 : t.name === "shape" || t.name === "efficiency" ? 1 : /^(event_|rate|tail|metric|connection)/.test(t.name) ? 3 : 2;
    const sorted = shown.filter(t => !why.get(t)).sort((a, b) => rank(a) - rank(b)), isSingle = t => this.count(this.plan(t).x) < 2;
    this.list(sorted.filter(isSingle), () => "Numbers", t => this.single(t), true);
    for (const t of sorted.filter(t => !isSingle(t))) this.put(t, this.main, this.charts.length < 6);
    const folded = shown.filter(t => why.get(t)), title = n => `${n} ${n === 1 ? "array" : "arrays"} without visible change`;
    this.list(folded, title, t => why.get(t), false);
  }

  /* A group of arrays that are not drawn: one line of text for each. */
  list(arrays, title, text, open) {
    if (!arrays.length) return;
    const box = Object.assign(document.createElement("details"), {className: "folded", open});
    box.append(Object.assign(document.createElement("summary"), {textContent: title(arrays.length)}));
    for (const t of arrays) box.append(Object.assign(document.createElement("p"), {textContent: `${this.title(t)}: ${text(t)}`}));
    this.main.append(box);
  }

  /* The numbers of an array that has only one value along the axis of its curves. */
  single(t) {
    const dims = t.dims.filter(d => this.count(d) > 1), all = this.combinations(dims).slice(0, 30), rest = Object.fromEntries(t.dims.map(d => [d, 0]));
    return all.map(c => `${dims.map(d => this.label(d, c[d])).join(", ")} ${+curvebody.Charts.at(t, {...rest, ...c}).toPrecision(8)}`.trim()).join(", ");
  }

  layout() {
    const head = document.createElement("header"), title = Object.assign(document.createElement("h1"), {textContent: this.page.title, title: this.page.title});
    head.append(title);
    this.main = document.createElement("main");
    this.main.className = "charts";
    document.body.append(head, this.main);
    const status = this.arrays.find(t => t.name === "status"), warned = this.arrays.find(t => t.name === "warned");
    if (!status) return;
    const count = (t, is) => t ? t.value.data.reduce((n, v) => n + (is(v) ? 1 : 0), 0) : 0, all = status.value.data.length;
    const parts = [`${count(status, v => v === 1)} of ${all} members done`], failed = count(status, v => v === 2), warnings = count(warned, v => v > 0);
    if (failed) parts.push(`${failed} failed: their values are left out`);
    if (warnings) parts.push(`${warnings} with warnings, which are in /warning`);
    head.append(Object.assign(document.createElement("span"), {textContent: parts.join(", "), className: failed || warnings ? "state" : ""}));
  }

  /* --- axes --- */

  count(dim) { const s = this.scales.get(dim); return this.lengths.get(dim) || (s && s.texts ? s.texts.length : 0); }

  isNumeric(dim) { const s = this.scales.get(dim); return !(s && s.texts) && dim !== "number" && dim !== "asked"; }

  /* In a family, the number that varies is drawn along the axis instead of the number of the member. */
  coordinate(dim) {
    const own = this.arrays.find(t => t.dims.length === 1 && t.dims[0] === dim && (t.name === "varied" || t.name === "target"));
    return own || this.scales.get(dim);
  }

  isCoordinate(t) { return t.dims.length === 1 && (this.coordinate(t.dims[0]) === t || t.name === "branch" || this.scales.has(t.dims[0]) && !this.scales.has(t.name) && t.name.includes(".")); }

  values(dim) {
    const c = this.coordinate(dim);
    return c && c.value ? Array.from(c.value.data) : Array.from({length: this.count(dim)}, (_, i) => i);
  }

  /* The name of an axis: its own, and the key of the scenario that it changes. */
  axis(dim) {
    const c = this.coordinate(dim), name = c && c.name !== dim ? c.name : dim, doc = c && c.doc && c.doc !== name ? `: ${c.doc}` : "";
    return `${name.replaceAll("_", " ")}${doc} (${curvebody.Charts.unit(c)})`;
  }

  label(dim, i) {
    const s = this.scales.get(dim);
    if (s && s.texts) return s.texts[i];
    return `${dim} ${+this.values(dim)[i].toPrecision(6)}`;
  }

  static unit(t) { return t && t.units && t.units !== "1" ? t.units : "no unit"; }

  title(t) { return `${t.name.replaceAll("_", " ")}${t.doc ? ": " + t.doc : ""} (${curvebody.Charts.unit(t)})`; }

  flat(t) {
    let low = Infinity, high = -Infinity;
    for (const v of t.value.data) if (isFinite(v)) low = Math.min(low, v), high = Math.max(high, v);
    if (!(low <= high)) return "no values";
    if (t.value.data.length < 2) return "";
    const most = Math.max(Math.abs(low), Math.abs(high));
    return most === 0 ? "always zero" : high === low ? `constant, ${+low.toPrecision(6)}` : high - low < 1e-12 * most ? `constant, ${+low.toPrecision(6)}, up to round-off` : "";
  }

  /* --- the choice of a drawing --- */

  /* How an array is drawn: {kind, x, y: dimensions of the axes, curves: dimensions with one curve for each of their
   * values, choices: dimensions of which one value is chosen}. */
  plan(t) {
    const numeric = t.dims.filter(d => this.isNumeric(d) && this.count(d) > 1 && d !== "time");
    if (t.name === "shape" && t.dims.includes("time") && t.dims[t.dims.length - 1] === "variable" && this.count("variable") > 1)
      return {kind: "loops", x: "time", curves: t.dims.filter(d => d !== "time" && d !== "variable"), choices: []};
    if (numeric.length > 1 && !t.dims.includes("time")) {
      const [x, y] = numeric;
      return {kind: "map", x, y, curves: [], choices: t.dims.filter(d => d !== x && d !== y)};
    }
    const x = t.dims.includes("time") ? "time" : numeric[0] || t.dims[0], others = t.dims.filter(d => d !== x), curves = [], choices = [];
    let many = 1;
    for (const d of others.slice().reverse()) many * this.count(d) <= 30 ? (many *= this.count(d), curves.unshift(d)) : choices.unshift(d);
    return {kind: "curves", x, curves, choices};
  }

  put(t, to, open) {
    const box = document.createElement("details"), title = document.createElement("summary"), chart = {array: t, plan: this.plan(t), box, chosen: {}};
    title.textContent = this.title(t);
    box.dataset.name = t.name;
    box.append(title);
    box.addEventListener("toggle", () => { if (box.open) this.make(chart); });
    to.append(box);
    this.charts.push(chart);
    box.open = open;
  }

  make(chart) {
    if (chart.made) return;
    chart.made = true;
    const bar = document.createElement("nav"), {plan, array} = chart;
    for (const d of plan.choices) {
      const choice = document.createElement("select");
      for (let i = 0; i < this.count(d); i++) choice.append(new Option(`${d} ${this.label(d, i)}`.replace(`${d} ${d}`, d), i));
      chart.chosen[d] = d === "algebra" || plan.kind === "map" ? this.greatest(array, d) : 0;
      choice.value = chart.chosen[d];
      choice.addEventListener("change", () => { chart.chosen[d] = +choice.value; this.draw(chart); });
      bar.append(choice);
    }
    chart.legend = Object.assign(document.createElement("p"), {className: "curves"});
    if (plan.choices.length) chart.box.append(bar);
    if (plan.kind === "curves") {
      chart.graph = Object.assign(document.createElement("div"), {className: "graph"});
      chart.box.append(chart.graph, chart.legend);
    } else {
      chart.canvas = Object.assign(document.createElement("canvas"), {width: 560, height: 400});
      chart.box.append(chart.canvas, chart.legend);
    }
    this.draw(chart);
  }

  /* The value of a dimension at which the array is largest. */
  greatest(t, dim) {
    const sum = new Array(this.count(dim)).fill(0), at = t.dims.indexOf(dim), after = t.lengths.slice(at + 1).reduce((a, b) => a * b, 1);
    t.value.data.forEach((v, i) => { if (isFinite(v)) sum[Math.floor(i / after) % sum.length] += Math.abs(v); });
    return sum.indexOf(Math.max(...sum));
  }

  /* The number of the array at the given indices of its dimensions. */
  static at(t, index) { return t.value.data[t.dims.reduce((at, d, i) => at * t.lengths[i] + index[d], 0)]; }

  draw(chart) { this[chart.plan.kind](chart); }

  /* All combinations of the values of some dimensions, as objects of indices. */
  combinations(dims) {
    return dims.reduce((all, d) => all.flatMap(c => Array.from({length: this.count(d)}, (_, i) => ({...c, [d]: i}))), [{}]);
  }

  name(array, index, dims) { return dims.length ? dims.map(d => this.label(d, index[d])).join(", ") : array.name.replaceAll("_", " "); }

  /* --- curves over one axis --- */

  curves(chart) {
    const {array, plan, chosen} = chart, x = this.values(plan.x), branch = this.arrays.find(t => t.name === "branch" && t.dims[0] === plan.x);
    const branches = branch ? [...new Set(branch.value.data)] : [null], list = [];
    for (const c of this.combinations(plan.curves))
      for (const b of branches) {
        const name = [this.name(array, c, plan.curves), ...(branches.length > 1 ? [`branch ${b}`] : [])].join(", ");
        list.push({name, at: i => b === null || branch.value.data[i] === b ? curvebody.Charts.at(array, {...chosen, ...c, [plan.x]: i}) : null});
      }
    const order = x.map((_, i) => i).sort((a, b) => x[a] - x[b]), unit = curvebody.Charts.unit(array), texts = this.scales.get(plan.x);
    const rows = order.map(i => [x[i], ...list.map(l => l.at(i))]);
    const named = texts && texts.texts;
    chart.names = list.map(l => l.name);
    this.legend(chart, chart.names, unit);
    if (chart.plot) return chart.plot.updateOptions({file: rows});
    chart.plot = new Dygraph(chart.graph, rows, {
      labels: ["x", ...chart.names], legend: "follow", colors: curvebody.colours, strokeWidth: 1.5, axisLineColor: "#888", gridLineColor: "#ddd",
      xlabel: this.axis(plan.x), drawPoints: rows.length <= 60, pointSize: 2.5, connectSeparatedPoints: branches.length > 1,
      xRangePad: 6, strokePattern: named ? [1, 1e5] : null,
      axes: {x: {axisLabelFormatter: v => named ? (Number.isInteger(v) ? named[v] || "" : "") : String(+v.toPrecision(6))},
             y: {axisLabelWidth: 82, axisLabelFormatter: (v, _, __, g) => curvebody.short(v, g.yAxisRange ? g.yAxisRange(0) : null), valueFormatter: v => curvebody.exact(v)}}
    });
  }

  legend(chart, names, unit) {
    chart.legend.textContent = "";
    names.forEach((name, i) => {
      const mark = Object.assign(document.createElement("span"), {textContent: `— ${name} (${unit})`});
      mark.style.color = curvebody.colours[i % curvebody.colours.length];
      chart.legend.append(mark, " ");
    });
  }

  /* --- maps over two axes --- */

  /* The frame of a drawing: functions from values to pixels, after axes with numbers are drawn. */
  frame(canvas, x, y, names, right) {
    const c = canvas.getContext("2d"), left = 64, top = 14, w = canvas.width - left - right, h = canvas.height - top - 46;
    const to = {x: v => left + (v - x[0]) / (x[1] - x[0]) * w, y: v => top + (1 - (v - y[0]) / (y[1] - y[0])) * h, c, left, top, w, h};
    c.fillStyle = "#fff";
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.font = "12px system-ui, sans-serif";
    to.axes = () => {
      c.strokeStyle = c.fillStyle = "#444";
      c.lineWidth = 1;
      c.strokeRect(left, top, w, h);
      for (const [range, across] of [[x, true], [y, false]]) {
        const step = curvebody.nice((range[1] - range[0]) / 4);
        c.textAlign = across ? "center" : "right", c.textBaseline = across ? "top" : "middle";
        for (let i = Math.ceil(range[0] / step - 1e-9); i * step <= range[1] + 1e-9 * step; i++) {
          const v = i * step, p = across ? [to.x(v), top + h] : [left, to.y(v)];
          c.beginPath();
          c.moveTo(...p);
          c.lineTo(p[0] - (across ? 0 : 5), p[1] + (across ? 5 : 0));
          c.stroke();
          c.fillText(curvebody.round(v, step), p[0] - (across ? 0 : 8), p[1] + (across ? 8 : 0));
        }
      }
      c.textAlign = "center", c.textBaseline = "bottom";
      c.fillText(names[0], left + w / 2, canvas.height - 2);
      c.save();
      c.translate(12, top + h / 2);
      c.rotate(-Math.PI / 2);
      c.textBaseline = "middle";
      c.fillText(names[1], 0, 0);
      c.restore();
    };
    return to;
  }

  /* The edges of the cells around sorted values. */
  static edges(v) {
    if (v.length === 1) return [v[0] - 0.5, v[0] + 0.5];
    const middle = v.slice(1).map((b, i) => (v[i] + b) / 2);
    return [v[0] - (middle[0] - v[0]), ...middle, 2 * v[v.length - 1] - middle[middle.length - 1]];
  }

  map(chart) {
    const {array, plan, chosen, canvas} = chart, at = (i, j) => curvebody.Charts.at(array, {...chosen, [plan.x]: i, [plan.y]: j});
    const sorted = dim => { const v = this.values(dim); return {v: v.slice().sort((a, b) => a - b), order: v.map((_, i) => i).sort((a, b) => v[a] - v[b])}; };
    const x = sorted(plan.x), y = sorted(plan.y), ex = curvebody.Charts.edges(x.v), ey = curvebody.Charts.edges(y.v), all = [];
    for (const i of x.order) for (const j of y.order) if (isFinite(at(i, j))) all.push(at(i, j));
    all.sort((a, b) => a - b);
    const low = all[Math.floor(0.015 * (all.length - 1))], high = all[Math.ceil(0.985 * (all.length - 1))], signed = low < 0 && high > 0, most = Math.max(-low, high);
    const range = signed ? [-most, most] : [low, high > low ? high : low + (Math.abs(low) || 1)], colour = v => curvebody.heat((v - range[0]) / (range[1] - range[0]), signed);
    const to = this.frame(canvas, [ex[0], ex[ex.length - 1]], [ey[0], ey[ey.length - 1]], [this.axis(plan.x), this.axis(plan.y)], 110), c = to.c;
    x.order.forEach((i, a) => y.order.forEach((j, b) => {
      const v = at(i, j), p = [to.x(ex[a]), to.y(ey[b + 1])];
      c.fillStyle = isFinite(v) ? colour(v) : "#a0a0a0";
      c.fillRect(p[0], p[1], to.x(ex[a + 1]) - p[0] + 0.6, to.y(ey[b]) - p[1] + 0.6);
    }));
    to.axes();
    this.bar(canvas, to, range, colour);
    const gait = this.arrays.find(t => t.name === "gait" && t.dims[1] === "variable"), names = this.scales.get("variable");
    const gaps = all.length < x.v.length * y.v.length;
    chart.legend.textContent = `${this.name(array, chosen, plan.choices)} (${curvebody.Charts.unit(array)}) as colour` + (gaps ? "; grey: no value" : "") +
      (all[all.length - 1] > range[1] || all[0] < range[0] ? "; values beyond the scale have the colours of its ends" : "");
    chart.names = [array.name];
    if (!gait || !names || !names.texts.includes(plan.x) || !names.texts.includes(plan.y)) return;
    const n = gait.lengths[1], columns = [plan.x, plan.y].map(d => names.texts.indexOf(d));
    this.line(to, Array.from({length: gait.lengths[0]}, (_, k) => columns.map(e => gait.value.data[k * n + e])), "#111");
    chart.legend.textContent += "; black: the gait";
  }

  /* The legend of colours. */
  bar(canvas, to, range, colour) {
    const c = to.c, x = canvas.width - 96, step = curvebody.nice((range[1] - range[0]) / 4), y = v => to.top + (1 - (v - range[0]) / (range[1] - range[0])) * to.h;
    for (let i = 0; i < to.h; i++) {
      c.fillStyle = colour(range[0] + (i + 0.5) / to.h * (range[1] - range[0]));
      c.fillRect(x, to.top + to.h - i - 1, 16, 1.5);
    }
    c.fillStyle = c.strokeStyle = "#444";
    c.strokeRect(x, to.top, 16, to.h);
    c.textAlign = "left", c.textBaseline = "middle";
    for (let i = Math.ceil(range[0] / step - 1e-9); i * step <= range[1] + 1e-9 * step; i++) c.fillText(curvebody.round(i * step, step), x + 20, y(i * step));
  }

  line(to, points, colour, width) {
    const c = to.c;
    c.strokeStyle = colour;
    c.lineWidth = width || 1.5;
    c.beginPath();
    points.forEach((p, i) => i ? c.lineTo(to.x(p[0]), to.y(p[1])) : c.moveTo(to.x(p[0]), to.y(p[1])));
    c.stroke();
  }

  /* --- gaits as closed curves in the plane of the first two shape variables --- */

  loops(chart) {
    const {array, plan, canvas} = chart, all = this.combinations(plan.curves), every = Math.ceil(all.length / 12), names = this.scales.get("variable").texts;
    const kept = all.filter((_, i) => i % every === 0 || i === all.length - 1), n = this.count("time");
    const loops = kept.map(index => ({index, points: Array.from({length: n}, (_, k) => [0, 1].map(v => curvebody.Charts.at(array, {...index, time: k, variable: v})))}))
      .filter(l => l.points.every(p => p.every(isFinite)));
    const range = e => { const v = loops.flatMap(l => l.points.map(p => p[e])), a = Math.min(...v), b = Math.max(...v), m = (b - a) / 20 || 0.5; return [a - m, b + m]; };
    const unit = curvebody.Charts.unit(array), to = this.frame(canvas, range(0), range(1), [0, 1].map(e => `${names[e]} (${unit})`), 20);
    to.axes();
    loops.forEach((l, i) => this.line(to, l.points, curvebody.colours[i % curvebody.colours.length]));
    chart.names = loops.map(l => this.member(l.index, plan.curves) || array.name);
    this.legend(chart, chart.names, unit);
    if (kept.length < all.length) chart.legend.append(`(${kept.length} of ${all.length} gaits)`);
  }

  /* The name of a member of a family by the number that varies. */
  member(index, dims) {
    return dims.map(d => { const c = this.coordinate(d), name = c && c.doc && c.name === "varied" ? c.doc : c ? c.name : d; return `${name} ${+this.values(d)[index[d]].toPrecision(4)}`; }).join(", ");
  }
};

/* The colour of a share from 0 to 1: blue, white, red for values of both signs; otherwise from pale yellow to dark blue. */
curvebody.heat = function (share, signed) {
  const stops = signed ? [[33, 102, 172], [247, 247, 247], [178, 24, 43]] : [[255, 255, 204], [65, 182, 196], [12, 44, 132]];
  const s = Math.max(0, Math.min(1, share)) * 2, i = Math.min(1, Math.floor(s)), f = s - i;
  return `rgb(${stops[i].map((v, e) => Math.round(v + (stops[i + 1][e] - v) * f)).join()})`;
};
