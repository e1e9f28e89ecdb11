"""The gallery: runs of analysis/scenarios, each with the page that `curvebody view` makes of it, embedded."""
import os
import subprocess

RUNS = [
    ("elastic-rod", "A rod in hyperbolic space", "thesis/elastic-rod-h3.yaml", [],
     "It is carried along a geodesic; what is parallel parts, and the spring swings."),
    ("rigid-triangle", "A rigid triangle in the three-sphere", "rigid/triangle-s3.yaml", [],
     "Three masses with rods: a body without symmetry in a space that closes up."),
    ("chain", "A chain in hyperbolic space", "rigid/chain-h3.yaml", [],
     "A bent chain of a hundred rods, thrown and turning, falls towards a point."),
    ("gas", "A gas in the three-sphere", "collisions/gas-s3.yaml", [], "Balls that meet; each contact is found to round-off."),
    ("cradle", "Newton's cradle on a great circle", "collisions/cradle-s3.yaml", [],
     "The blow goes through, and comes back from the other side."),
    ("volume", "A surface of fixed volume", "constraints/volume-h3.yaml", [], "A net of springs that keeps what it encloses."),
    ("kepler", "Two bodies in hyperbolic space", "basics/kepler-h3.yaml", [],
     "They attract each other by coth d; the problem does not reduce to one body, and the orbit fills a region."),
    ("leaf", "Leaves in still air", "immersed/leaf.yaml", [], "One sinks flat, one with a stalk flutters, one tumbles."),
    ("seed", "A maple seed", "immersed/maple-seed.yaml", [], "It finds its rotation by itself."),
    ("eel", "An eel", "immersed/eel.yaml", [], "A wave of shape that goes backwards drives it forwards."),
    ("stone", "A ball in a fluid that fills hyperbolic space", "curved-fluid/ball.yaml", [],
     "It spins, and curvature turns its momentum: it circles."),
    ("purcell", "Purcell's swimmer", "locomotion/purcell.yaml", ["gait.repeat=5"],
     "Curvature over shape space, the gait on it."),
    ("falling-cat", "A falling cat", "locomotion/falling-cat.yaml", [],
     "Two bodies with one hinge, without angular momentum: only a whole turn of it has a net effect."),
    ("pendulum", "A double pendulum", "systems/double-pendulum.yaml", [],
     "A configuration space, from its metric and potential."),
    ("thrown-nil", "A triangle thrown through Nil", "spaces/thrown-nil.yaml", [], "One of Thurston's geometries."),
]


# Not by `loading` alone: browsers load a frame of a local page from afar, and show few drawings by WebGL at once.
NEAR = """<script>
const near = new IntersectionObserver(found => {
  for (const e of found) if (e.isIntersecting) { e.target.src = e.target.dataset.src; near.unobserve(e.target); }
}, {rootMargin: "600px"});
for (const frame of document.querySelectorAll("iframe")) near.observe(frame);
</script>"""


def page(program, root, out, views):
    """Markdown of the gallery; with views the scenarios are run and their pages written to OUT/views."""
    lines = ["# Gallery", "", "Runs of `analysis/scenarios`, and what `curvebody view` shows of each."]
    os.makedirs(os.path.join(out, "views"), exist_ok=True)
    for name, title, scenario, sets, caption in RUNS:
        path = os.path.join(root, "analysis/scenarios", scenario)
        words = [w for key in sets for w in ("--set", key)]
        lines += ["", f"## {title}", "", caption, "", "```sh",
                  " ".join(["curvebody run", f"analysis/scenarios/{scenario}", *words, f"-o {name}.h5"]),
                  f"curvebody view {name}.h5 -o {name}.html", "```"]
        if not os.path.exists(path):
            raise SystemExit(f"gallery: error: no {path}")
        if views:
            record, view = (os.path.join(out, "views", name + end) for end in (".h5", ".html"))
            subprocess.run([program, "run", path, *words, "-o", record, "--quiet"], check=True)
            subprocess.run([program, "view", record, "-o", view], check=True, stdout=subprocess.DEVNULL)
            os.remove(record)
            lines += ["", f'<iframe data-src="views/{name}.html" loading="lazy" title="{title}"></iframe>', "",
                      f"[On a page of its own](views/{name}.html)"]
    return "\n".join(lines + ["", NEAR]) + "\n"
