"""Makes analysis/lib and analysis/reference importable from a figure script."""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / part) for part in ("lib", "reference")]
