/* What tells the reader what a picture shows: the frame of the picture, axes with numbers, a scale bar and a caption.
 *
 * A camera looks from the direction d at the distance `far` to the point t. A point p has the depth far - (p - t).d and
 * the position (p - t).r / (depth a h), (p - t).u / (depth h) in the picture, from -1 to 1. r and u point to the right
 * and up, h is the tangent of half the angle of view, and a the width of the picture divided by its height. Lengths are
 * in plot coordinates.
 */
"use strict";

curvebody.fieldOfView = 45;

curvebody.Guides = class {
  constructor(scene, element) {
    this.scene = scene;
    this.element = element;
  }

  static dot(a, b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

  static axes(yaw, pitch) {
    const d = [Math.cos(pitch) * Math.cos(yaw), Math.cos(pitch) * Math.sin(yaw), Math.sin(pitch)], r = [-Math.sin(yaw), Math.cos(yaw), 0];
    return {d, r, u: [d[1] * r[2] - d[2] * r[1], d[2] * r[0] - d[0] * r[2], d[0] * r[1] - d[1] * r[0]]};
  }

  /* The rectangle of the points in the picture: [left, right, bottom, top], from -1 to 1. */
  static rectangle(points, camera) {
    const {dot} = curvebody.Guides, h = Math.tan(curvebody.fieldOfView * Math.PI / 360), out = [Infinity, -Infinity, Infinity, -Infinity];
    for (const p of points) {
      const q = p.map((c, i) => c - camera.t[i]), depth = Math.max(camera.far - dot(q, camera.d), 1e-3 * camera.far);
      const x = dot(q, camera.r) / (depth * h * camera.aspect), y = dot(q, camera.u) / (depth * h);
      out[0] = Math.min(out[0], x), out[1] = Math.max(out[1], x), out[2] = Math.min(out[2], y), out[3] = Math.max(out[3], y);
    }
    return out;
  }

  /* The share of the width or the height of the picture that the points fill, whichever is larger. */
  static share(points, camera) {
    const [a, b, c, d] = curvebody.Guides.rectangle(points, camera);
    return Math.max(b - a, d - c) / 2;
  }

  /* The camera that shows the points in the middle of the picture so that they fill `share` of it. least: the smallest
   * distance of the camera, for points that coincide. */
  static fit(points, share, yaw, pitch, aspect, least) {
    const G = curvebody.Guides, camera = {...G.axes(yaw, pitch), aspect, t: [0, 0, 0], far: least}, box = curvebody.box(points);
    if (!box) return {...camera, far: 2.9, box: {low: [-1, -1, -1], high: [1, 1, 1]}};
    camera.t = box.low.map((c, i) => (c + box.high[i]) / 2);
    const size = Math.hypot(...box.low.map((c, i) => c - box.high[i]));
    camera.far = Math.max(least, 4 * size);
    const h = Math.tan(curvebody.fieldOfView * Math.PI / 360);
    for (let turn = 0; turn < 20; turn++) {
      const [a, b, c, d] = G.rectangle(points, camera), x = (a + b) / 2 * camera.far * h * aspect, y = (c + d) / 2 * camera.far * h;
      camera.t = camera.t.map((v, i) => v + x * camera.r[i] + y * camera.u[i]);
      camera.far = Math.max(least, size, camera.far * Math.max(0.3, Math.max(b - a, d - c) / 2 / share));
    }
    return {...camera, box};
  }

  /* Two opposite corners of the box along whose edges the axes are drawn: what is framed, with a margin. flat: the box is
   * a rectangle. */
  static ends(box, flat) {
    const most = Math.max(...box.high.map((h, i) => h - box.low[i])), z = (box.low[2] + box.high[2]) / 2;
    return [box.low.map((v, i) => i === 2 && flat ? z : v - 0.08 * most), box.high.map((v, i) => i === 2 && flat ? z : v + 0.08 * most)];
  }

  /* Moves the camera away until the box of the axes is in the picture, with space for numbers. */
  static enclose(camera, flat) {
    const ends = curvebody.Guides.ends(camera.box, flat), corners = Array.from({length: 8}, (_, c) => [0, 1, 2].map(e => ends[c >> e & 1][e]));
    for (let turn = 0; turn < 12 && curvebody.Guides.rectangle(corners, camera).some(v => Math.abs(v) > 0.9); turn++) camera.far *= 1.08;
  }

  /* The name of the coordinates in which the scene is drawn. */
  caption(view) {
    const s = this.scene.space, told = this.scene.page.space;
    if (view.name !== "outside") return "view from inside the space: light follows geodesics";
    const name = told.name === "plot" ? `plot coordinates x, y, z of ${told.of && told.of !== "metric" ? told.of : "the scenario"}`
                 : !s.K ? `coordinates ${["x", "y", "z"].slice(0, s.dim).join(", ")}`
                 : s.plot === "embedding" ? (s.dim === 2 ? (s.K > 0 ? "sphere in coordinates x, y, z" : "hyperboloid in coordinates x, y, w") : "coordinates of the embedding")
                 : (s.K < 0 ? (s.curved === 3 ? "Poincaré ball" : "Poincaré disc") : "stereographic projection") + (s.flat ? " × line" : "");
    return name + (view.follow === null ? "" : `, ${this.scene.frames.followed()[view.follow]} in the centre`);
  }

  /* The length on the screen of one unit of true length at the point t; in other plots one unit of plot coordinates. */
  trueLength(t) {
    const s = this.scene.space, ball = s.K && s.plot !== "embedding" && this.scene.page.space.name !== "plot";
    if (!ball) return 1;
    const square = Math.min(0.9 * s.R * s.R, t.slice(0, s.curved).reduce((sum, c) => sum + c * c, 0));
    return (1 + s.K * (s.K < 0 ? square : Math.min(square, 4 * s.R * s.R))) / 2;
  }

  draw(camera, view, unit) {
    const c = this.element.getContext("2d"), ratio = this.element.width / (this.element.clientWidth || this.element.width);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.size = {x: this.element.width / ratio, y: this.element.height / ratio};
    c.clearRect(0, 0, this.size.x, this.size.y);
    c.font = "11px system-ui, sans-serif";
    c.lineWidth = 1;
    this.marks = [];
    if (view.name !== "outside" || !camera.box) return;
    c.strokeStyle = c.fillStyle = "#667";
    this.taken = [];
    this.putScale(c, camera, unit);
    this.putAxes(c, camera, unit);
  }

  pixel(p, camera) {
    const {dot} = curvebody.Guides, h = Math.tan(curvebody.fieldOfView * Math.PI / 360), q = p.map((c, i) => c - camera.t[i]), depth = camera.far - dot(q, camera.d);
    if (!(depth > 1e-2 * camera.far)) return null;
    return [this.size.x / 2 * (1 + dot(q, camera.r) / (depth * h * camera.aspect)), this.size.y / 2 * (1 - dot(q, camera.u) / (depth * h))];
  }

  /* The ends of the edge of the box along which axis e is drawn: the lowest edge in the picture, and for z the leftmost
   * one, so that no axis crosses the objects. */
  edge(e, from, to, flat, camera) {
    let best = null, least = Infinity;
    for (let corner = 0; corner < (flat ? 2 : 4); corner++) {
      const a = from.slice(), others = [0, 1, 2].filter(i => i !== e);
      others.forEach((i, bit) => { if (corner >> bit & 1) a[i] = to[i]; });
      const b = a.slice();
      b[e] = to[e];
      const p = this.pixel(a, camera), q = this.pixel(b, camera);
      if (!p || !q) continue;
      const rank = e === 2 || flat && e === 1 ? p[0] + q[0] : -p[1] - q[1];
      if (rank < least - 1) least = rank, best = [a, b];
    }
    return best;
  }

  /* Axes along three edges of a box around what is framed, with numbers. The space of all names is reserved first. */
  putAxes(c, camera, unit) {
    const flat = camera.box.low[2] === camera.box.high[2] || this.planar, [from, to] = curvebody.Guides.ends(camera.box, flat);
    const names = this.scene.space.plot === "embedding" && this.scene.space.K < 0 ? ["x", "y", "w"] : ["x", "y", "z"], axes = [];
    for (let e = 0; e < (flat ? 2 : 3); e++) {
      const edge = this.edge(e, from, to, flat, camera), axis = edge && this.axis(edge, e, camera, names[e] + (unit ? ` (${unit})` : ""));
      if (!axis) continue;
      axes.push(axis);
      for (let turn = 0; turn < 3 && this.isTaken(this.rectangle(c, axis.name, axis.at)); turn++) axis.at = axis.at.map((v, i) => v + 14 * axis.out[i]);
      this.taken.push(this.rectangle(c, axis.name, axis.at));
    }
    for (const axis of axes) this.putAxis(c, camera, axis);
  }

  /* The axis e along an edge: its ends a and b in pixels, the direction `out` of its numbers, and the position of its
   * name. null: the axis is too short. */
  axis(edge, e, camera, name) {
    const [from, to] = edge, a = this.pixel(from, camera), b = this.pixel(to, camera), size = Math.hypot(b[0] - a[0], b[1] - a[1]);
    if (size < 25) return null;
    const side = [a[1] - b[1], b[0] - a[0]].map(v => v / size), centre = this.pixel(camera.t, camera) || [0, 0];
    const sign = Math.sign(side[0] * (a[0] + b[0] - 2 * centre[0]) + side[1] * (a[1] + b[1] - 2 * centre[1])) || 1, out = side.map(v => sign * v);
    return {e, from, to, a, b, size, out, name, at: [0, 1].map(i => b[i] + (i ? 10 : 12) * out[i] + 8 * (b[i] - a[i]) / size)};
  }

  putAxis(c, camera, {e, from, to, a, b, size, out, name, at}) {
    const step = curvebody.nice((to[e] - from[e]) / Math.max(1, Math.min(4, size / 50)));
    this.stroke(c, a, b);
    for (let i = Math.ceil(from[e] / step); i * step <= to[e] && step > 0; i++) {
      const tick = from.slice();
      tick[e] = i * step;
      const p = this.pixel(tick, camera), text = curvebody.round(i * step, step);
      if (!p || p.some((v, i) => !(v > 0 && v < (i ? this.size.y : this.size.x)))) continue;
      const number = [p[0] + 17 * out[0], p[1] + 12 * out[1]], space = this.rectangle(c, text, number);
      if (this.isTaken(space)) continue;
      this.taken.push(space);
      this.stroke(c, p, [p[0] + 5 * out[0], p[1] + 5 * out[1]]);
      this.text(c, text, number);
    }
    this.text(c, name, at);
    this.marks.push(name);
  }

  stroke(c, a, b) {
    c.beginPath();
    c.moveTo(...a);
    c.lineTo(...b);
    c.stroke();
  }

  /* The middle of a text at the position `at`, moved into the picture. */
  middle(c, text, at) {
    const half = 4 + c.measureText(text).width / 2;
    return [Math.max(half, Math.min(this.size.x - half, at[0])), Math.max(8, Math.min(this.size.y - 8, at[1]))];
  }

  /* The rectangle of a text: left, right, top, bottom. */
  rectangle(c, text, at) {
    const [x, y] = this.middle(c, text, at), half = 3 + c.measureText(text).width / 2;
    return [x - half, x + half, y - 7, y + 7];
  }

  isTaken(space) { return this.taken.some(r => r[0] < space[1] && space[0] < r[1] && r[2] < space[3] && space[2] < r[3]); }

  text(c, text, at) {
    c.textAlign = "center", c.textBaseline = "middle";
    c.fillText(text, ...this.middle(c, text, at));
  }

  putScale(c, camera, unit) {
    const h = Math.tan(curvebody.fieldOfView * Math.PI / 360), pixels = this.size.y / (2 * h * camera.far) * this.trueLength(camera.t);
    const length = curvebody.nice(90 / pixels), x = this.size.x - 12 - length * pixels, y = 26;
    c.lineWidth = 2;
    this.stroke(c, [x, y], [x + length * pixels, y]);
    c.lineWidth = 1;
    c.textAlign = "right", c.textBaseline = "bottom";
    this.scale = curvebody.round(length, length) + (unit ? " " + unit : "") + (this.trueLength([0, 0, 0]) !== 1 ? ", in the middle" : "");
    c.fillText(this.scale, this.size.x - 12, y - 4);
    this.taken.push([this.size.x - 14 - Math.max(length * pixels, c.measureText(this.scale).width), this.size.x, 0, y + 3]);
  }
};

curvebody.box = function (points) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (const p of points) for (let e = 0; e < 3; e++) low[e] = Math.min(low[e], p[e]), high[e] = Math.max(high[e], p[e]);
  return low[0] <= high[0] ? {low, high} : null;
};

/* The largest of 1, 2 and 5 times a power of ten that is at most v. */
curvebody.nice = function (v) {
  const power = 10 ** Math.floor(Math.log10(v)), first = v / power;
  return (first >= 5 ? 5 : first >= 2 ? 2 : 1) * power;
};

/* The text of a multiple of step. */
curvebody.round = (v, step) => Math.abs(v) < step / 2 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(Math.max(0, Math.min(6, Math.floor(Math.log10(Math.abs(v)) - Math.log10(step) + 1e-9))))
                                                     : v.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
