"""Configuration of Sphinx for the pages of curvebody; `build` writes the source folder and starts Sphinx with this file.

The pages are Markdown, read by MyST. An anchor is the one that GitHub and links.py give to a heading: conf.py sets it as the
first identifier of each section, because docutils drops letters such as ² and _ from its own identifiers."""
import os
import sys

from docutils import nodes

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import links

project = "curvebody"
extensions = ["myst_parser"]
myst_heading_anchors = 6
smartquotes = False  # quotes and -- in the text are part of commands
templates_path = [HERE]
html_theme = "alabaster"
html_theme_options = {"page_width": "1180px", "sidebar_width": "250px", "font_family": "system-ui, sans-serif",
                      "font_size": "16px", "code_font_family": "ui-monospace, monospace"}
html_static_path = [os.path.join(HERE, "style.css")]
html_css_files = ["style.css"]
html_sidebars = {"**": ["searchbox.html", "sidebar.html"]}
html_title = "curvebody"
html_show_search_summary = False  # a browser refuses to read other pages for it if no server sends them
html_copy_source = html_show_copyright = html_show_sphinx = False
# Some blocks are excerpts, which are not complete files of their language, and some console output is no shell command.
suppress_warnings = ["misc.highlighting_failure"]


def set_anchors(app, document):
    """Gives each section the anchor that links use. In the reference, it begins with the anchor of the section above."""
    used = set()
    for section in document.findall(nodes.section):
        title = section.next_node(nodes.title)
        name = links.anchor(title.astext())
        literal = title.next_node(nodes.literal)
        if app.env.docname == "reference" and literal is not None:
            name = f"{section.parent['ids'][0]}-{literal.astext()}"
        count = 1
        place = name
        while place in used:
            count += 1
            place = f"{name}-{count}"
        used.add(place)
        section["ids"] = [place] + [other for other in section["ids"] if other != place]


def setup(app):
    app.connect("doctree-read", set_anchors, priority=1)  # before Sphinx collects the headings for contents and search
