/* The shape space of a gait: the curvature as a coloured map, with the cycle and the moving point on it. */
"use strict";

curvebody.Shapes = class {
  constructor(page, element) {
    this.told = page.shapes;
    this.axis = this.greatest();
    const canvas = this.canvas = document.createElement("canvas"), choice = document.createElement("select"), box = document.createElement("section");
    canvas.width = canvas.height = 300;
    this.told.axis.forEach((name, i) => choice.append(new Option("curvature, " + name, i)));
    choice.addEventListener("change", () => { this.axis = +choice.value; this.map = null; this.draw(this.k); });
    choice.value = this.axis;
    if (this.told.curvature) box.append(choice);
    box.append(canvas, this.caption = document.createElement("p"));
    element.append(box);
    this.k = 0;
  }

  /* The axis with the largest curvature. */
  greatest() {
    if (!this.told.curvature) return 0;
    const n = this.told.axis.length, sum = new Array(n).fill(0);
    this.told.curvature.data.forEach((v, i) => { if (isFinite(v)) sum[i % n] += Math.abs(v); });
    return sum.indexOf(Math.max(...sum));
  }

  box() {
    if (this.told.window) { const w = this.told.window.data; return [w[0], w[1], w[2], w[3]]; }
    const n = this.told.variable.length, d = this.told.shape.data, count = d.length / n;
    let low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (let i = 0; i < count; i++)
      for (let v = 0; v < 2; v++) {
        const value = n > 1 ? d[i * n + v] : v ? d[i] : i;
        low[v] = Math.min(low[v], value), high[v] = Math.max(high[v], value);
      }
    for (let e = 0; e < 2; e++) {
      const margin = high[e] > low[e] ? (high[e] - low[e]) / 20 : 0.5;
      if (n > 1 || e) low[e] -= margin, high[e] += margin;
      else high[e] += low[e] === high[e];
    }
    return [low[0], high[0], low[1], high[1]];
  }

  /* The meaning of the axes and the colours. */
  describe() {
    const v = this.told.variable, [a, b, c, d] = this.box().map(x => String(+x.toPrecision(3)));
    if (v.length === 1) return `${v[0]} over time, from ${c} to ${d}`;
    const colours = this.map ? `; red is ${+this.most.toPrecision(3)} or more, blue ${-this.most.toPrecision(3)} or less` : "";
    return `${v[0]} across, from ${a} to ${b}; ${v[1]} up, from ${c} to ${d}${colours}`;
  }

  to(x, y) {
    const [a, b, c, d] = this.box();
    return [(x - a) / (b - a) * this.canvas.width, (1 - (y - c) / (d - c)) * this.canvas.height];
  }

  makeMap() {
    const [n0, n1, dim] = this.told.curvature.shape, data = this.told.curvature.data, image = new ImageData(n0, n1);
    let most = 0;
    const all = [];
    for (let i = 0; i < n0 * n1; i++) if (isFinite(data[i * dim + this.axis])) all.push(Math.abs(data[i * dim + this.axis]));
    all.sort((a, b) => a - b);
    this.most = most = all[Math.floor(0.97 * (all.length - 1))] || 1; /* so that a pole does not take the complete colour range */
    for (let i = 0; i < n0; i++)
      for (let j = 0; j < n1; j++) {
        const v = data[(i * n1 + j) * dim + this.axis], at = 4 * ((n1 - 1 - j) * n0 + i), s = Math.max(-1, Math.min(1, v / most));
        const full = s > 0 ? [178, 24, 43] : [33, 102, 172], p = Math.abs(s) || 0;
        for (let e = 0; e < 3; e++) image.data[at + e] = isFinite(v) ? 247 + (full[e] - 247) * p : 160;
        image.data[at + 3] = 255;
      }
    const canvas = document.createElement("canvas");
    canvas.width = n0, canvas.height = n1;
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  }

  draw(k) {
    this.k = k;
    const c = this.canvas.getContext("2d"), n = this.told.variable.length, d = this.told.shape.data;
    c.fillStyle = "#fff";
    c.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.told.curvature) {
      this.map = this.map || this.makeMap();
      c.imageSmoothingEnabled = true;
      c.drawImage(this.map, 0, 0, this.canvas.width, this.canvas.height);
    }
    const told = this.describe();
    if (this.caption.textContent !== told) this.caption.textContent = told;
    const line = (data, count, width, colour) => {
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.beginPath();
      for (let i = 0; i < count; i++) {
        const [x, y] = n > 1 ? this.to(data[i * n], data[i * n + 1]) : this.to(i, data[i]);
        i ? c.lineTo(x, y) : c.moveTo(x, y);
      }
      c.stroke();
    };
    if (this.told.cycle && n > 1) line(this.told.cycle.data, this.told.cycle.shape[0], 2, "#222");
    else line(d, d.length / n, 1.5, "#222");
    const [x, y] = n > 1 ? this.to(d[k * n], d[k * n + 1]) : this.to(k, d[k]);
    c.fillStyle = "#e69f00";
    c.strokeStyle = "#000";
    c.beginPath();
    c.arc(x, y, 6, 0, 7);
    c.fill();
    c.stroke();
  }
};
