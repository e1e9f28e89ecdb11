/* The data of the page: unpacks arrays, and gives the positions of everything at a frame. */
"use strict";

/* {"array": ..} anywhere in the page becomes {data, shape}. */
curvebody.unpackAll = async function (node, unpacked) {
  if (node === null || typeof node !== "object") return node;
  if (node.array !== undefined) return {data: curvebody.numbers(await unpacked("array" + node.array), node.type), shape: node.shape};
  for (const key of Object.keys(node)) node[key] = await curvebody.unpackAll(node[key], unpacked);
  return node;
};

curvebody.numbers = function (bytes, type) {
  const size = type === "f8" ? 8 : 4, n = bytes.length / size, out = new Uint8Array(bytes.length);
  for (let k = 0; k < size; k++) for (let i = 0; i < n; i++) out[i * size + k] = bytes[k * n + i];
  return new {f4: Float32Array, f8: Float64Array, i4: Int32Array}[type](out.buffer);
};

curvebody.Frames = class {
  constructor(page) {
    this.page = page;
    this.space = new curvebody.Space(page.space);
    this.time = page.time.data;
    this.count = this.time.length;
    this.of = page.particles || page.bodies;
    this.leads = this.of && this.of.lead ? this.of.lead.shape[1] : 0;
  }

  /* The last frame at or before t. */
  at(t) {
    let low = 0, high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.time[middle] <= t) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  /* The moving frame of body or component c at frame k of the page: its origin, and its isometry relative to this
   * origin. */
  carried(k, c) {
    const at = (k * this.leads + Math.min(c, this.leads - 1)) * 16;
    return {origin: this.space.origin(this.of.lead.data, at), m: Array.from(this.of.carry.data.subarray(at, at + 16))};
  }

  /* The axes of body b at frame k of the page, as an isometry in the moving frame of the body. */
  turn(k, b) {
    const at = (k * this.leads + b) * 9;
    return this.space.turn(this.page.bodies.turn.data.subarray(at, at + 9));
  }

  /* A moving frame as an isometry relative to the eye, which is also given as a frame. */
  seen(eye, frame) {
    const s = this.space, relative = s.originMatrix(s.relative(eye.origin, frame.origin));
    return s.multiply(s.multiply(s.inverse(eye.m), relative), frame.m);
  }

  frameOf(particle) {
    const of = this.page.particles.frame_of;
    return of && this.leads > 1 ? of.data[particle] : 0;
  }

  place(k, particle) {
    const place = this.page.particles.place, n = place.shape[1], stride = place.shape[2];
    return this.space.point(place.data, (k * n + particle) * stride, stride);
  }

  /* The arms of particle i at frame k: the points that `plot` of the scenario has before the particle. */
  arms(k, i) {
    if (!this.page.particles.arms) return [];
    const {data, shape} = this.page.particles.arms, n = shape[1] / this.page.particles.count;
    return Array.from({length: n}, (_, a) => { const from = 3 * (k * shape[1] + i * n + a); return [data[from], data[from + 1], data[from + 2], 1]; });
  }

  /* The names of the bodies or components that can be followed. */
  followed() {
    const p = this.page.particles, b = this.page.bodies;
    if (b) return b.name || Array.from({length: b.count}, (_, i) => "body " + i);
    if (!p) return [];
    if (this.leads > 1 || !this.many()) return Array.from({length: this.leads}, (_, c) => this.nameOf(c));
    return Array.from({length: Math.min(p.count, 1000)}, (_, i) => p.name ? p.name[i] : "particle " + i);
  }

  many() { return this.leads === 1 && this.page.particles && this.page.particles.components > 64; }

  nameOf(c) {
    const p = this.page.particles, body = p.body_name;
    if (!body) return "all";
    if (this.leads === 1) return body.length === 1 ? body[0] : "all";
    for (let i = 0; i < p.count; i++)
      if (this.frameOf(i) === c) return p.body ? body[p.body.data[i]] : "part " + c;
    return "part " + c;
  }

  /* The moving frame of the followed object: that of a body or component, or, if there are many particles, the common
   * frame moved to particle `which`. */
  follow(k, which) {
    if (!this.many()) return this.carried(k, which);
    const frame = this.carried(k, 0);
    return {origin: frame.origin, m: this.space.multiply(frame.m, this.space.to(this.place(k, which)))};
  }

  /* The size of the moving objects: the greatest distance of their points from the centre; for a single point a tenth
   * of its path. Sets also `pointlike`: the objects have no size, and `balls`: they are single particles
   * or round. */
  size() {
    if (this.known) return this.known;
    let most = 0;
    const s = this.space, p = this.page.particles, b = this.page.bodies;
    if (p && this.count) {
      const steps = Math.max(1, Math.floor(this.count / 20));
      for (let k = 0; k < this.count; k += steps)
        for (let i = 0; i < p.count; i += Math.max(1, Math.floor(p.count / 200))) {
          const x = this.place(k, i), d = Math.hypot(...s.log(x)) + (p.radius ? p.radius.data[i] : 0);
          if (isFinite(d)) most = Math.max(most, d);
          for (const arm of this.arms(k, i)) most = Math.max(most, Math.hypot(...x.slice(0, 3).map((c, e) => c - arm[e])));
          if (k === 0) this.first = most;
        }
    }
    for (const surface of b ? b.surfaces : []) {
      const x = surface.vertex.data;
      for (let i = 0; i < x.length; i += 3) most = Math.max(most, Math.hypot(x[i], x[i + 1], x[i + 2]));
    }
    const way = this.way();
    this.balls = p ? !p.arms && !p.bond_i.data.length : !!b && b.surfaces.length > 0 && b.surfaces.every(q => this.isBall(q.vertex.data));
    this.pointlike = !(most > 1e-9 * way); /* a size that is only round-off counts as 0 */
    return this.known = (this.pointlike ? 0.1 * way : most) || 1;
  }

  /* Whether all vertices have nearly the same distance from the centre. */
  isBall(x) {
    let low = Infinity, high = 0;
    for (let i = 0; i < x.length; i += 3) {
      const d = Math.hypot(x[i], x[i + 1], x[i + 2]);
      low = Math.min(low, d), high = Math.max(high, d);
    }
    return low > 0.98 * high;
  }

  /* Half of the length of the longest body at the start. */
  half() {
    if (this.longest === undefined) {
      this.longest = 0;
      for (const {vertex, frames} of this.page.bodies ? this.page.bodies.surfaces : [])
        for (let e = 0; e < 3; e++) {
          let low = Infinity, high = -Infinity;
          for (let i = e; i < 3 * vertex.shape[0] / frames; i += 3) low = Math.min(low, vertex.data[i]), high = Math.max(high, vertex.data[i]);
          this.longest = Math.max(this.longest, (high - low) / 2);
        }
    }
    return this.longest || this.size();
  }

  /* The greatest distance, at some hundred frames, of the centre of a body or component from the centre of the first
   * one at the start. */
  way() {
    const base = this.space.base(), of = (k, c) => { const f = this.carried(k, c); return [f.origin, this.space.apply(f.m, base)]; };
    let most = 0;
    for (let k = 0; k < this.count; k += Math.max(1, Math.floor(this.count / 200)))
      for (let c = 0; c < Math.min(this.leads, 50); c++) {
        const d = this.space.far(...of(0, 0), ...of(k, c)).length;
        if (isFinite(d)) most = Math.max(most, d);
      }
    return most;
  }
};
