/* Landmarks that make a space visible: the edges of a regular tiling. They are the images of one edge under the
 * reflections of the tiling's simplex.
 *
 *   S3 the 120-cell {5,3,3};  H3 {5,3,4};  H2 x E {4,5} in layers;  S2 x E the cube {4,3} in layers;  E3 cubes
 * Mirrors n_i have <n_i, n_i> = 1 and <n_i, n_i+1> = -cos(pi/p_i) for the symbol {p_1, p_2, ..} (Coxeter, Regular
 * Polytopes (1973), chapters 5, 10).
 */
"use strict";

/* Mirrors as rows, in coordinates with the form diag(1, .., 1, sign): a triangular factor of the Gram matrix. */
curvebody.mirrors = function (symbol, sign) {
  const n = symbol.length + 1, m = [];
  for (let i = 0; i < n; i++) {
    const row = new Array(n).fill(0);
    for (let j = 0; j < i; j++) {
      let dot = j === i - 1 ? -Math.cos(Math.PI / symbol[i - 1]) : 0;
      for (let k = 0; k < j; k++) dot -= row[k] * m[j][k];
      row[j] = dot / m[j][j];
    }
    let rest = 1;
    for (let k = 0; k < i; k++) rest -= row[k] * row[k];
    row[i] = Math.sqrt(Math.abs(rest));
    m.push(row);
  }
  return m.map(row => ({row, sign}));
};

curvebody.reflected = function (mirror, x) {
  const n = mirror.row, last = n.length - 1;
  let dot = 0;
  for (let i = 0; i <= last; i++) dot += n[i] * x[i] * (i === last ? mirror.sign : 1);
  return x.map((c, i) => c - 2 * dot * n[i]);
};

/* The vertex of the simplex that is on all mirrors except mirror number `not`. */
curvebody.corner = function (mirrors, not, sign) {
  const n = mirrors.length, rows = mirrors.filter((_, i) => i !== not).map(m => m.row.map((c, i) => i === n - 1 ? c * sign : c));
  /* the vector orthogonal to n - 1 rows, by cofactors */
  const minor = (skip, list) => {
    const a = list.map(r => r.filter((_, i) => i !== skip));
    const size = a.length;
    if (size === 2) return a[0][0] * a[1][1] - a[0][1] * a[1][0];
    let sum = 0;
    for (let c = 0; c < size; c++) {
      const b = a.slice(1).map(r => r.filter((_, i) => i !== c));
      sum += (c % 2 ? -1 : 1) * a[0][c] * (b[0][0] * b[1][1] - b[0][1] * b[1][0]);
    }
    return sum;
  };
  let x = Array.from({length: n}, (_, i) => (i % 2 ? -1 : 1) * minor(i, rows));
  let square = 0;
  x.forEach((c, i) => square += c * c * (i === n - 1 ? sign : 1));
  x = x.map(c => c / Math.sqrt(Math.abs(square)));
  return sign < 0 && x[n - 1] < 0 ? x.map(c => -c) : x;
};

/* Edges [a, b] of the tiling in a space of curvature 1 or -1; for sign < 0 only edges with an end that is less than
 * `most` from the base point. About 6000 edges at most. */
curvebody.tiling = function (symbol, sign, most) {
  const mirrors = curvebody.mirrors(symbol, sign), v = curvebody.corner(mirrors, 0, sign), n = v.length;
  const key = x => x.map(c => Math.round(c * 1e4)).join(), inside = x => sign > 0 || x[n - 1] < Math.cosh(most);
  const edge = [v, curvebody.reflected(mirrors[0], v)], seen = new Map(), queue = [edge];
  const name = e => [key(e[0]), key(e[1])].sort().join("|");
  seen.set(name(edge), edge);
  while (queue.length && seen.size < 6000) {
    const e = queue.shift();
    for (const m of mirrors) {
      const f = e.map(x => curvebody.reflected(m, x)), word = name(f);
      if (seen.has(word) || !(inside(f[0]) || inside(f[1]))) continue;
      seen.set(word, f);
      queue.push(f);
    }
  }
  return Array.from(seen.values());
};

/* Edges around the base point in the page's four numbers, with the mirrors (in flat space: the step) by which `folded`
 * moves the eye back to them. */
curvebody.landmarks = function (space, size) {
  const out = [], R = space.R;
  const put = (x, z) => space.curved === 3 ? x.map(c => c * R) : [x[0] * R, x[1] * R, z, x[2] * R];
  if (space.dim !== 3) return {edges: out, mirrors: []};
  if (!space.K) {
    const step = 10 ** Math.round(Math.log10(4 * size)), n = 4;
    for (let i = -n; i <= n; i++)
      for (let j = -n; j <= n; j++)
        for (let k = -n; k < n; k++)
          for (let a = 0; a < 3; a++) {
            const p = [0, 0, 0, 1], q = [0, 0, 0, 1], d = [(a + 1) % 3, (a + 2) % 3];
            p[a] = k * step, q[a] = (k + 1) * step, p[d[0]] = q[d[0]] = i * step, p[d[1]] = q[d[1]] = j * step;
            out.push([p, q]);
          }
    return {edges: out, step};
  }
  const sign = Math.sign(space.K);
  const symbol = space.curved === 3 ? (sign > 0 ? [5, 3, 3] : [5, 3, 4]) : sign > 0 ? [4, 3] : [4, 5];
  const flat = curvebody.tiling(symbol, sign, space.curved === 3 ? 3.2 : 4);
  if (space.curved === 3) return {edges: flat.map(e => e.map(x => put(x, 0))), mirrors: curvebody.mirrors(symbol, sign)};
  for (let z = -3; z <= 3; z++) {
    for (const e of flat) {
      out.push(e.map(x => put(x, z * R)));
      if (z < 3) for (const x of e) out.push([put(x, z * R), put(x, (z + 1) * R)]);
    }
  }
  return {edges: out, mirrors: curvebody.mirrors(symbol, sign), step: R};
};

/* Moves the eye by an element of the tiling's group to the neighbourhood of the base point, from where the tiling looks
 * the same, and returns its isometry. The path to the eye is divided into steps of at most half a radius of curvature,
 * so that no number becomes large. In hyperbolic space beyond 30 radii, double precision does not determine the
 * position in the tiling, and the result is null. */
curvebody.folded = function (space, landmarks, eye) {
  const o = eye.origin;
  const steps = [];
  if (!space.K) {
    const m = space.multiply(space.originMatrix(o), eye.m), step = landmarks.step;
    for (let i = 0; i < 3; i++) m[4 * i + 3] -= step * Math.round(m[4 * i + 3] / step);
    return m;
  }
  if (space.K < 0 && o.length > 30 * space.R) return null;
  const n = space.K < 0 ? Math.max(1, Math.ceil(2 * o.length / space.R)) : 1;
  for (let i = 0; i < n; i++) {
    const v = [0, 0, 0];
    for (let a = 0; a < space.part; a++) v[a] = o.length * o.direction[a] / n;
    steps.push(space.transvection(v));
  }
  const last = {length: 0, direction: [1, 0, 0], rotation: o.rotation, shift: o.shift};
  steps.push(space.originMatrix(last), eye.m);
  let m = space.identity();
  for (const s of steps) {
    m = space.multiply(m, s);
    if (space.K > 0) continue;
    for (let turn = 0, moved = true; moved && turn < 200; turn++) {
      moved = false;
      for (const mirror of landmarks.mirrors) {
        const row = mirror.row, size = row.length, slot = i => i === size - 1 ? 3 : i;
        let dot = 0; /* the product of the point m(base) and the mirror; inside the simplex no product is positive */
        for (let i = 0; i < size; i++) dot += row[i] * m[4 * slot(i) + 3] * (i === size - 1 ? -1 : 1);
        if (dot <= 1e-12) continue;
        moved = true;
        const before = m.slice();
        for (let c = 0; c < 4; c++) {
          if (space.product && c >= space.curved && c < 3) continue;
          let along = 0;
          for (let i = 0; i < size; i++) along += row[i] * before[4 * slot(i) + c] * (i === size - 1 ? -1 : 1);
          for (let i = 0; i < size; i++) m[4 * slot(i) + c] -= 2 * along * row[i];
        }
      }
    }
  }
  if (space.product) for (let z = space.curved; z < 3; z++) m[4 * z + 3] -= landmarks.step * Math.round(m[4 * z + 3] / landmarks.step);
  return m;
};
