/* The objects to be drawn at a frame, relative to the eye: balls, segments and surfaces.
 *
 * A ball is {m[16], radius, colour} with the isometry m to its centre. A segment is {a[4], b[4], theta, colour, width,
 * parts, head}: theta = space.angle(a, b), and the width of a head decreases to 0 at b. A surface is {m[16], x[],
 * face[], colour}. Points have the page's four numbers. canvas.js and webgl.js map the points by the plot coordinates
 * or by the logarithm at the eye.
 */
"use strict";

curvebody.colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7b68c8"];
curvebody.pale = c => "#" + [1, 3, 5].map(i => (255 + parseInt(c.slice(i, i + 2), 16) >> 1).toString(16).padStart(2, "0")).join("");
curvebody.rgb = c => [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16) / 255);

curvebody.Scene = class {
  constructor(page) {
    this.page = page;
    this.frames = new curvebody.Frames(page);
    this.space = this.frames.space;
    this.inside = this.space.dim === 3 && this.frames.leads > 0 && page.space.name !== "plot";
    this.drawn = {k: -1};
    this.surfaces = (page.bodies ? page.bodies.surfaces : []).map(s => this.surfaceOf(s));
  }

  surfaceOf(told) {
    const face = new Uint32Array(told.face.shape[0] * 3);
    for (let f = 0; f < told.face.shape[0]; f++) for (let i = 0; i < 3; i++) face[3 * f + i] = told.face.data[4 * f + i];
    return {told, face, n: told.vertex.shape[0] / told.frames, x: null, k: -1};
  }

  /* The vertices at a frame, in body axes, with four numbers each. */
  vertices(surface, k) {
    const frame = surface.told.frames > 1 ? k : 0;
    if (surface.k === frame) return surface.x;
    const x = surface.x = new Float32Array(4 * surface.n), from = surface.told.vertex.data, s = this.space;
    for (let i = 0; i < surface.n; i++) {
      const at = 3 * (frame * surface.n + i), y = s.exp([from[at], from[at + 1], from[at + 2]]);
      for (let e = 0; e < 4; e++) x[4 * i + e] = y[e];
    }
    surface.k = frame;
    return x;
  }

  /* The eye: the world or the followed frame, moved by the user's own steps `offset`. */
  eye(k, view, offset) {
    const s = this.space, follow = view.follow;
    if (!this.frames.leads || !this.frames.count) return {origin: s.noOrigin(), m: offset};
    if (view.name === "outside" && follow === null) return {origin: s.noOrigin(), m: s.identity()};
    const frame = this.frames.follow(follow === null ? 0 : k, follow === null ? 0 : Math.min(follow, this.most()));
    return {origin: frame.origin, m: s.multiply(frame.m, offset)};
  }

  most() { return Math.max(0, this.frames.followed().length - 1); }

  colour(i) { return curvebody.colours[i % curvebody.colours.length]; }

  build(k, eye, view) {
    const out = {balls: [], segments: [], surfaces: [], landmarks: null};
    if (!this.frames.count || !this.frames.leads) return out;
    const seen = this.seen(k, eye);
    this.riding = view.name === "ride" ? view.follow || 0 : null;
    if (this.page.particles) this.putParticles(k, seen, out, view);
    if (this.page.bodies) this.putBodies(k, seen, out, view);
    if (this.page.points) this.putPoints(k, eye, out);
    this.putPivots(k, eye, out);
    if (view.trail && this.frames.leads <= 40 && view.name !== "ride") this.putTrails(k, eye, out, view);
    if (view.name === "outside") this.putFrame(out, eye, view);
    else out.landmarks = curvebody.folded(this.space, this.marks(), eye);
    return out;
  }

  marks() { return this.known || (this.known = curvebody.landmarks(this.space, this.frames.size())); }

  /* The radius with which a particle is drawn: its own radius, or one that shows its mass. */
  radius(i) {
    const p = this.page.particles;
    if (p.radius && p.radius.data[i] > 0) return p.radius.data[i];
    if (this.largestMass === undefined) this.largestMass = p.mass ? p.mass.data.reduce((a, b) => Math.max(a, b), 0) : 0;
    const share = this.largestMass > 0 && p.mass.data[i] > 0 ? Math.max(0.6, Math.cbrt(p.mass.data[i] / this.largestMass)) : 1;
    if (this.frames.pointlike) return 0.25 * share * this.frames.size();
    const size = this.frames.size(), own = Math.sqrt(size * Math.max(this.frames.first, 0.02 * size)); /* between the sizes at the start and later */
    return (p.count > 200 ? 0.012 : p.count > 30 ? 0.03 : 0.06) * share * own;
  }

  /* Balls around the eye are left out, and in plot coordinates of a sphere balls around the point without plot
   * coordinates: they would surround everything. */
  putParticles(k, seen, out, view) {
    const p = this.page.particles, s = this.space, at = [], stereographic = s.K > 0 && s.dim === 3 && s.plot !== "embedding";
    for (let i = 0; i < p.count; i++) {
      const x = this.frames.place(k, i), m = seen[this.frames.frameOf(i)];
      at.push(x);
      if (!x.every(isFinite)) continue;
      const radius = this.radius(i), to = s.multiply(m, s.to(x));
      const far = Math.hypot(...s.log(s.apply(to, s.base())));
      if (view.name !== "outside" ? far < radius : stereographic && far + radius > 0.84 * Math.PI * s.R) continue;
      out.balls.push({m: to, radius, colour: this.colour(this.family(i)), particle: i});
    }
    if (p.arms) this.putArms(k, seen[0], at, out);
    const bonds = p.bond_i ? p.bond_i.data.length : 0, width = bonds > 500 ? 0.7 : bonds > 50 ? 1.5 : 3;
    for (let b = 0; b < bonds; b++) {
      const i = p.bond_i.data[b], j = p.bond_j.data[b], m = seen[this.frames.frameOf(i)];
      const colour = b < p.springs ? "#777777" : "#222222";
      if (p.bonds) { /* points on the bonds, which the program `curvebody view` has computed */
        const n = p.bonds.shape[2] / 3, from = 3 * n * (k * bonds + b), d = p.bonds.data;
        for (let q = 0; q + 1 < n; q++) {
          const a = [0, 1, 2].map(e => d[from + 3 * q + e]).concat(1), c = [0, 1, 2].map(e => d[from + 3 * q + 3 + e]).concat(1);
          out.segments.push({a: s.apply(m, a), b: s.apply(m, c), theta: 0, colour, width, parts: 1});
        }
      } else {
        out.segments.push({a: s.apply(m, at[i]), b: s.apply(m, at[j]), theta: s.angle(at[i], at[j]), colour, width,
                           parts: s.K && bonds < 3000 ? 12 : s.K ? 4 : 1, coil: b < p.springs && bonds < 60});
      }
    }
  }

  putArms(k, m, at, out) {
    for (let i = 0; i < at.length; i++) {
      const points = this.frames.arms(k, i).concat([at[i]]).map(x => this.space.apply(m, x));
      for (let a = 0; a + 1 < points.length; a++) {
        out.segments.push({a: points[a], b: points[a + 1], theta: 0, colour: "#222222", width: 3, parts: 1});
        out.balls.push({m: this.space.to(points[a]), radius: (a ? 0.6 : 0.35) * this.radius(i), colour: a ? this.colour(this.family(i)) : "#222222"});
      }
    }
  }

  /* The lines of the coordinates of a surface in plot coordinates, every fourth of the lattice. */
  putCoordinates(eye, out) {
    const {data, shape} = this.lattice, n = shape[0], world = this.world(eye);
    const at = (i, j) => { const from = 3 * (i * n + j); return [data[from], data[from + 1], data[from + 2], 1]; };
    for (let i = 0; i < n; i += 4)
      for (let j = 0; j + 1 < n; j++)
        for (const [a, b] of [[at(i, j), at(i, j + 1)], [at(j, i), at(j + 1, i)]])
          if (a.every(isFinite) && b.every(isFinite))
            out.segments.push({a: this.space.apply(world, a), b: this.space.apply(world, b), theta: 0, colour: "#cccccc", width: 0.8, parts: 1});
  }

  /* The place of point i relative to the eye. */
  point(k, i, world) {
    const p = this.page.points.place, at = 3 * (k * p.shape[1] + i);
    return this.space.apply(world, [p.data[at], p.data[at + 1], p.data[at + 2], 1]);
  }

  world(eye) { return this.frames.seen(eye, {origin: this.space.noOrigin(), m: this.space.identity()}); }

  /* Particles next to bodies, and the springs and rods between points. */
  putPoints(k, eye, out) {
    const p = this.page.points, s = this.space, world = this.world(eye), at = i => this.point(k, i, world);
    const radius = 0.04 * this.frames.size();
    for (let i = p.first; i < p.place.shape[1]; i++) {
      const x = at(i);
      if (x.every(isFinite)) out.balls.push({m: s.to(x), radius, colour: "#444444"});
    }
    for (let b = 0; b < p.bond_i.data.length; b++) {
      const a = at(p.bond_i.data[b]), c = at(p.bond_j.data[b]);
      if (a.every(isFinite) && c.every(isFinite))
        out.segments.push({a, b: c, theta: s.angle(a, c), colour: "#777777", width: 1.5, parts: 1});
    }
  }

  /* The rods from fixed points: pairs of the fixed point and the particle at its distance. */
  pivots(k, eye) {
    const told = this.page.pivots, s = this.space, world = told ? this.world(eye) : null, n = told ? told.of.data.length : 0;
    return Array.from({length: n}, (_, i) => {
      const of = told.of.data[i], a = s.apply(world, s.point(told.place.data, 4 * i, 4));
      if (!this.page.particles) return [a, this.point(k, of, world)];
      return [a, s.apply(this.frames.seen(eye, this.frames.carried(k, this.frames.frameOf(of))), this.frames.place(k, of))];
    });
  }

  putPivots(k, eye, out) {
    for (const [a, b] of this.pivots(k, eye)) {
      out.segments.push({a, b, theta: this.space.angle(a, b), colour: "#222222", width: 3, parts: this.space.K ? 12 : 1});
      out.balls.push({m: this.space.to(a), radius: 0.05 * this.frames.size(), colour: "#222222"});
    }
  }

  putBodies(k, seen, out, view) {
    const s = this.space, b = this.page.bodies, matrix = seen.map((m, i) => s.multiply(m, this.frames.turn(k, i)));
    for (const surface of this.surfaces) {
      const x = this.vertices(surface, k);
      for (let i = 0; i < surface.told.count; i++) {
        const body = surface.told.first + i;
        if (body === this.riding) continue;
        out.surfaces.push({m: matrix[body], x, face: surface.face, colour: this.colour(body), of: surface});
      }
    }
    if (!this.surfaces.length)
      for (let i = 0; i < b.count; i++) out.balls.push({m: matrix[i], radius: 0.1 * this.frames.size(), colour: this.colour(i)});
    if (!view.arrows || b.count > 40) return;
    b.forces.forEach((f, number) => {
      f.most = f.most || f.force.data.reduce((a, c) => Math.max(a, Math.abs(c)), 0);
      for (let i = 0; i < b.count; i++) {
        const v = [0, 1, 2].map(e => f.force.data[3 * (k * b.count + i) + e]), length = Math.hypot(...v);
        if (!(length > 1e-3 * f.most) || i === this.riding) continue;
        const scale = 1.1 * this.frames.half() / this.greatest(), tip = s.exp(v.map(c => c * scale));
        const colour = curvebody.colours[(number + 3) % curvebody.colours.length];
        const neck = s.exp(v.map(c => c * scale * Math.max(0, 1 - 0.16 * this.frames.half() / (length * scale))));
        const put = (a, b, width, parts, head) => out.segments.push({a: s.apply(matrix[i], a), b: s.apply(matrix[i], b),
                                                                     theta: s.angle(a, b), colour, width, parts, head});
        put(s.base(), neck, 2.5, s.K ? 8 : 1, false);
        put(neck, tip, 12, 1, true);
      }
    });
  }

  greatest() { return Math.max(...this.page.bodies.forces.map(f => f.most || f.force.data.reduce((a, c) => Math.max(a, Math.abs(c)), 0)), 1e-300); }

  /* The paths of particles, and of the centres of bodies: the part until now in the colour of the object. The rest is
   * pale, so that the first frame shows where the objects will go. With many particles there is one path for each
   * component. */
  putTrails(k, eye, out, view) {
    const s = this.space, p = this.page.particles, single = p && p.count <= 40, n = single ? p.count : this.frames.leads;
    const last = view.name === "outside" ? this.frames.count - 1 : k, step = Math.max(1, Math.ceil(last / Math.max(60, 3000 / n)));
    const at = [];
    for (let j = k % step; j <= last; j += step) at.push([j, this.seen(j, eye)]);
    for (let i = 0; i < n; i++) {
      const colour = p && !single ? "#999999" : this.colour(p ? this.family(i) : i), pale = curvebody.pale(colour);
      let before = null;
      for (const [j, seen] of at) {
        const x = single ? s.apply(seen[this.frames.frameOf(i)], this.frames.place(j, i)) : s.apply(seen[i], s.base());
        if (before && x.every(isFinite) && before.every(isFinite))
          out.segments.push({a: before, b: x, theta: s.angle(before, x), colour: j > k ? pale : colour, width: 1, parts: 1});
        before = x;
      }
    }
  }

  seen(k, eye) { return Array.from({length: this.frames.leads}, (_, c) => this.frames.seen(eye, this.frames.carried(k, c))); }

  /* The number of the colour of particle i: particles of one body have the same colour. */
  family(i) {
    const p = this.page.particles;
    return p.body && p.body.data[i] >= 0 ? p.body.data[i] : p.count > 8 ? 0 : i; /* -1: a particle next to bodies in a fluid */
  }

  /* The edge of a ball model and the equator of a stereographic projection, shown by great circles; the lines of a
   * surface that is drawn in three dimensions. */
  putFrame(out, eye, view) {
    const s = this.space, surface = s.K && s.dim === 2 && s.plot === "embedding";
    if (surface) this.putLattice(eye, out);
    else if (this.lattice) this.putCoordinates(eye, out);
    else if (view.edge) out.circles = s.curved === 3 ? [[0, 1], [1, 2], [0, 2]] : [[0, 1]];
  }

  /* Circles around the base point and the geodesics through it, up to the opposite point of a sphere. */
  putLattice(eye, out) {
    const s = this.space, world = this.world(eye), rings = s.K > 0 ? 6 : Math.max(2, Math.min(12, Math.ceil(2 * this.reach() / s.R)));
    const step = s.K > 0 ? Math.PI * s.R / rings : s.R / 2, fine = s.K > 0 ? 6 : 2;
    const at = (r, angle) => s.apply(world, s.exp([r * Math.cos(angle), r * Math.sin(angle), 0]));
    const put = (a, b) => out.segments.push({a, b, theta: 0, colour: "#dddddd", width: 0.8, parts: 1});
    for (let i = 0; i < 48; i++)
      for (let r = 1; r <= rings; r++) put(at(r * step, i * Math.PI / 24), at(r * step, (i + 1) * Math.PI / 24));
    for (let i = 0; i < 12; i++)
      for (let r = 0; r < rings * fine; r++) put(at(r * step / fine, i * Math.PI / 6), at((r + 1) * step / fine, i * Math.PI / 6));
  }

  /* The greatest distance of a moving object from the base point of the world. */
  reach() {
    if (this.far === undefined) {
      const world = {origin: this.space.noOrigin(), m: this.space.identity()};
      this.far = Math.min(6 * this.space.R, this.rows().reduce((most, k) => this.seen(k, world).reduce((a, m) =>
        Math.max(a, Math.hypot(...this.space.log(this.space.apply(m, this.space.base())))), most), 0) + this.frames.size());
    }
    return this.far;
  }

  /* Points of the moving objects at a frame, as vectors at the centre of the followed object: its own points and other
   * points. */
  around(k, which) {
    const s = this.space, out = {own: [], others: []}, base = s.base();
    const eye = this.frames.follow(k, which), p = this.page.particles, many = this.frames.many();
    for (let c = 0; c < Math.min(this.frames.leads, 200); c++) {
      const m = this.frames.seen(eye, this.frames.carried(k, c)), list = many || c !== which ? out.others : out.own;
      if (p) {
        for (let i = 0; i < p.count; i += Math.max(1, Math.floor(p.count / 400)))
          if (this.frames.frameOf(i) === c) list.push(s.log(s.apply(m, this.frames.place(k, i))));
      } else {
        const turned = s.multiply(m, this.frames.turn(k, c)), surface = this.surfaces.find(q => c >= q.told.first && c < q.told.first + q.told.count);
        const x = surface ? this.vertices(surface, k) : base;
        for (let i = 0; i < x.length; i += 4 * Math.max(1, Math.floor(x.length / 800))) list.push(s.log(s.apply(turned, Array.from(x.slice(i, i + 4)))));
      }
    }
    for (const key of ["own", "others"]) out[key] = out[key].filter(v => v.every(isFinite));
    return out;
  }

  /* The direction from which the camera looks at the object from the distance `away`: perpendicular to its length and
   * its width, with nothing in front. */
  bestSide(k, which, away) {
    const s = this.space, {own, others} = this.around(k, which), all = own.reduce((sum, v) => sum + Math.hypot(...v) ** 2, 0);
    let best = [0, 1, 0], most = -Infinity;
    for (let turn = 0; turn < 16; turn++)
      for (const up of [0, -0.35, 0.35, -0.8, 0.8]) {
        const yaw = Math.PI / 2 + turn * Math.PI / 8, d = [Math.cos(yaw) * Math.cos(up), Math.sin(yaw) * Math.cos(up), Math.sin(up)];
        const eye = s.exp(d.map(c => -c * away)), u = [-Math.sin(yaw), Math.cos(yaw), 0], w = [0, 1, 2].map(i => d[(i + 1) % 3] * u[(i + 2) % 3] - d[(i + 2) % 3] * u[(i + 1) % 3]);
        let uu = 0, uw = 0, ww = 0, clear = away;
        for (const v of own) {
          const a = v[0] * u[0] + v[1] * u[1], b = v[0] * w[0] + v[1] * w[1] + v[2] * w[2];
          uu += a * a, uw += a * b, ww += b * b;
        }
        for (const v of others) clear = Math.min(clear, s.distance(eye, s.exp(v)));
        const area = all > 0 ? 2 * Math.sqrt(Math.max(uu * ww - uw * uw, 0)) / all : 0, seen = all > 0 ? (uu + ww) / all : 0;
        const score = seen + area + 2 * clear / away - 0.01 * turn * (16 - turn) / 64 - 0.1 * Math.abs(up);
        if (score > most) most = score, best = d;
      }
    return best;
  }

  /* The direction in which the camera looks when it moves with the object: to its own farthest point, or to the nearest
   * point of others. */
  ahead(k, which) {
    const {own, others} = this.around(k, which), length = v => Math.hypot(...v), small = 1e-6 * this.frames.size();
    const pick = (list, better) => list.filter(v => length(v) > small).reduce((a, v) => a === null || better(length(v), length(a)) ? v : a, null);
    const v = (this.page.particles ? pick(own, (a, b) => a > b * (1 + 1e-6)) : null) || pick(others, (a, b) => a < b) || [0, 1, 0];
    return v.map(c => c / length(v));
  }

  /* The function that maps a point with four numbers, given relative to the eye, to the drawing: plot coordinates, or
   * the logarithm. */
  map(view) { return view.name === "outside" ? x => this.space.shown(x) : x => this.space.log(x); }

  /* Points in plot coordinates between which everything that moves at the given frames is drawn. follow: only the
   * followed body or component, unless `all` is true. */
  points(view, offset, rows, all) {
    const s = this.space, out = [], most = s.K > 0 ? 4 * s.R : Number.MAX_VALUE; /* the plot coordinates of a sphere are unbounded */
    const put = p => { if (p.every((c, i) => Math.abs(c) <= (i < s.curved ? most : Number.MAX_VALUE))) out.push(p); };
    for (const k of rows) {
      const eye = this.eye(k, view, offset), others = this.page.points, one = view.follow !== null && !all;
      if (others && !one)
        for (let i = others.first, world = this.world(eye); i < others.place.shape[1]; i++) put(s.shown(this.point(k, i, world)));
      if (!one) for (const [a] of this.pivots(k, eye)) put(s.shown(a));
      for (let c = 0; c < this.frames.leads; c++) {
        if (one && c !== view.follow && this.frames.leads > 1) continue;
        const m = this.frames.seen(eye, this.frames.carried(k, c));
        if (this.page.particles) this.pointsOfParticles(k, c, m, one, put);
        else this.pointsOfBody(c, m, put);
      }
    }
    return out;
  }

  /* The ends of a ball's axes in plot coordinates. */
  ends(m, r, put) {
    const s = this.space;
    for (let e = 0; e < 2 * s.dim; e++) put(s.shown(s.apply(m, s.exp([0, 1, 2].map(i => i === e >> 1 ? (e % 2 ? r : -r) : 0)))));
  }

  pointsOfParticles(k, c, m, one, put) {
    const s = this.space, p = this.page.particles, alone = one && p.count === this.frames.leads; /* then its surroundings are shown */
    for (let i = 0; i < p.count; i += Math.max(1, Math.floor(p.count / 100))) {
      if (this.frames.frameOf(i) !== c) continue;
      const x = this.frames.place(k, i);
      put(s.shown(s.apply(m, x)));
      for (const arm of this.frames.arms(k, i)) put(s.apply(m, arm).slice(0, 3));
      if (p.count <= 40) this.ends(s.multiply(m, s.to(x)), alone ? 2 * this.frames.size() : this.radius(i), put);
    }
  }

  pointsOfBody(c, m, put) {
    const b = this.page.bodies; /* arrows are inside 1.2 sizes */
    this.ends(m, (b.forces.length && b.count <= 40 ? 1.2 : 1) * this.frames.size(), put);
  }

  /* Points of the objects themselves at frame k, without arrows: particles, and vertices of bodies. */
  solid(k, view, offset) {
    const s = this.space, eye = this.eye(k, view, offset), out = [], put = p => { if (p.every(isFinite)) out.push(p); };
    for (const [a] of this.pivots(k, eye)) put(s.shown(a));
    for (let c = 0; c < this.frames.leads; c++) {
      const m = this.frames.seen(eye, this.frames.carried(k, c));
      const surface = this.surfaces.find(q => c >= q.told.first && c < q.told.first + q.told.count);
      if (this.page.particles) this.pointsOfParticles(k, c, m, false, put);
      else if (!surface) this.ends(m, 0.1 * this.frames.size(), put);
      else {
        const turned = s.multiply(m, this.frames.turn(k, c)), x = this.vertices(surface, k);
        const step = 4 * Math.max(1, Math.floor(x.length / 1600), Math.floor(x.length * this.frames.leads / 80000)); /* some 20 000 vertices in all */
        for (let i = 0; i < x.length; i += step) put(s.shown(s.apply(turned, Array.from(x.slice(i, i + 4)))));
      }
    }
    return out;
  }

  /* Frames over the complete motion: some 60, and more if few objects are drawn. */
  rows() {
    const out = [], p = this.page.particles, most = Math.max(60, Math.floor(3000 / (p ? Math.min(p.count, 100) : 4 * this.frames.leads)));
    for (let k = 0; k < this.frames.count; k += Math.max(1, Math.floor(this.frames.count / most))) out.push(k);
    return out;
  }

  get lattice() { return this.page.particles && this.page.particles.lattice; }

  /* Whether the plot has an edge or is a sphere or another surface, so that it can be shown completely. */
  get bounded() { return this.space.K > 0 || this.space.K < 0 && this.space.plot !== "embedding" || !!this.lattice; }

  get whole() { return this.lattice ? "surface" : this.space.K < 0 ? "ball" : "sphere"; }

  /* Points at the edge of the ball, or of the sphere: in stereographic projection that of the equator; or on the
   * surface. */
  edge() {
    const s = this.space, out = [], flat = s.plot === "embedding" ? 3 : s.curved;
    if (this.lattice) {
      const d = this.lattice.data;
      for (let i = 0; i + 2 < d.length; i += 3 * 7) if (isFinite(d[i])) out.push([d[i], d[i + 1], d[i + 2]]);
      return out;
    }
    for (let i = 0; i < 26; i++) {
      const v = [i % 3 - 1, Math.floor(i / 3) % 3 - 1, Math.floor(i / 9) - 1].map((c, e) => e < flat ? c : 0), l = Math.hypot(...v);
      if (l > 0) out.push(v.map(c => c * s.R / l));
    }
    return out;
  }
};
