#!/usr/bin/python3
"""Scripts of analysis/figures with short runs: their statements about a run are true. Figures are saved as PNG and PDF
with the same layout, and only if all their texts can be read."""
import json
import pathlib
import re
import sys

from command import BINARY, Case, main

FIGURES = pathlib.Path(__file__).resolve().parents[2] / "analysis" / "figures"
sys.path.insert(0, str(FIGURES))
import _paths  # noqa: F401  (must be first: it makes the next imports possible)
import figure
import figure_2_13
import figure_cost
import page
from PIL import Image
from record import Records
from runs import execute
from style import DPI, panels, picture_axes, plt


class Figures(Case):
    def test_the_cost_of_a_step_is_by_the_vertices_that_the_run_had(self):
        folder = pathlib.Path(self.folder)
        for resolution in (64, 128):
            run = figure_cost.run(resolution, True, 2)
            self.assertIsNone(execute(run, BINARY, folder)[1])
            shape = f"ellipsoid:a=0.3,b=0.2,c=0.1,resolution={resolution}"
            there = json.loads(self.good("inertia", shape, "--json").stdout)["vertices"]
            self.assertEqual(figure_cost.vertices_of(Records(folder)[run]), there)

    def saved(self, canvas):
        path = pathlib.Path(self.folder) / "drawn.png"
        self.addCleanup(plt.close, canvas)
        figure.save(canvas, path)
        return path

    def refused(self, canvas, *words):
        """The figure is not saved, and the error contains the words."""
        with self.assertRaises(page.TextError) as caught:
            self.saved(canvas)
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertFalse((pathlib.Path(self.folder) / "drawn.png").exists())

    def test_a_figure_of_a_run_is_saved_with_a_pdf_of_the_same_size_and_embedded_fonts(self):
        folder = pathlib.Path(self.folder)
        for run in figure_2_13.runs(False):
            self.assertIsNone(execute(run, BINARY, folder)[1])
        path = self.saved(figure_2_13.draw(Records(folder), False).figure)
        pdf = path.with_suffix(".pdf").read_bytes()
        box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf)
        with Image.open(path) as image:
            for pixels, points in zip(image.size, box.groups()):
                self.assertLess(abs(pixels / DPI - float(points) / 72), 1.5 / DPI)  # a side is a whole number of pixels
        self.assertIn(b"/CIDFontType2", pdf)
        self.assertIn(b"/FontFile2", pdf)
        self.assertNotIn(b"/Type3", pdf)

    def test_a_figure_is_the_same_pdf_when_it_is_drawn_again(self):
        files = []
        for _ in range(2):
            canvas, ((ax,),) = panels(1, 1)
            ax.plot([0, 1])
            files.append(self.saved(canvas).with_suffix(".pdf").read_bytes())
        self.assertEqual(*files)

    def test_a_figure_with_texts_in_their_places_is_saved(self):
        canvas, ((left, right),) = panels(1, 2)
        left.plot([0, 1], label="a curve")
        left.set(xlabel="time", ylabel="height (m)", title="left")
        left.legend()
        left.text(0.5, 7, "clipped, and not drawn", clip_on=True)
        left.annotate("at a place that is not shown", (3, 7), annotation_clip=True)
        right.loglog([1, 10, 100], [1, 10, 100])
        right.set(xlabel="step", ylabel="error", title="right")
        self.assertTrue(self.saved(canvas).exists())

    def test_an_axis_label_longer_than_the_page_is_refused(self):
        canvas, ((ax,),) = panels(1, 1, height=2)
        ax.set_ylabel("a label that is much longer than the height of this figure")
        self.refused(canvas, "much longer than the height of this figure” is outside the page")

    def test_a_text_outside_the_page_is_refused(self):
        canvas, ((ax,),) = panels(1, 1)
        ax.text(2, 0.5, "far right", transform=ax.transAxes).set_in_layout(False)
        self.refused(canvas, "“far right” is outside the page")

    def test_a_text_in_space_outside_the_page_is_refused(self):
        for place, refused in (((100, 100, 100), False), ((100, 109, 100), True)):
            canvas = plt.figure()
            axes = picture_axes(canvas, 1, 1, 1)
            axes.set(xlim=(99, 101), ylim=(99, 101), zlim=(99, 101))
            axes.text(*place, "P")
            if refused:
                self.refused(canvas, "“P” is outside the page")
            else:
                self.saved(canvas).unlink()

    def test_tick_labels_that_overlap_are_refused(self):
        canvas, ((ax,),) = panels(1, 1, width=2)
        ax.set_xticks([0, 0.1, 1], ["one tick", "another", "last"])
        self.refused(canvas, "“one tick” and “another” overlap")

    def test_titles_of_two_panels_that_overlap_are_refused(self):
        canvas, ((left, right),) = panels(1, 2, width=2)
        left.set_title("a title so long that it reaches the next panel")
        right.set_title("another long title of a panel")
        self.refused(canvas, "“a title so long that it reaches the next panel” and “another long title of a panel”")

    def test_a_legend_on_an_axis_label_is_refused(self):
        canvas, ((ax,),) = panels(1, 1)
        ax.plot([0, 1], label="a curve")
        ax.set_xlabel("time")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.07))
        self.refused(canvas, "a legend and “time” overlap")


if __name__ == "__main__":
    main()
