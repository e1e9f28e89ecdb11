"""A progress bar on a terminal or in a notebook."""
import sys
import time


class Progress:
    """A bar: of tqdm if it is installed, otherwise a line on the standard error."""

    def __init__(self, start, end):
        self.start, self.end, self.done, self.shown = start, end, start, 0.0
        try:
            from tqdm.auto import tqdm
            self.bar = tqdm(total=end - start, unit="time", unit_scale=True)
        except ImportError:
            self.bar = None

    def to(self, at):
        if self.bar is not None:
            self.bar.update(at - self.done)
        elif time.monotonic() - self.shown > 0.2:
            self.shown = time.monotonic()
            print(f"\r{100*(at - self.start)/((self.end - self.start) or 1):5.1f} %  time {at:.6g} of {self.end:.6g}   ",
                  end="", file=sys.stderr, flush=True)
        self.done = at

    def close(self):
        if self.bar is not None:
            self.bar.close()
        else:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
