"""Pictures of a motion: films, stills, an interactive page, plots. Drawing libraries are imported when first used."""

from mechsim.render.frames import Frames, sample, span
from mechsim.render.scene import Scene, SceneBody, scene_of

__all__ = ["Frames", "Scene", "SceneBody", "sample", "scene_of", "span"]
