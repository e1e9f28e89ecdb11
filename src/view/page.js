/* The page: time, views, camera, links, images.
 *
 * The time and the view of the page are in its address after #: t, view, follow, frame, yaw, pitch, far. */
"use strict";

curvebody.Page = class {
  constructor(page) {
    this.page = page;
    this.scene = new curvebody.Scene(page);
    this.frames = this.scene.frames;
    this.view = {name: "outside", follow: null, trail: true, arrows: true, frame: "motion"};
    this.k = 0;
    this.first = -1.1;
    this.realTime = page.time_units === "s";
    this.speed = 1;
    this.layout();
    const asked = location.hash !== "";
    this.read();
    this.makeCamera();
    if (!asked) this.choose();
    this.resize();
    addEventListener("resize", () => this.resize());
    addEventListener("hashchange", () => { if (location.hash !== this.written) this.read(), this.fit(), this.show(); });
    if (page.state === "running") setTimeout(() => this.again(), 1000);
    if (page.state === "running" && !asked) this.go(this.frames.count - 1);
  }

  /* --- elements --- */

  layout() {
    const make = (name, to, set) => { const e = Object.assign(document.createElement(name), set || {}); to.append(e); return e; };
    const head = make("header", document.body), main = make("main", document.body);
    make("h1", head, {textContent: this.page.title, title: this.page.title});
    const words = {complete: "", running: "running", unfinished: "interrupted: the rows recorded until then"}[this.page.state];
    if (words) make("span", head, {textContent: words, className: "state"});
    if (!this.frames.leads) main.className = "nowhere";
    const left = make("section", main, {id: "picture"}), right = make("section", main, {id: "side"});
    const tools = make("nav", left);
    this.views = make("select", tools, {title: "view"});
    for (const [name, text] of [["outside", "from outside"], ["inside", "from inside"], ["ride", "from the object"]])
      if (name === "outside" || this.scene.inside) this.views.append(new Option(text, name));
    this.following = make("select", tools, {title: "follow"});
    this.following.append(new Option("follow nothing", ""));
    this.frames.followed().forEach((name, i) => this.following.append(new Option("follow " + name, i)));
    this.framing = make("select", tools, {title: "what the picture shows"});
    for (const [name, text] of [["body", "frame: objects now"], ["motion", "frame: complete motion"], ["space", "frame: complete " + this.scene.whole]])
      if (name !== "space" || this.scene.bounded) this.framing.append(new Option(text, name));
    const flag = (text, key) => {
      const label = make("label", tools), box = make("input", label, {type: "checkbox", checked: true});
      label.append(text);
      box.addEventListener("change", () => { this.view[key] = box.checked; this.show(); });
    };
    flag("trail", "trail");
    if (this.page.bodies && this.page.bodies.forces.length) flag("forces", "arrows");
    make("button", tools, {textContent: "PNG", title: "save the image", onclick: () => this.save()});
    make("button", tools, {textContent: "WebM", title: "record the run as a film", onclick: () => this.film()});
    const stage = make("div", left, {className: "stage"});
    this.canvas = make("canvas", stage, {id: "canvas", tabIndex: 0});
    this.guides = new curvebody.Guides(this.scene, make("canvas", stage, {id: "guides"}));
    this.caption = make("p", left, {className: "caption"});
    this.legend = make("p", left, {className: "legend"});
    if (this.page.bodies && this.page.bodies.count <= 40)
      this.page.bodies.forces.forEach((f, i) => {
        const mark = make("span", this.legend, {textContent: "→ " + f.name.replaceAll("_", " ") + "  "});
        mark.style.color = curvebody.colours[(i + 3) % curvebody.colours.length];
      });
    const bar = make("footer", left);
    this.button = make("button", bar, {textContent: "▶", title: "play (space bar)", onclick: () => this.play()});
    const times = make("div", bar, {className: "times"});
    this.range = make("input", times, {type: "range", min: 0, max: Math.max(0, this.frames.count - 1), value: 0});
    this.marks = make("canvas", times, {id: "events", width: 800, height: 10});
    this.clock = make("output", bar);
    const speeds = make("select", bar, {title: this.realTime ? "speed: 1× is real time" : "speed: 1× shows the complete run in ten seconds"});
    const rates = this.realTime ? [0.001, 0.01, 0.1, 0.25, 0.5, 1, 2, 5, 10, 100, 1000] : [0.1, 0.25, 0.5, 1, 2, 5, 10];
    for (const s of rates) speeds.append(new Option(s === 1 && this.realTime ? "real time" : s + "×", s, s === 1, s === 1));
    speeds.addEventListener("change", () => { this.speed = +speeds.value; });
    this.range.addEventListener("input", () => this.go(+this.range.value));
    this.views.addEventListener("change", () => { this.view.name = this.views.value; this.fit(); this.show(); });
    this.following.addEventListener("change", () => {
      this.view.follow = this.following.value === "" ? null : +this.following.value;
      this.fit();
      this.show();
    });
    this.framing.addEventListener("change", () => { this.view.frame = this.framing.value; this.fit(); this.show(); this.write(); });
    this.mouse();
    addEventListener("keydown", e => this.key(e));
    if (!this.frames.count) make("p", left, {textContent: "This record has no rows.", className: "state"});
    else if (!this.frames.leads) make("p", left, {textContent: "This record has no positions to draw.", className: "state"});
    if (this.page.shapes) this.shapes = new curvebody.Shapes(this.page, right);
    this.plots = new curvebody.Plots(this.page, right, t => this.go(this.frames.at(t)), this.frames);
    this.drawEvents();
  }

  drawEvents() {
    const c = this.marks.getContext("2d"), e = this.page.events.data, t = this.frames.time;
    if (!this.frames.count || !e.length) { this.marks.hidden = true; return; }
    const span = t[t.length - 1] - t[0] || 1;
    for (let i = 0; i < e.length; i += 4) {
      c.fillStyle = ["#d55e00", "#cc0000", "#0072b2", "#999999", "#e69f00"][e[i + 1]] || "#000";
      c.fillRect((e[i] - t[0]) / span * (this.marks.width - 2), 0, 1.5, 10);
    }
    this.marks.title = `${this.page.events_in_all} events: orange reflections, red stops, blue marks, grey retried steps`;
  }

  /* If the address has no settings: the complete ball, sphere or surface if the objects fill a fifth of this picture at the
   * start, otherwise the complete motion if they do so there, otherwise the objects alone. A single object, or the
   * first of several bodies, is then followed. The objects are the paths if they are points, or balls that can still be
   * seen next to their paths. */
  choose() {
    if (!this.frames.leads || !this.frames.count) return;
    this.turned();
    const G = curvebody.Guides, solid = this.scene.solid(0, this.view, this.offset), {balls, pointlike} = this.frames;
    const paths = balls || pointlike ? this.points("motion") : null, {K, R} = this.scene.space;
    const near = paths && !(K > 0 && paths.some(p => Math.hypot(...p) > 3 * R)); /* the plot of a sphere is unbounded */
    for (const frame of this.scene.bounded ? ["space", "motion", "body"] : ["motion", "body"]) {
      this.view.frame = frame;
      this.fit();
      const share = G.share(solid, this.extent);
      this.byPaths = pointlike || balls && near && share < 0.22 && share >= 0.02;
      const filled = this.byPaths ? G.share(paths, this.extent) : share;
      if (filled >= 0.22 && (frame !== "space" || filled <= 0.8)) break;
    }
    if (this.view.frame === "body" && !this.frames.many() && (this.frames.leads === 1 || this.page.bodies)) this.view.follow = 0;
    this.framing.value = this.view.frame;
    this.following.value = this.view.follow === null ? "" : this.view.follow;
    this.fit();
  }

  /* Turns the first view from outside around z if the objects look much larger from another side: longer, or less from
   * their edge. Single balls count with their paths. */
  turned() {
    if (this.planar || this.scene.space.dim < 3 && this.scene.space.K) return;
    const points = this.frames.pointlike || this.frames.balls ? this.points("motion") : this.scene.solid(0, {name: "outside", follow: null}, this.offset), box = curvebody.box(points);
    if (!box) return;
    const far = 4 * Math.hypot(...box.low.map((c, i) => c - box.high[i])) || 1, t = box.low.map((c, i) => (c + box.high[i]) / 2);
    const size = yaw => {
      const [left, right, low, high] = curvebody.Guides.rectangle(points, {...curvebody.Guides.axes(yaw, 0.35), aspect: 1.5, t, far});
      return Math.max(right - left, high - low) ** 2 + 2 * (right - left) * (high - low);
    };
    for (const yaw of [-1.6, -0.6, -2.1, -0.1, -2.6]) if (size(yaw) > 1.4 * size(this.first)) this.first = yaw;
  }

  /* --- camera --- */

  makeCamera() {
    this.camera = new THREE.PerspectiveCamera(45, 1, 0.1, 1000);
    this.camera.up.set(0, 0, 1);
    try {
      if (/[#&]gl=off/.test(location.hash)) throw new Error("asked for");
      this.drawing = new curvebody.WebGL(this.scene, this.canvas);
    } catch (failure) {
      const plain = this.canvas.cloneNode();
      this.canvas.replaceWith(plain);
      this.canvas = plain;
      this.mouse();
      this.drawing = new curvebody.Canvas(this.scene, plain);
    }
    this.fit();
  }

  fit() {
    this.offset = this.scene.space.identity();
    this.zoom = this.asked && this.asked.far ? this.asked.far : 1;
    [this.yaw, this.pitch] = this.side();
    if (this.view.name !== "outside" && this.frames.leads && this.frames.count) {
      const d = this.view.name === "inside" ? this.scene.bestSide(this.k, this.view.follow || 0, this.away())
                                            : this.scene.ahead(this.k, this.view.follow || 0);
      this.yaw = Math.atan2(d[1], d[0]), this.pitch = Math.asin(d[2]);
      if (this.view.name === "inside") this.offset = this.scene.space.transvection(d.map(c => -c * this.away()));
    }
    if (this.asked && this.asked.yaw !== undefined) this.yaw = this.asked.yaw, this.pitch = this.asked.pitch;
    this.asked = null;
    this.framed();
  }

  /* The direction from which the picture is first seen: from above for what is in a plane, from outside for a sphere. */
  side() {
    const s = this.scene.space;
    this.planar = s.dim === 2 && !(s.K && s.plot === "embedding") && this.page.space.name !== "plot" || this.isPlanar();
    if (this.planar) return [-Math.PI / 2, 1.55];
    if (s.K > 0 && s.dim === 2 && this.frames.count && this.frames.leads) {
      const box = curvebody.box(this.points("motion")), m = box ? box.low.map((c, i) => c + box.high[i]) : [0, 0, 0], size = Math.hypot(...m);
      if (size > 0.2 * s.R) return [Math.atan2(m[1], m[0]) + 0.2, Math.max(-1.2, Math.min(1.2, Math.asin(m[2] / size) - 0.2))];
    }
    return [this.first, 0.35];
  }

  /* The points that must be inside a picture of this kind. */
  points(frame) {
    const view = {name: "outside", follow: this.view.follow}, still = this.scene.space.identity();
    const out = this.scene.points(view, still, frame === "body" ? [this.k] : this.scene.rows(), frame === "body");
    return frame === "space" && this.scene.bounded ? out.concat(this.scene.edge()) : out;
  }

  /* Computes the camera of the view from outside: the objects fill at most 62 % of the picture, and at least 40 % in a
   * picture of the objects alone, where space for arrows and rotations may be cut off. */
  framed() {
    const G = curvebody.Guides, box = this.canvas.getBoundingClientRect(), aspect = box.width > 0 && box.height > 0 ? box.width / box.height : 1.5;
    const least = 3e-3 * this.frames.size(), points = this.frames.count && this.frames.leads ? this.points(this.view.frame) : [];
    this.extent = G.fit(points, 0.62, this.yaw, this.pitch, aspect, least);
    if (this.view.frame === "body" && points.length) {
      const solid = this.scene.solid(this.k, {name: "outside", follow: this.view.follow}, this.scene.space.identity()), share = G.share(solid, this.extent);
      if (share < 0.4) this.extent.far = Math.max(least, this.extent.far * share / 0.4);
      this.extent.box = curvebody.box(solid) || this.extent.box;
    }
    G.enclose(this.extent, this.planar);
  }

  /* The distance of the eye: 3.5 sizes of the object. In a curved space it is limited, because an object looks much
   * smaller if it is farther away by a radius; in a sphere it is less than a quarter of a great circle. */
  away() {
    const s = this.scene.space, size = this.frames.size();
    return s.K > 0 ? Math.min(3.5 * size, 1.2 * s.R) : s.K < 0 ? size + Math.min(2.5 * size, 0.8 * s.R) : 3.5 * size;
  }

  /* Whether everything is in the plane z = 0. */
  isPlanar() {
    const p = this.page.particles, s = this.scene.space;
    if (!p || s.K || !this.frames.count) return false;
    const world = {origin: s.noOrigin(), m: s.identity()}, most = 1e-9 * (this.frames.size() + this.frames.way());
    for (let k = 0; k < this.frames.count; k += Math.max(1, Math.floor(this.frames.count / 30))) {
      const seen = this.scene.seen(k, world);
      for (let i = 0; i < Math.min(p.count, 50); i++)
        if ([this.frames.place(k, i), ...this.frames.arms(k, i)].some(x => Math.abs(s.apply(seen[this.frames.frameOf(i)], x)[2]) > most)) return false;
    }
    return true;
  }

  aim() {
    const c = this.camera, d = [Math.cos(this.pitch) * Math.cos(this.yaw), Math.cos(this.pitch) * Math.sin(this.yaw), Math.sin(this.pitch)];
    const size = this.frames.size();
    if (this.view.name === "outside") {
      const far = this.extent.far * this.zoom, t = this.extent.t;
      c.fov = curvebody.fieldOfView;
      c.near = far / 200, c.far = far * 50;
      c.position.set(t[0] + far * d[0], t[1] + far * d[1], t[2] + far * d[2]);
      c.lookAt(t[0], t[1], t[2]);
    } else {
      c.fov = 75 * Math.min(1.5, this.zoom);
      c.near = 0.01 * size, c.far = 200 * Math.max(size, this.scene.space.R);
      c.position.set(0, 0, 0);
      c.lookAt(d[0], d[1], d[2]);
    }
    c.updateProjectionMatrix();
    c.updateMatrixWorld();
    c.matrixWorldInverse.getInverse(c.matrixWorld);
  }

  mouse() {
    let last = null;
    const c = this.canvas;
    c.addEventListener("pointerdown", e => { last = [e.clientX, e.clientY]; c.setPointerCapture(e.pointerId); c.focus(); });
    c.addEventListener("pointerup", () => { last = null; this.write(); });
    c.addEventListener("pointermove", e => {
      if (!last) return;
      const inside = this.view.name !== "outside" ? -1 : 1;
      this.yaw -= inside * (e.clientX - last[0]) / 200;
      this.pitch = Math.max(-1.55, Math.min(1.55, this.pitch + inside * (e.clientY - last[1]) / 200));
      last = [e.clientX, e.clientY];
      this.show();
    });
    c.addEventListener("wheel", e => { this.zoom *= Math.exp(e.deltaY / 800); this.show(); e.preventDefault(); }, {passive: false});
  }

  key(e) {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && e.target.type !== "range") return;
    const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -1e9, End: 1e9}[e.key];
    const walk = {w: [0, 1, 0], s: [0, -1, 0], a: [-1, 0, 0], d: [1, 0, 0], q: [0, 0, -1], e: [0, 0, 1]}[e.key];
    if (e.key === " ") this.play();
    else if (step) this.go(this.k + step);
    else if (walk && this.view.name !== "outside") this.walk(walk);
    else return;
    e.preventDefault();
  }

  /* Moves the eye by one step along the axes of the camera. */
  walk(v) {
    const d = 0.2 * this.frames.size(), c = Math.sin(this.yaw), s = -Math.cos(this.yaw);
    const along = [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]].map(x => x * d);
    this.offset = this.scene.space.multiply(this.offset, this.scene.space.transvection(along));
    this.show();
  }

  resize() {
    const box = this.canvas.getBoundingClientRect(), ratio = Math.min(2, devicePixelRatio || 1);
    this.canvas.width = Math.max(64, Math.round(box.width * ratio));
    this.canvas.height = Math.max(64, Math.round(box.height * ratio));
    this.guides.element.width = this.canvas.width, this.guides.element.height = this.canvas.height;
    this.camera.aspect = this.canvas.width / this.canvas.height;
    this.framed();
    this.show();
  }

  /* --- time --- */

  go(k) {
    this.k = Math.max(0, Math.min(this.frames.count - 1, k));
    this.show();
    this.write();
  }

  play() {
    this.playing = !this.playing;
    this.button.textContent = this.playing ? "❚❚" : "▶";
    if (!this.playing) return this.write();
    if (this.k >= this.frames.count - 1) this.k = 0;
    const t = this.frames.time, span = t[t.length - 1] - t[0] || 1;
    let last = performance.now(), time = t[this.k];
    const step = now => {
      if (!this.playing) return;
      time += (now - last) / 1000 * this.speed * (this.realTime ? 1 : span / 10);
      last = now;
      this.k = this.frames.at(time);
      this.show();
      if (time >= t[t.length - 1]) return this.play();
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  show() {
    if (!this.drawing || !this.camera) return;
    this.aim();
    if (this.frames.count) {
      const eye = this.scene.eye(this.k, this.view, this.offset);
      this.view.edge = this.edgeFits();
      this.built = this.scene.build(this.k, eye, this.view);
      this.drawing.draw(this.built, this.camera, this.view);
      this.guide();
      this.range.value = this.k;
      this.clock.textContent = `t = ${+this.frames.time[this.k].toPrecision(8)}` + (this.page.time_units && this.page.time_units !== "1" ? " " + this.page.time_units : "");
      this.plots.at(this.frames.time[this.k]);
      if (this.shapes) this.shapes.draw(this.k);
    }
  }

  /* Whether the edge of the ball is inside the picture: a part of it would only confuse. */
  edgeFits() {
    const far = this.extent.far * this.zoom, camera = {...this.extent, ...curvebody.Guides.axes(this.yaw, this.pitch), far, aspect: this.camera.aspect};
    return this.scene.bounded && this.view.name === "outside" && curvebody.Guides.rectangle(this.scene.edge(), camera).every(c => Math.abs(c) < 1.2);
  }

  /* Draws axes and scale bar, and names the coordinates of the picture. */
  guide() {
    const unit = this.page.length_units && this.page.length_units !== "1" ? this.page.length_units : "", far = this.extent.far * this.zoom;
    this.guides.planar = this.planar;
    this.guides.draw({...this.extent, ...curvebody.Guides.axes(this.yaw, this.pitch), far, aspect: this.camera.aspect}, this.view, unit);
    this.caption.textContent = this.frames.leads ? this.guides.caption(this.view) : "";
  }

  /* --- the address --- */

  read() {
    const told = new URLSearchParams(location.hash.slice(1)), number = key => told.has(key) && isFinite(+told.get(key)) ? +told.get(key) : undefined;
    const view = told.get("view");
    if (["outside", "inside", "ride"].includes(view) && (view === "outside" || this.scene.inside)) this.view.name = view;
    this.view.follow = number("follow") === undefined || told.get("follow") === "" || !this.frames.leads
      ? null : Math.max(0, Math.min(this.scene.most(), Math.floor(number("follow"))));
    this.view.frame = ["body", "motion", "space"].includes(told.get("frame")) && (told.get("frame") !== "space" || this.scene.bounded) ? told.get("frame") : "motion";
    this.framing.value = this.view.frame;
    this.asked = {yaw: number("yaw"), pitch: number("pitch"), far: number("far")};
    if (this.asked.yaw === undefined || this.asked.pitch === undefined) this.asked.yaw = this.asked.pitch = undefined;
    this.told = number("t");
    if (this.told !== undefined && this.frames.count) this.k = this.frames.at(this.told);
    this.views.value = this.view.name;
    this.following.value = this.view.follow === null ? "" : this.view.follow;
  }

  write() {
    const off = /[#&]gl=off/.test(location.hash), follow = this.view.follow === null ? "" : `&follow=${this.view.follow}`;
    /* The requested time stays in the address while its frame is shown, so that a page with other frames does not
     * change it. */
    const stays = this.told <= this.frames.time[this.frames.count - 1] && this.frames.at(this.told) === this.k;
    const t = stays ? this.told : this.frames.count ? this.frames.time[this.k] : 0;
    this.written = `#t=${t}&view=${this.view.name}${follow}&frame=${this.view.frame}&yaw=${+this.yaw.toFixed(4)}&pitch=${+this.pitch.toFixed(4)}&far=${+this.zoom.toFixed(4)}` + (off ? "&gl=off" : "");
    history.replaceState(null, "", this.written);
  }

  /* During a run the file of the page is written repeatedly; this loads it again. The time and the view are kept; if
   * the page shows the last frame, it shows the new last frame. */
  again() {
    const atEnd = this.k >= this.frames.count - 1;
    this.write();
    if (atEnd) history.replaceState(null, "", location.hash.replace(/t=[^&]*/, "t=1e300"));
    location.reload();
  }

  /* --- images and films --- */

  async save() {
    this.show();
    const both = document.createElement("canvas"), c = both.getContext("2d");
    both.width = this.canvas.width, both.height = this.canvas.height;
    c.drawImage(this.canvas, 0, 0);
    c.drawImage(this.guides.element, 0, 0);
    both.toBlob(blob => this.download(blob, "png"));
  }

  download(blob, ending) {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(blob);
    a.download = this.page.title.replace(/[^\w]+/g, "-") + "." + ending;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  }

  film() {
    const stream = this.canvas.captureStream(30), recorder = new MediaRecorder(stream, {mimeType: "video/webm"}), parts = [];
    recorder.ondataavailable = e => parts.push(e.data);
    recorder.onstop = () => this.download(new Blob(parts, {type: "video/webm"}), "webm");
    this.k = 0;
    recorder.start();
    if (!this.playing) this.play();
    const wait = () => this.playing ? setTimeout(wait, 100) : recorder.stop();
    wait();
  }

  /* --- for tests: the pixel of each particle or body, and its position in the image --- */

  pixels() {
    const map = this.scene.map(this.view), s = this.scene.space, size = {x: this.canvas.width, y: this.canvas.height};
    const of = x => { const p = map(x), at = curvebody.Canvas.project(this.camera, size, p); return {p, at}; };
    const balls = this.built.balls.map(b => of(s.apply(b.m, s.base())));
    return balls.concat(this.built.surfaces.map(b => of(s.apply(b.m, s.base()))));
  }
};

curvebody.begin = async function (page, unpacked) {
  await curvebody.unpackAll(page, unpacked);
  curvebody.shown = page.tables ? new curvebody.Charts(page) : new curvebody.Page(page);
};
