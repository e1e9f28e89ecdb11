/* The space of a page. A point has four numbers: the curved axes x, then the flat axes, and as the fourth number the
 * last coordinate w of the quadric:
 *
 *   curvature K, R = 1/sqrt|K|:  |x|^2 + sign(K) w^2 = sign(K) R^2;  flat: w = 1
 *
 * An isometry is a matrix of 16 numbers by rows. Its fourth column contains the translation along flat axes of a
 * product. A distant point is given by an origin and a point near the base point. The origin is an isometry, which is
 * applied to that point: a rotation, then the transvection T(direction, length). Origins are composed so that they keep
 * their digits (Ungar, Beyond the Einstein Addition Law (2001), doi:10.1007/978-94-010-9122-0, chapters 1-3; half-angle
 * forms).
 */
"use strict";
const curvebody = {};

curvebody.Space = class {
  constructor(told) {
    this.K = told.curvature;
    this.curved = told.curved;
    this.flat = told.flat;
    this.dim = told.curved + told.flat;
    this.R = this.K ? 1 / Math.sqrt(Math.abs(this.K)) : 1;
    this.product = this.curved > 0 && this.flat > 0;
    this.plot = told.plot;
    /* the number of axes on which the transvection T of an origin acts */
    this.part = this.K < 0 ? this.curved : this.K === 0 ? this.flat : 0;
  }

  identity() { return [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]; }

  multiply(a, b) {
    const out = new Array(16).fill(0);
    for (let i = 0; i < 4; i++)
      for (let j = 0; j < 4; j++) for (let k = 0; k < 4; k++) out[4 * i + j] += a[4 * i + k] * b[4 * k + j];
    if (this.product)
      for (let z = this.curved; z < 3; z++) {
        for (let j = 0; j < 4; j++) out[4 * z + j] = out[4 * j + z] = 0;
        out[5 * z] = a[5 * z] * b[5 * z];
        out[4 * z + 3] = a[5 * z] * b[4 * z + 3] + a[4 * z + 3];
      }
    return out;
  }

  inverse(a) {
    const out = new Array(16).fill(0), s = Math.sign(this.K);
    for (let i = 0; i < 4; i++)
      for (let j = 0; j < 4; j++) out[4 * i + j] = a[4 * j + i] * ((i === 3) !== (j === 3) ? s : 1);
    if (this.K === 0)
      for (let i = 0; i < 3; i++) {
        out[12 + i] = 0;
        out[4 * i + 3] = -(a[i] * a[3] + a[4 + i] * a[7] + a[8 + i] * a[11]);
      }
    if (this.product)
      for (let z = this.curved; z < 3; z++) {
        for (let j = 0; j < 4; j++) out[4 * z + j] = out[4 * j + z] = 0;
        out[5 * z] = a[5 * z];
        out[4 * z + 3] = -a[5 * z] * a[4 * z + 3];
      }
    return out;
  }

  apply(a, x) {
    const out = [0, 0, 0, 0];
    for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) out[i] += a[4 * i + j] * x[j];
    if (this.product) for (let z = this.curved; z < 3; z++) out[z] = a[5 * z] * x[z] + a[4 * z + 3];
    return out;
  }

  /* A point from the numbers of the page, which contain w only in a sphere. */
  point(data, at, stride) {
    const x = [data[at], data[at + 1], data[at + 2], 1];
    if (this.K > 0) x[3] = stride > 3 ? data[at + 3] : this.R;
    else if (this.K < 0) x[3] = Math.sqrt(this.R * this.R + this.square(x));
    return x;
  }

  square(x) {
    let sum = 0;
    for (let i = 0; i < this.curved; i++) sum += x[i] * x[i];
    return sum;
  }

  base() { return [0, 0, 0, this.K ? this.R : 1]; }

  /* The exponential map at the base point, and its inverse log. second: log gives the longer geodesic, through the
   * other side of the sphere. */
  exp(v) {
    if (this.K === 0) return [v[0], v[1], v[2], 1];
    const l = Math.sqrt(this.square(v)) / this.R, s = this.K < 0 ? Math.sinh(l) : Math.sin(l);
    const out = [v[0], v[1], v[2], this.R * (this.K < 0 ? Math.cosh(l) : Math.cos(l))];
    for (let i = 0; i < this.curved; i++) out[i] *= l > 0 ? s / l : 1;
    return out;
  }

  log(x, second) {
    if (this.K === 0) return [x[0], x[1], x[2]];
    const n = Math.sqrt(this.square(x)), out = [x[0], x[1], x[2]];
    let d = this.K < 0 ? Math.asinh(n / this.R) : Math.atan2(n, x[3]);
    if (second && this.K > 0) d -= 2 * Math.PI;
    for (let i = 0; i < this.curved; i++) out[i] *= n > 0 ? d * this.R / n : 1;
    return out;
  }

  /* The distance of the points x and y. */
  distance(x, y) {
    let flat = 0, chord = 0, sum = 0;
    const s = Math.sign(this.K);
    for (let i = 0; i < 3; i++) {
      const square = (x[i] - y[i]) ** 2;
      if (i < this.curved) chord += square, sum += (x[i] + y[i]) ** 2;
      else flat += square;
    }
    if (this.K === 0) return Math.sqrt(flat);
    chord += s * (x[3] - y[3]) ** 2, sum += s * (x[3] + y[3]) ** 2;
    const h = Math.sqrt(Math.max(chord, 0)) / (2 * this.R);
    const d = this.K < 0 ? 2 * Math.asinh(h) : 2 * Math.atan2(h, Math.sqrt(Math.max(sum, 0)) / (2 * this.R));
    return Math.hypot(d * this.R, Math.sqrt(flat));
  }

  /* The point at t, from 0 to 1, on the geodesic from a to b. theta: the distance of the curved parts divided by R. */
  between(a, b, theta, t) {
    const x = [0, 0, 0, 1];
    let p = 1 - t, q = t;
    if (this.K && theta > 1e-3) {
      const s = this.K < 0 ? Math.sinh : Math.sin;
      p = s((1 - t) * theta) / s(theta), q = s(t * theta) / s(theta);
    }
    for (let i = 0; i < 3; i++) x[i] = i < this.curved ? p * a[i] + q * b[i] : (1 - t) * a[i] + t * b[i];
    if (this.K) x[3] = p * a[3] + q * b[3];
    return x;
  }

  angle(a, b) {
    if (!this.K) return 0;
    const p = a.slice(), q = b.slice();
    for (let i = this.curved; i < 3; i++) p[i] = q[i] = 0;
    return this.distance(p, q) / this.R;
  }

  /* The transvection from the base point along v. */
  transvection(v) {
    const m = this.identity(), l = Math.sqrt(this.square(v)), n = v.map(c => l > 0 ? c / l : 0);
    if (this.K) {
      const h = l / this.R, c = this.K < 0 ? Math.cosh(h) : Math.cos(h), s = this.K < 0 ? Math.sinh(h) : Math.sin(h);
      const less = this.K < 0 ? 2 * Math.sinh(h / 2) ** 2 : -2 * Math.sin(h / 2) ** 2; /* less = c - 1 */
      for (let i = 0; i < this.curved; i++) {
        for (let j = 0; j < this.curved; j++) m[4 * i + j] += less * n[i] * n[j];
        m[4 * i + 3] = s * n[i];
        m[12 + i] = this.K < 0 ? s * n[i] : -s * n[i];
      }
      m[15] = c;
    }
    for (let i = this.curved; i < this.dim; i++) m[4 * i + 3] = v[i];
    return m;
  }

  to(x) { return this.transvection(this.log(x)); }

  /* The rotation around the base point as an isometry, given by nine numbers in rows. */
  turn(nine) {
    const m = this.identity();
    for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) m[4 * i + j] = nine[3 * i + j];
    return m;
  }

  /* --- origins: {length, direction, rotation, shift} --- */

  origin(data, at) {
    const p = this.part, o = {length: data[at], direction: [1, 0, 0], rotation: [], shift: [0, 0, 0]};
    for (let i = 0; i < p; i++) o.direction[i] = data[at + 1 + i];
    for (let i = 0; i < p * p; i++) o.rotation.push(data[at + 4 + i]);
    for (let i = 0; i < 3; i++) o.shift[i] = data[at + 13 + i];
    return o;
  }

  originAt(x) {
    const o = this.noOrigin(), p = this.part;
    let size = 0;
    for (let i = 0; i < p; i++) size = Math.hypot(size, x[i]);
    o.length = this.K < 0 ? this.R * Math.asinh(size / this.R) : size;
    for (let i = 0; i < p && size > 0; i++) o.direction[i] = x[i] / size;
    if (this.product) for (let z = this.curved; z < 3; z++) o.shift[z] = x[z];
    return o;
  }

  noOrigin() {
    const p = this.part, rotation = [];
    for (let i = 0; i < p * p; i++) rotation.push(i % (p + 1) ? 0 : 1);
    return {length: 0, direction: [1, 0, 0], rotation, shift: [0, 0, 0]};
  }

  originMatrix(o) {
    const p = this.part, r = this.identity();
    for (let i = 0; i < p; i++) for (let j = 0; j < p; j++) r[4 * i + j] = o.rotation[i * p + j];
    const v = [0, 0, 0];
    for (let i = 0; i < p; i++) v[i] = o.length * o.direction[i];
    if (this.product) for (let z = this.curved; z < 3; z++) v[z] = o.shift[z];
    return this.multiply(this.transvection(v), r);
  }

  invert(a) {
    const p = this.part, o = {length: a.length, direction: [0, 0, 0], rotation: [], shift: a.shift.map(s => -s)};
    for (let i = 0; i < p; i++) {
      for (let j = 0; j < p; j++) o.rotation.push(a.rotation[j * p + i]), o.direction[i] -= a.rotation[j * p + i] * a.direction[j];
    }
    return o;
  }

  compose(a, b) {
    const p = this.part, shift = a.shift.map((s, i) => s + b.shift[i]), n = a.direction;
    const m = [0, 0, 0], rotation = curvebody.turned(p, a.rotation, b.rotation);
    for (let i = 0; i < p; i++) for (let j = 0; j < p; j++) m[i] += a.rotation[i * p + j] * b.direction[j];
    if (!p) return {length: 0, direction: [1, 0, 0], rotation, shift};
    if (this.K === 0) {
      const v = [0, 0, 0];
      for (let i = 0; i < p; i++) v[i] = a.length * n[i] + b.length * m[i];
      const length = Math.hypot(...v);
      return {length, direction: length > 0 ? v.map(c => c / length) : n.slice(), rotation, shift};
    }
    if (a.length === 0 || b.length === 0)
      return {length: a.length + b.length, direction: b.length === 0 ? n.slice() : m, rotation, shift};
    const L = a.length / this.R, l = b.length / this.R, plane = curvebody.plane(p, n, m);
    const sum = curvebody.addLengths(p, n, L, l, plane);
    return {length: sum.length * this.R, direction: sum.direction, shift,
            rotation: curvebody.turned(p, curvebody.wigner(p, n, L, l, plane), rotation)};
  }

  /* The origin b relative to the origin a. */
  relative(a, b) {
    const same = a.length === b.length && a.direction.every((c, i) => c === b.direction[i]) &&
                 a.rotation.every((c, i) => c === b.rotation[i]);
    if (!same) return this.compose(this.invert(a), b);
    const o = this.noOrigin();
    o.shift = b.shift.map((s, i) => s - a.shift[i]);
    return o;
  }

  /* The vector at the point x that ends at the point y, and its length. x is local to the origin a, y to the
   * origin b. */
  far(a, x, b, y) {
    const o = this.compose(this.invert(this.originAt(x)), this.compose(this.relative(a, b), this.originAt(y)));
    if (this.K > 0) {
      const z = this.apply(this.inverse(this.to(x)), this.apply(this.originMatrix(this.relative(a, b)), y));
      return {v: this.log(z), length: Math.hypot(...this.log(z))};
    }
    const v = [0, 0, 0];
    for (let i = 0; i < this.part; i++) v[i] = o.length * o.direction[i];
    if (this.product) for (let z = this.curved; z < 3; z++) v[z] = o.shift[z];
    return {v, length: Math.hypot(...v)};
  }

  /* The plot coordinates of a point: R x/(R + w) in a curved factor, otherwise the coordinates themselves. */
  shown(x) {
    if (this.K === 0) return [x[0], x[1], x[2]];
    if (this.plot === "embedding") return [x[0], x[1], this.curved === 2 && !this.flat ? x[3] : x[2]];
    const w = x[3];
    const s = this.K > 0 && w < 0 ? this.square(x) / (this.R - w) : this.R + w;
    const out = [x[0], x[1], x[2]];
    for (let i = 0; i < this.curved; i++) out[i] *= this.R / s;
    return out;
  }
};

/* The product a b of rotations, corrected so that it is a rotation: c <- c (3 - c^T c)/2. */
curvebody.turned = function (p, a, b) {
  const c = new Array(p * p).fill(0), out = c.slice();
  for (let i = 0; i < p; i++)
    for (let k = 0; k < p; k++) for (let j = 0; j < p; j++) c[i * p + j] += a[i * p + k] * b[k * p + j];
  for (let i = 0; i < p; i++)
    for (let j = 0; j < p; j++) {
      let sum = 1.5 * c[i * p + j];
      for (let k = 0; k < p; k++)
        for (let q = 0; q < p; q++) sum -= 0.5 * c[i * p + k] * c[q * p + k] * c[q * p + j];
      out[i * p + j] = sum;
    }
  return out;
};

curvebody.plane = function (p, n, m) {
  let sum = 0, difference = 0, along = 0, size = 0;
  const across = [0, 0, 0];
  for (let i = 0; i < p; i++) along += n[i] * m[i], sum += (n[i] + m[i]) ** 2, difference += (n[i] - m[i]) ** 2;
  for (let i = 0; i < p; i++) across[i] = m[i] - along * n[i];
  along = 0;
  for (let i = 0; i < p; i++) along += n[i] * across[i];
  for (let i = 0; i < p; i++) across[i] -= along * n[i], size = Math.hypot(size, across[i]);
  for (let i = 0; i < p; i++) across[i] = size > 0 ? across[i] / size : 0;
  return {cos2: sum / (sum + difference), sin: size > 0 ? 2 * Math.sqrt(sum) * Math.sqrt(difference) / (sum + difference) : 0,
          across};
};

curvebody.wigner = function (p, n, L, l, plane) {
  const t = Math.tanh(L / 2) * Math.tanh(l / 2), D = Math.abs(L - l);
  const gap = 2 * Math.exp(-Math.min(L, l)) * (1 + Math.exp(-D)) / ((1 + Math.exp(-L)) * (1 + Math.exp(-l)));
  let x = gap + 2 * t * plane.cos2, y = t * plane.sin;
  const r = Math.hypot(x, y), u = plane.across, w = [];
  if (r > 0) x /= r, y /= r;
  else x = 1;
  for (let i = 0; i < p; i++)
    for (let j = 0; j < p; j++)
      w.push((i === j) - 2 * x * y * (u[i] * n[j] - n[i] * u[j]) - 2 * y * y * (n[i] * n[j] + u[i] * u[j]));
  return w;
};

curvebody.addLengths = function (p, n, L, l, plane) {
  const D = L - l, E = L + l + Math.log(plane.cos2), s = Math.max(Math.abs(D), E);
  const sinhL = -Math.expm1(-2 * L), sinhl = -Math.expm1(-2 * l);
  const length = s < 600 ? 2 * Math.asinh(Math.sqrt(Math.sinh(D / 2) ** 2 + sinhL * sinhl * Math.exp(E) / 4))
                         : s + Math.log(Math.exp(Math.abs(D) - s) + sinhL * sinhl * Math.exp(E - s));
  const sinhD = Math.abs(D) < 1 ? 2 * Math.sinh(D) * Math.exp(-s) : Math.exp(D - s) - Math.exp(-D - s);
  const along = sinhD + (2 - sinhL) * sinhl * Math.exp(E - s), across = sinhl * Math.exp(l + Math.log(plane.sin) - s);
  const direction = [0, 0, 0];
  let size = Math.hypot(along, across);
  for (let i = 0; i < p; i++) direction[i] = size > 0 ? (along * n[i] + across * plane.across[i]) / size : n[i];
  size = Math.hypot(...direction);
  return {length, direction: direction.map(c => c / size)};
};
