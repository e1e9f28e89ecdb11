/* Draws a scene with WebGL. Isometries, plot coordinates and logarithms are computed in the shaders. */
"use strict";

curvebody.shaders = `
uniform float R, K;
uniform int curved, flatAxes, mode; /* mode 0: unchanged; 1: ball; 2: logarithm; 3: embedding */
uniform bool second;
vec4 moved(mat4 m, vec4 y) {
  vec4 X = m * y;
  if (curved > 0 && flatAxes > 0) X.z = m[2][2] * y.z + m[3][2];
  return X;
}
float shortSinh(float a) { return abs(a) < 0.05 ? a * (1. + a * a / 6.) : (exp(a) - exp(-a)) / 2.; }
float shortAsinh(float a) { return a < 0.02 ? a * (1. - a * a / 6.) : a > 1e8 ? log(2. * a) : log(a + sqrt(a * a + 1.)); }
vec3 curvedPart(vec3 x) { return curved == 2 ? vec3(x.xy, 0.) : x; }
vec4 exponential(vec3 v) {
  if (K == 0.) return vec4(v, 1.);
  vec3 c = curvedPart(v);
  float l = length(c) / R;
  float s = K < 0. ? shortSinh(l) : sin(l);
  float w = K < 0. ? (exp(l) + exp(-l)) / 2. : cos(l);
  if (l > 0.) c *= s / l;
  return vec4(c.xy, curved == 2 ? v.z : c.z, R * w);
}
vec3 shown(vec4 X) {
  if (mode == 0) return X.xyz;
  if (mode == 3) return curved == 2 && flatAxes == 0 ? vec3(X.xy, X.w) : X.xyz;
  vec3 c = curvedPart(X.xyz);
  if (mode == 1) {
    float s = K > 0. && X.w < 0. ? dot(c, c) / (R - X.w) : R + X.w;
    c *= R / s;
  } else {
    float n = length(c);
    float d = K < 0. ? shortAsinh(n / R) : atan(n, X.w);
    if (second) d -= 6.283185307179586;
    if (n > 0.) c *= d * R / n;
  }
  if (curved == 2) c.z = flatAxes > 0 ? X.z : 0.;
  return c;
}
vec4 between(vec4 a, vec4 b, float theta, float t) {
  float p = 1. - t, q = t;
  if (K != 0. && theta > 1e-3) {
    float s = K < 0. ? shortSinh(theta) : sin(theta);
    p = (K < 0. ? shortSinh(p * theta) : sin(p * theta)) / s;
    q = (K < 0. ? shortSinh(t * theta) : sin(t * theta)) / s;
  }
  vec4 x = p * a + q * b;
  if (K == 0.) x.w = 1.;
  if (curved == 2 && flatAxes > 0) x.z = mix(a.z, b.z, t);
  return x;
}
`;

curvebody.lit = `
#extension GL_OES_standard_derivatives : enable
precision highp float;
varying vec3 at;
varying vec3 paint;
void main() {
  vec3 n = cross(dFdx(at), dFdy(at));
  float l = length(n);
  float light = l > 0. ? 0.45 + 0.55 * abs(dot(n / l, normalize(vec3(0.5, -0.5, 0.7)))) : 1.;
  gl_FragColor = vec4(paint * light, 1.);
}`;

curvebody.WebGL = class {
  constructor(scene, element) {
    const context = element.getContext("webgl", {antialias: true, preserveDrawingBuffer: true});
    if (!context) throw new Error("no WebGL");
    this.scene = scene;
    this.element = element;
    this.name = "webgl";
    this.renderer = new THREE.WebGLRenderer({canvas: element, context, antialias: true, preserveDrawingBuffer: true});
    this.renderer.setClearColor(0xffffff);
    this.world = new THREE.Scene();
    this.uniforms = {R: {value: scene.space.R}, K: {value: scene.space.K}, curved: {value: scene.space.curved},
                     flatAxes: {value: scene.space.flat}, mode: {value: 0}, viewport: {value: new THREE.Vector2(1, 1)}, nearest: {value: 0}};
    this.groups = new Map();
    this.lost = false;
    element.addEventListener("webglcontextlost", () => { this.lost = true; });
  }

  material(vertex, second, lines) {
    return new THREE.RawShaderMaterial({
      uniforms: Object.assign({second: {value: second}}, this.uniforms), side: THREE.DoubleSide,
      vertexShader: "precision highp float;\nuniform mat4 modelViewMatrix, projectionMatrix;\n" + curvebody.shaders + vertex,
      fragmentShader: lines ? "precision highp float;\nvarying vec3 paint;\nvoid main() { gl_FragColor = vec4(paint, 1.); }"
                            : curvebody.lit
    });
  }

  /* Draws n instances of one geometry. attributes: a list of [name, width, numbers], with `width` numbers per
   * instance. */
  put(key, made, vertex, second, lines, n, attributes) {
    let mesh = this.groups.get(key);
    if (!mesh || mesh.room < n) {
      if (mesh) this.world.remove(mesh), mesh.geometry.dispose();
      const geometry = made(), room = Math.max(16, Math.ceil(1.3 * n));
      for (const [name, width] of attributes)
        geometry.setAttribute(name, new THREE.InstancedBufferAttribute(new Float32Array(room * width), width));
      mesh = new THREE.Mesh(geometry, this.material(vertex, second, lines));
      mesh.frustumCulled = false;
      mesh.room = room;
      this.groups.set(key, mesh);
      this.world.add(mesh);
    }
    mesh.geometry.maxInstancedCount = n;
    mesh.visible = n > 0;
    for (const [name, , numbers] of attributes) {
      const attribute = mesh.geometry.getAttribute(name);
      attribute.array.set(numbers);
      attribute.needsUpdate = true;
    }
    mesh.used = true;
    return mesh;
  }

  /* The columns of a matrix that is stored by rows, for four attributes of the shader. */
  static columns(list) {
    const out = [0, 1, 2, 3].map(() => new Float32Array(4 * list.length));
    list.forEach((item, i) => { for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) out[c][4 * i + r] = item.m[4 * r + c]; });
    return out;
  }

  static paints(list) {
    const out = new Float32Array(3 * list.length);
    list.forEach((item, i) => out.set(curvebody.rgb(item.colour), 3 * i));
    return out;
  }

  sphere(n) {
    const sphere = n > 400 ? new THREE.IcosahedronBufferGeometry(1, 1) : n > 40 ? new THREE.SphereBufferGeometry(1, 20, 14)
                                                                                  : new THREE.SphereBufferGeometry(1, 48, 32);
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.setAttribute("position", sphere.getAttribute("position"));
    if (sphere.index) geometry.setIndex(sphere.index);
    return geometry;
  }

  ribbon(parts) {
    const geometry = new THREE.InstancedBufferGeometry(), at = [], index = [];
    for (let i = 0; i <= parts; i++) at.push(i / parts, -1, 1 / parts, i / parts, 1, 1 / parts);
    for (let i = 0; i < parts; i++) index.push(2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 1, 2 * i + 3, 2 * i + 2);
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(at, 3));
    geometry.setIndex(index);
    return geometry;
  }

  putBalls(balls, second) {
    const m = curvebody.WebGL.columns(balls);
    this.put("balls" + second, () => this.sphere(balls.length), `
attribute vec3 position;
attribute vec4 m0, m1, m2, m3;
attribute vec3 colour;
attribute float radius;
varying vec3 at, paint;
void main() {
  vec3 v = radius * position;
  vec4 X = moved(mat4(m0, m1, m2, m3), exponential(v));
  vec3 p = shown(X);
  if (curved == 2 && flatAxes == 0 && mode != 3) p.z += v.z * length(shown(moved(mat4(m0, m1, m2, m3), exponential(vec3(radius, 0., 0.)))) - shown(moved(mat4(m0, m1, m2, m3), exponential(vec3(0.))))) / radius;
  if (curved == 2 && flatAxes == 0 && mode == 3 && K > 0.) p += v.z * normalize(p);
  vec4 e = modelViewMatrix * vec4(p, 1.);
  at = e.xyz;
  paint = colour;
  gl_Position = projectionMatrix * e;
}`, second, false, balls.length, [["m0", 4, m[0]], ["m1", 4, m[1]], ["m2", 4, m[2]], ["m3", 4, m[3]],
      ["colour", 3, curvebody.WebGL.paints(balls)], ["radius", 1, balls.map(b => b.radius)]]);
  }

  putSegments(key, segments, parts, second) {
    const flat = name => { const out = new Float32Array(4 * segments.length); segments.forEach((s, i) => out.set(s[name], 4 * i)); return out; };
    this.put(key + parts + second, () => this.ribbon(parts), `
uniform vec2 viewport;
uniform float nearest;
attribute vec3 position;
attribute vec4 a, b;
attribute vec3 colour;
attribute vec3 how; /* theta, width, 1 if the width decreases to 0 */
varying vec3 paint;
void main() {
  float t = position.x;
  float t2 = t > 0.5 ? t - position.z : t + position.z;
  vec4 p = modelViewMatrix * vec4(shown(between(a, b, how.x, t)), 1.);
  vec4 q = modelViewMatrix * vec4(shown(between(a, b, how.x, t2)), 1.);
  paint = colour;
  if (p.z > -nearest && q.z > -nearest) {
    gl_Position = vec4(2., 2., 2., 1.);
    return;
  }
  /* an end behind the eye is replaced by the point where the line passes the eye: there it has no width in pixels */
  if (p.z > -nearest) p = mix(p, q, (p.z + nearest) / (p.z - q.z));
  if (q.z > -nearest) q = mix(q, p, (q.z + nearest) / (q.z - p.z));
  p = projectionMatrix * p, q = projectionMatrix * q;
  vec2 along = (q.xy / q.w - p.xy / p.w) * viewport;
  if (t > 0.5) along = -along;
  float l = length(along);
  vec2 across = l > 0. ? vec2(-along.y, along.x) / l : vec2(1., 0.);
  p.xy += position.y * how.y * (1. - how.z * t) * across / viewport * p.w;
  gl_Position = p;
}`, second, true, segments.length, [["a", 4, flat("a")], ["b", 4, flat("b")], ["colour", 3, curvebody.WebGL.paints(segments)],
      ["how", 3, segments.flatMap(s => [s.theta, s.width, s.head ? 1 : 0])]]);
  }

  putSurfaces(surfaces, second) {
    const by = new Map();
    for (const s of surfaces) by.set(s.of, (by.get(s.of) || []).concat(s));
    let number = 0;
    for (const [of, list] of by) {
      const m = curvebody.WebGL.columns(list);
      const mesh = this.put("surface" + number++ + second, () => {
        const geometry = new THREE.InstancedBufferGeometry();
        geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(of.x), 4));
        geometry.setIndex(new THREE.BufferAttribute(of.face, 1));
        return geometry;
      }, `
attribute vec4 position;
attribute vec4 m0, m1, m2, m3;
attribute vec3 colour;
varying vec3 at, paint;
void main() {
  vec4 e = modelViewMatrix * vec4(shown(moved(mat4(m0, m1, m2, m3), position)), 1.);
  at = e.xyz;
  paint = colour;
  gl_Position = projectionMatrix * e;
}`, second, false, list.length, [["m0", 4, m[0]], ["m1", 4, m[1]], ["m2", 4, m[2]], ["m3", 4, m[3]], ["colour", 3, curvebody.WebGL.paints(list)]]);
      if (of.told.frames > 1) {
        const position = mesh.geometry.getAttribute("position");
        position.array.set(of.x);
        position.needsUpdate = true;
      }
    }
  }

  draw(built, camera, view) {
    const s = this.scene.space, inside = view.name !== "outside";
    for (const mesh of this.groups.values()) mesh.used = false;
    this.uniforms.mode.value = !s.K ? 0 : inside ? 2 : s.plot === "embedding" ? 3 : 1;
    this.renderer.setSize(this.element.width, this.element.height, false);
    this.uniforms.nearest.value = 1.01 * camera.near;
    this.uniforms.viewport.value.set(this.element.width, this.element.height);
    for (const second of inside && s.K > 0 ? [false, true] : [false]) {
      this.putBalls(built.balls, second);
      this.putSurfaces(built.surfaces, second);
      for (const parts of [1, 4, 8, 12]) this.putSegments("segments", built.segments.filter(q => q.parts === parts), parts, second);
    }
    if (built.landmarks) {
      const m = s.inverse(built.landmarks);
      this.putSegments("landmarks", this.scene.marks().edges.map(([a, b]) => ({
        a: s.apply(m, a), b: s.apply(m, b), theta: s.angle(a, b), colour: "#b9c4cf", width: 0.8
      })), s.K ? 6 : 1, false);
    }
    this.putCircles(built.circles || []);
    for (const mesh of this.groups.values()) if (!mesh.used) mesh.visible = false;
    this.renderer.render(this.world, camera);
  }

  /* Circles in plot coordinates, as lines that are drawn without a map. */
  putCircles(circles) {
    if (!this.rings) {
      this.rings = [[0, 1], [1, 2], [0, 2]].map(axes => {
        const at = [];
        for (let i = 0; i <= 96; i++) {
          const p = [0, 0, 0];
          p[axes[0]] = this.scene.space.R * Math.cos(i * Math.PI / 48), p[axes[1]] = this.scene.space.R * Math.sin(i * Math.PI / 48);
          at.push(...p);
        }
        const geometry = new THREE.BufferGeometry();
        geometry.setAttribute("position", new THREE.Float32BufferAttribute(at, 3));
        const ring = new THREE.Line(geometry, new THREE.LineBasicMaterial({color: 0xcccccc}));
        this.world.add(ring);
        return ring;
      });
    }
    this.rings.forEach((ring, i) => { ring.visible = i < circles.length; });
  }
};
