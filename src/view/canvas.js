/* Draws a scene on a 2D canvas, like webgl.js, if there is no WebGL. */
"use strict";

curvebody.Canvas = class {
  constructor(scene, element) {
    this.scene = scene;
    this.element = element;
    this.context = element.getContext("2d");
    this.name = "2d";
  }

  /* The pixel and the depth of a point; null if it is behind the camera. */
  static project(camera, size, p) {
    const v = camera.matrixWorldInverse.elements, q = camera.projectionMatrix.elements;
    const at = (m, x, r) => m[r] * x[0] + m[4 + r] * x[1] + m[8 + r] * x[2] + m[12 + r];
    const e = [at(v, p, 0), at(v, p, 1), at(v, p, 2)], w = -e[2];
    if (!(w > camera.near)) return null;
    return {x: size.x * (0.5 + at(q, e, 0) / (2 * w)), y: size.y * (0.5 - at(q, e, 1) / (2 * w)), depth: w};
  }

  draw(built, camera, view) {
    const c = this.context, size = {x: this.element.width, y: this.element.height}, s = this.scene.space;
    const map = this.scene.map(view), project = p => curvebody.Canvas.project(camera, size, p), list = [];
    const images = view.name !== "outside" && s.K > 0 ? [false, true] : [false];
    c.fillStyle = "#ffffff";
    c.fillRect(0, 0, size.x, size.y);
    for (const second of images) {
      const shown = second ? x => s.log(x, true) : map;
      for (const ball of built.balls) this.putBall(ball, shown, project, list);
      for (const segment of built.segments) this.putLine(segment, shown, project, list);
      for (const surface of built.surfaces) this.putSurface(surface, shown, project, list);
    }
    if (built.landmarks) this.putLandmarks(built.landmarks, map, project, list);
    for (const axes of built.circles || []) this.putCircle(axes, project, list);
    list.sort((a, b) => b.depth - a.depth);
    for (const item of list) item.draw(c);
  }

  putBall(ball, shown, project, list) {
    const s = this.scene.space, centre = project(shown(s.apply(ball.m, s.base())));
    if (!centre) return;
    /* Plot coordinates map a ball to a ball with another centre, which is computed from the ends of 13 diameters. */
    const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (let i = 0; i < 26; i++) {
      const v = [i % 3 - 1, Math.floor(i / 3) % 3 - 1, Math.floor(i / 9) - 1];
      if (i === 13) v[0] = v[1] = v[2] = 1;
      const l = Math.hypot(...v), end = project(shown(s.apply(ball.m, s.exp(v.map(c => c * ball.radius / l)))));
      if (!end) continue;
      low[0] = Math.min(low[0], end.x), high[0] = Math.max(high[0], end.x);
      low[1] = Math.min(low[1], end.y), high[1] = Math.max(high[1], end.y);
    }
    const at = {x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, depth: centre.depth};
    const radius = Math.max(1.5, (high[0] - low[0]) / 2, (high[1] - low[1]) / 2);
    list.push({depth: at.depth, draw: c => {
      c.fillStyle = ball.colour;
      c.beginPath();
      c.arc(at.x, at.y, radius, 0, 7);
      c.fill();
    }});
  }

  putLine(segment, shown, project, list) {
    const s = this.scene.space;
    let last = null;
    if (segment.head) return this.putHead(segment, project(shown(segment.a)), project(shown(segment.b)), list);
    for (let i = 0; i <= segment.parts; i++) {
      const at = project(shown(s.between(segment.a, segment.b, segment.theta, i / segment.parts)));
      if (at && last) this.line(last, at, segment.colour, segment.width, list);
      last = at;
    }
  }

  putHead(segment, from, to, list) {
    if (!from || !to) return;
    const x = to.x - from.x, y = to.y - from.y, l = Math.hypot(x, y) || 1, u = segment.width / 2 / l;
    list.push({depth: (from.depth + to.depth) / 2, draw: c => {
      c.fillStyle = segment.colour;
      c.beginPath();
      c.moveTo(to.x, to.y);
      c.lineTo(from.x - u * y, from.y + u * x);
      c.lineTo(from.x + u * y, from.y - u * x);
      c.fill();
    }});
  }

  line(from, to, colour, width, list) {
    list.push({depth: (from.depth + to.depth) / 2, draw: c => {
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.beginPath();
      c.moveTo(from.x, from.y);
      c.lineTo(to.x, to.y);
      c.stroke();
    }});
  }

  putSurface(surface, shown, project, list) {
    const s = this.scene.space, n = surface.x.length / 4, place = [], rgb = curvebody.rgb(surface.colour);
    for (let i = 0; i < n; i++) {
      const p = shown(s.apply(surface.m, Array.from(surface.x.subarray(4 * i, 4 * i + 4))));
      place.push({p, at: project(p)});
    }
    for (let f = 0; f < surface.face.length; f += 3) {
      const [a, b, d] = [0, 1, 2].map(i => place[surface.face[f + i]]);
      if (!a.at || !b.at || !d.at) continue;
      const u = b.p.map((v, i) => v - a.p[i]), w = d.p.map((v, i) => v - a.p[i]);
      const normal = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
      const length = Math.hypot(...normal) || 1;
      const light = 0.45 + 0.55 * Math.abs(0.5 * normal[0] - 0.5 * normal[1] + 0.7 * normal[2]) / length;
      const colour = `rgb(${rgb.map(v => Math.round(255 * v * light)).join()})`;
      list.push({depth: (a.at.depth + b.at.depth + d.at.depth) / 3, draw: c => {
        c.fillStyle = c.strokeStyle = colour;
        c.lineWidth = 0.5;
        c.beginPath();
        c.moveTo(a.at.x, a.at.y);
        c.lineTo(b.at.x, b.at.y);
        c.lineTo(d.at.x, d.at.y);
        c.closePath();
        c.fill();
        c.stroke();
      }});
    }
  }

  putLandmarks(folded, map, project, list) {
    const s = this.scene.space, m = s.inverse(folded);
    for (const [a, b] of this.scene.marks().edges) {
      const p = s.apply(m, a), q = s.apply(m, b);
      this.putLine({a: p, b: q, theta: s.angle(a, b), colour: "#b9c4cf", width: 0.8, parts: s.K ? 4 : 1}, map, project, list);
    }
  }

  putCircle(axes, project, list) {
    let last = null;
    for (let i = 0; i <= 72; i++) {
      const p = [0, 0, 0];
      p[axes[0]] = this.scene.space.R * Math.cos(i * Math.PI / 36), p[axes[1]] = this.scene.space.R * Math.sin(i * Math.PI / 36);
      const at = project(p);
      if (at && last) this.line(last, at, "#cccccc", 1, list);
      last = at;
    }
  }
};
