/* Plots of observables over time: each has a title with its unit, and a legend with the name of each curve. Quantities
 * that show nothing, because they are zero, constant or round-off, are folded and say why. A plot is made when it is
 * opened. */
"use strict";

curvebody.Plots = class {
  constructor(page, element, goTo, frames) {
    this.page = page;
    this.element = element;
    this.goTo = goTo;
    this.open = [];
    this.time = 0;
    this.named(page.series);
    const ofJoint = s => /^(angle|rate|effort)$/.test(s.name); // what a user of joints looks for comes first
    const ofSolver = s => /^(solver|step_size|retr|multiplier|constraint)/.test(s.name);
    const why = new Map(page.series.map(s => [s, this.flat(s)])), path = this.path(frames);
    const all = page.series.filter(s => !why.get(s)), folded = page.series.filter(s => why.get(s));
    const still = s => this.isNearlyConstant(s); // what is conserved comes after what moves
    const others = all.filter(s => !ofJoint(s) && !ofSolver(s));
    const sorted = [...all.filter(ofJoint), ...others.filter(s => !still(s)), ...(path ? [path] : []), ...others.filter(still), ...all.filter(ofSolver)];
    const shown = sorted.filter(s => !ofSolver(s)), first = (shown.length ? shown : sorted).slice(0, frames && !frames.leads ? 6 : 3);
    for (const series of sorted) this.put(series, this.element, first.includes(series));
    if (folded.length) this.fold(folded, why);
  }

  /* The group of quantities that show nothing. */
  fold(folded, why) {
    const box = document.createElement("details"), title = document.createElement("summary");
    title.textContent = `${folded.length} ${folded.length === 1 ? "quantity" : "quantities"} without visible change`;
    box.className = "folded";
    box.append(title);
    this.element.append(box);
    for (const series of folded) this.put(series, box, false, why.get(series));
  }

  /* The names of curves: labels of the record; particles and the two ends of a bond by their names; or the name of the
   * series and a number. */
  named(all) {
    const p = this.page.particles, particle = i => p.name ? p.name[i] : "particle " + i;
    for (const s of all) {
      const first = (s.dims || [])[0], bonds = p && p.bond_i && s.labels.length === p.bond_i.data.length && first === "bond";
      s.curves = s.labels.map((l, i) => bonds && /^\d*$/.test(l) ? `${particle(p.bond_i.data[i])} to ${particle(p.bond_j.data[i])}`
                                      : p && first === "particle" && /^\d+( |$)/.test(l) ? l.replace(/^\d+/, particle)
                                      : /^[\d ]*$/.test(l) ? `${s.name} ${l}`.trim() : l).map(l => l.replaceAll("_", " "));
      s.curves = s.curves.map((l, i) => s.curves.indexOf(l) === i ? l : l + " #" + i); // without duplicates
    }
  }

  /* The path of the first moving object in plot coordinates, which exists in every record with positions. */
  path(frames) {
    if (!frames || !frames.leads || frames.count < 2 || frames.many()) return null;
    const s = frames.space, n = frames.count, value = new Float64Array(3 * n), still = s.noOrigin(), row = new Float64Array(n);
    for (let k = 0; k < n; k++) {
      const x = s.shown(s.apply(frames.seen({origin: still, m: s.identity()}, frames.carried(k, 0)), s.base()));
      value.set(x, 3 * k), row[k] = k;
    }
    const name = frames.followed()[0], of = name && name !== "all" ? " of " + name : "";
    const path = {name: "centre" + of + " in plot coordinates", units: this.page.length_units, row: {data: row}, time: {data: frames.time},
                  value: {data: value}, labels: ["x", "y", "z"], curves: ["x", "y", "z"]};
    return this.flat(path) ? null : path;
  }

  static unit(series) { return series.units && series.units !== "1" ? series.units : "no unit"; }

  /* The unit of curve i. A series with angular and linear parts has two units. */
  static unitOf(series, i) {
    if (series.unit) return series.unit[i];
    const curve = series.curves[i], unit = curvebody.Plots.unit(series), two = unit.split(", ");
    return two.length !== 2 ? unit : /\bangular\b/.test(curve) ? two[0] : /\blinear\b/.test(curve) ? two[1] : unit;
  }

  static title(series) {
    const one = series.unit && series.unit.every(u => u === series.unit[0]);
    return `${series.name.replaceAll("_", " ")} (${one ? series.unit[0] : curvebody.Plots.unit(series)})`;
  }

  put(series, to, open, why) {
    const box = document.createElement("details"), title = document.createElement("summary");
    title.textContent = curvebody.Plots.title(series) + (why ? ": " + why : "");
    box.append(title);
    box.dataset.name = series.name;
    box.addEventListener("toggle", () => { if (box.open) this.make(series, box); });
    to.append(box);
    box.open = open;
  }

  make(series, box) {
    if (box.made) return;
    box.made = true;
    const bar = document.createElement("label"), from = document.createElement("input"), graph = document.createElement("div");
    const value = document.createElement("output"), legend = document.createElement("p");
    from.type = "checkbox";
    from.checked = /energy$/.test(series.name) && !/^(kinetic|potential|body)/.test(series.name) || this.isNearlyConstant(series);
    bar.append(from, " change since the start ", value);
    graph.className = "graph";
    legend.className = "curves";
    box.append(bar, graph, legend);
    const made = {series, value, from, graph, box};
    series.curves.forEach((name, i) => {
      const mark = Object.assign(document.createElement("span"), {textContent: `— ${name} (${curvebody.Plots.unitOf(series, i)})`});
      mark.style.color = curvebody.colours[i % curvebody.colours.length];
      legend.append(mark, " ");
    });
    const time = this.page.time_units && this.page.time_units !== "1" ? `time (${this.page.time_units})` : "time";
    made.graph = new Dygraph(graph, this.rows(series, from.checked), {
      labels: ["time", ...series.curves], legend: "follow", digitsAfterDecimal: 8, connectSeparatedPoints: true,
      colors: curvebody.colours, strokeWidth: 1.5, axisLineColor: "#888", gridLineColor: "#ddd", xlabel: time,
      axes: {y: {axisLabelWidth: 82, axisLabelFormatter: (v, _, __, g) => curvebody.short(v, g.yAxisRange ? g.yAxisRange(0) : null), valueFormatter: v => curvebody.exact(v)}},
      highlightCircleSize: 3, drawPoints: series.row.data.length === 1, pointSize: 3,
      clickCallback: (event, x) => this.goTo(x),
      underlayCallback: (c, area, g) => {
        const x = g.toDomXCoord(this.time);
        c.strokeStyle = "#c33";
        c.beginPath();
        c.moveTo(x, area.y);
        c.lineTo(x, area.y + area.h);
        c.stroke();
      }
    });
    from.addEventListener("change", () => { made.graph.updateOptions({file: this.rows(series, from.checked)}); this.at(this.time); });
    this.open.push(made);
    this.at(this.time);
  }

  /* The smallest and greatest value of each column. */
  static ranges(series) {
    const m = series.labels.length, v = series.value.data, out = [];
    for (let c = 0; c < m; c++) {
      let low = Infinity, high = -Infinity;
      for (let i = c; i < v.length; i += m) if (isFinite(v[i])) low = Math.min(low, v[i]), high = Math.max(high, v[i]);
      out.push([low, high]);
    }
    return out;
  }

  /* The reason why a series shows nothing; "" if it shows something. A change is round-off if it is below 1e-12 of the
   * largest value of the series, or below 1e-14 of the largest value among all quantities with the same unit. */
  flat(series) {
    const ranges = curvebody.Plots.ranges(series).filter(r => r[0] <= r[1]);
    if (!ranges.length) return "no values";
    if (series.row.data.length < 2) return "";
    const most = Math.max(...ranges.map(r => Math.max(Math.abs(r[0]), Math.abs(r[1])))), range = Math.max(...ranges.map(r => r[1] - r[0]));
    if (most === 0) return "always zero";
    const values = ranges.length < 4 ? " " + ranges.map(r => +r[0].toPrecision(6)).join(", ") : "";
    if (range === 0) return "constant," + values;
    if (range < 1e-12 * most) return `constant,${values}${values ? "," : ""} up to round-off of ${range.toPrecision(2)}`;
    return most < 1e-14 * this.greatest(series.units) ? `round-off, at most ${most.toPrecision(2)}` : "";
  }

  /* The largest value of all quantities with this unit. */
  greatest(units) {
    this.known = this.known || new Map();
    if (!this.known.has(units)) {
      const all = this.page.series.filter(s => s.units === units && !/^(solver|retr)/.test(s.name)).flatMap(curvebody.Plots.ranges);
      this.known.set(units, all.reduce((a, r) => r[0] <= r[1] ? Math.max(a, Math.abs(r[0]), Math.abs(r[1])) : a, 0));
    }
    return this.known.get(units);
  }

  /* Whether each column varies by less than a millionth of the largest value, so that an axis could not show it. */
  isNearlyConstant(series) {
    const ranges = curvebody.Plots.ranges(series).filter(r => r[0] <= r[1]);
    const most = Math.max(0, ...ranges.map(r => Math.max(Math.abs(r[0]), Math.abs(r[1])))), range = Math.max(0, ...ranges.map(r => r[1] - r[0]));
    return range > 0 && range < 1e-6 * most;
  }

  rows(series, change) {
    const n = series.row.data.length, m = series.labels.length, out = [], v = series.value.data;
    for (let i = 0; i < n; i++) {
      const row = [series.time.data[i]];
      for (let c = 0; c < m; c++) {
        const value = change ? v[i * m + c] - v[c] : v[i * m + c];
        row.push(isFinite(value) ? value : series.sparse ? null : NaN); /* the line continues across null and is interrupted at nan */
      }
      out.push(row);
    }
    return out;
  }

  at(time) {
    this.time = time;
    for (const made of this.open) {
      if (!made.box.open) continue;
      made.value.textContent = this.valueAt(made.series, time, made.from.checked);
      made.graph.renderGraph_ ? made.graph.renderGraph_() : made.graph.updateOptions({});
    }
  }

  valueAt(series, time, change) {
    const t = series.time.data, m = series.labels.length, v = series.value.data;
    if (!t.length || m > 3) return "";
    let i = 0;
    while (i + 1 < t.length && t[i + 1] <= time) i++;
    return Array.from({length: m}, (_, c) => String(+(change ? v[i * m + c] - v[c] : v[i * m + c]).toPrecision(9))).join(", ");
  }
};

/* The text of a number at an axis, with the digits that are needed to distinguish the ends of the axis. */
curvebody.short = function (v, range) {
  const span = range ? Math.abs(range[1] - range[0]) : 0, most = range ? Math.max(Math.abs(range[0]), Math.abs(range[1])) : 0;
  const digits = span > 0 ? Math.min(15, Math.max(3, 2 + Math.ceil(Math.log10(most / span)))) : 6;
  if (v === 0 || Math.abs(v) < 1e-9 * span) return "0";
  return Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(2) : String(+v.toPrecision(digits));
};
curvebody.exact = v => String(v);
