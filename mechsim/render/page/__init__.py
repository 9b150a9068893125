"""The interactive page of a motion: its data, its text (document), and the web files it is made of."""

from mechsim.render.page.document import write

__all__ = ["write"]
