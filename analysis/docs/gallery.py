"""Makes the gallery: runs of analysis/scenarios, each with the embedded page that `curvebody view` makes from its record."""
import os
import subprocess

RUNS = [
    ("elastic-rod", "A rod in hyperbolic space", "thesis/elastic-rod-h3.yaml", [],
     "The rod moves along a geodesic. Parallel geodesics diverge, so they stretch the rod, and its length oscillates."),
    ("rigid-triangle", "A rigid triangle in the three-sphere", "rigid/triangle-s3.yaml", [],
     "Three different masses, connected by rods of different lengths, rotate in a closed space."),
    ("chain", "A chain in hyperbolic space", "rigid/chain-h3.yaml", [],
     "A bent chain of a hundred rods is thrown with a rotation, and falls towards a point."),
    ("gas", "A gas in the three-sphere", "collisions/gas-s3.yaml", [],
     "Balls that collide. The time of each contact is computed to round-off."),
    ("cradle", "Newton's cradle on a great circle", "collisions/cradle-s3.yaml", [],
     "The impulse passes through the resting balls. The last ball leaves and comes back from the other side of the circle."),
    ("volume", "A surface of fixed volume", "constraints/volume-h3.yaml", [],
     "A closed surface of springs. A constraint keeps the enclosed volume constant."),
    ("kepler", "Two bodies in hyperbolic space", "basics/kepler-h3.yaml", [],
     "The potential of the two bodies is proportional to -coth d, where d is their distance. This problem cannot be reduced to "
     "the motion of one body, and the orbit fills a region."),
    ("leaf", "Leaves in still air", "immersed/leaf.yaml", [],
     "A flat leaf sinks, a leaf with a stalk flutters, and a leaf with weights at both ends tumbles."),
    ("seed", "A maple seed", "immersed/maple-seed.yaml", [],
     "The seed is released at nineteen angles. Each time it ends in the same steady fall and rotation."),
    ("eel", "An eel", "immersed/eel.yaml", [],
     "A wave moves along the body from the head to the tail, and drives the eel forwards."),
    ("joined-swimmer", "A swimmer of three links", "joints/swimmer.yaml", [],
     "Servos bend the two hinges with a phase of a quarter of a cycle, and the swimmer moves head first."),
    ("four-bar", "A four-bar linkage", "joints/four-bar.yaml", [],
     "A drive turns the crank, and the loop of four hinges moves a paddle to and fro under water."),
    ("stone", "A ball in a fluid that fills hyperbolic space", "curved-fluid/ball.yaml", [],
     "The ball spins. The curvature of the space changes the direction of its momentum, so the ball moves in a circle."),
    ("purcell", "Purcell's swimmer", "locomotion/purcell.yaml", ["gait.repeat=5"],
     "The swimmer repeats its gait five times. The plot shows the curvature as a function of the two hinge angles, and the gait "
     "as a curve."),
    ("falling-cat", "A falling cat", "locomotion/falling-cat.yaml", [],
     "Two bodies, connected by one hinge, with zero angular momentum. A gait changes their orientation only if the hinge makes a "
     "complete rotation; this gait does not."),
    ("pendulum", "A double pendulum", "systems/double-pendulum.yaml", [],
     "The motion in a configuration space, which is given by its metric and its potential."),
    ("thrown-nil", "A triangle thrown in Nil", "spaces/thrown-nil.yaml", [],
     "A rigid triangle moves in Nil, one of Thurston's geometries."),
]


# A frame is loaded when it is near the visible part of the page. The attribute `loading` is not sufficient, because browsers
# load the frames of a local page too early, and can show only a few WebGL drawings at the same time.
NEAR = """<script>
const near = new IntersectionObserver(found => {
  for (const e of found) if (e.isIntersecting) { e.target.src = e.target.dataset.src; near.unobserve(e.target); }
}, {rootMargin: "600px"});
for (const frame of document.querySelectorAll("iframe")) near.observe(frame);
</script>"""


def page(program, root, out, views):
    """Returns the gallery as Markdown. If `views` is true, runs the scenarios and writes their pages to OUT/views."""
    lines = ["# Gallery", "", "This page shows runs of scenarios in `analysis/scenarios`, with the commands that make them."]
    os.makedirs(os.path.join(out, "views"), exist_ok=True)
    for name, title, scenario, sets, caption in RUNS:
        path = os.path.join(root, "analysis/scenarios", scenario)
        words = [w for key in sets for w in ("--set", key)]
        lines += ["", f"## {title}", "", caption, "", "```sh",
                  " ".join(["curvebody run", f"analysis/scenarios/{scenario}", *words, f"-o {name}.h5"]),
                  f"curvebody view {name}.h5 -o {name}.html", "```"]
        if not os.path.exists(path):
            raise SystemExit(f"gallery: error: expected the scenario {path}, found no such file")
        if views:
            record, view = (os.path.join(out, "views", name + end) for end in (".h5", ".html"))
            subprocess.run([program, "run", path, *words, "-o", record, "--quiet"], check=True)
            subprocess.run([program, "view", record, "-o", view], check=True, stdout=subprocess.DEVNULL)
            os.remove(record)
            lines += ["", f'<iframe data-src="views/{name}.html" loading="lazy" title="{title}"></iframe>', "",
                      f"[Open on a separate page](views/{name}.html)"]
    return "\n".join(lines + ["", NEAR]) + "\n"
