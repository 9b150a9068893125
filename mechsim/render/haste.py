"""Matplotlib imported without what only people read, and without axes in space: a sixth of the time a plot takes."""

from __future__ import annotations

import sys
import warnings

SPACE = "mpl_toolkits.mplot3d"


def hasten() -> None:
    """Import what draws a plot. For a process that ends with it: classes of matplotlib have no lists of their
    properties in their documentation then, and there is no projection "3d"."""
    import matplotlib.artist as artist

    written, known = artist.kwdoc, sys.modules.get(SPACE)
    artist.kwdoc = lambda artist: ""
    sys.modules[SPACE] = None  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no such projection
            import matplotlib.backends.backend_agg
            import matplotlib.figure  # noqa: F401
    finally:
        artist.kwdoc = written
        if known is None:
            del sys.modules[SPACE]
        else:
            sys.modules[SPACE] = known
