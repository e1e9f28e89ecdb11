/* Plots of observables over time. Each plot is made when it is opened. */
"use strict";

curvebody.Plots = class {
  constructor(page, element, goTo) {
    this.page = page;
    this.element = element;
    this.goTo = goTo;
    this.open = [];
    this.time = 0;
    const ofJoint = s => /^(angle|rate|effort)$/.test(s.name); // what a user of joints looks for comes first
    const sorted = [...page.series.filter(ofJoint), ...page.series.filter(s => !ofJoint(s))];
    const first = sorted.filter(s => !/^(solver|step_size)/.test(s.name)).slice(0, 3);
    for (const series of sorted) this.put(series, first.includes(series));
  }

  put(series, open) {
    const box = document.createElement("details"), title = document.createElement("summary");
    title.textContent = series.name.replaceAll("_", " ") + (series.units && series.units !== "1" ? " (" + series.units + ")" : "");
    box.append(title);
    box.dataset.name = series.name;
    box.addEventListener("toggle", () => { if (box.open) this.make(series, box); });
    this.element.append(box);
    box.open = open;
  }

  make(series, box) {
    if (box.made) return;
    box.made = true;
    const bar = document.createElement("label"), from = document.createElement("input"), graph = document.createElement("div");
    const value = document.createElement("output");
    from.type = "checkbox";
    from.checked = /energy$/.test(series.name) && !/^(kinetic|potential|body)/.test(series.name) || this.isNearlyConstant(series);
    bar.append(from, " change since the start ", value);
    graph.className = "graph";
    box.append(bar, graph);
    const made = {series, value, from, graph, box};
    made.graph = new Dygraph(graph, this.rows(series, from.checked), {
      labels: ["time", ...this.labels(series)], legend: "follow", digitsAfterDecimal: 8, connectSeparatedPoints: true,
      colors: curvebody.colours, strokeWidth: 1.5, axisLineColor: "#888", gridLineColor: "#ddd", xlabel: "",
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

  /* Whether each column varies by less than a millionth of the largest value, so that an axis could not show it. */
  isNearlyConstant(series) {
    const m = series.labels.length, v = series.value.data;
    let most = 0, range = 0;
    for (let c = 0; c < m; c++) {
      let low = Infinity, high = -Infinity;
      for (let i = c; i < v.length; i += m) if (isFinite(v[i])) low = Math.min(low, v[i]), high = Math.max(high, v[i]);
      if (low <= high) most = Math.max(most, Math.abs(low), Math.abs(high)), range = Math.max(range, high - low);
    }
    return range > 0 && range < 1e-6 * most;
  }

  /* Labels without duplicate names. */
  labels(series) {
    return series.labels.map((l, i) => series.labels.indexOf(l) === i ? l || series.name : l + " #" + i);
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
    return Array.from({length: m}, (_, c) => curvebody.exact(change ? v[i * m + c] - v[c] : v[i * m + c])).join(", ");
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
