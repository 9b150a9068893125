"""Where films, pages and plots may be written to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mechsim.errors import Fault
from mechsim.result.paths import OutputError, check_folder, explained, real_path

FILMS = (".mp4", ".webm", ".gif")
FORMS = (*FILMS, ".png", ".html")


def check_film_target(path: str | Path, forms: Sequence[str] = FORMS) -> Path:
    """The path a film can be written to, or an OutputError that says why not."""
    with explained(path):
        target = real_path(path)
        if target.is_dir():
            hint = f"name a file in it: {path}/out{forms[0]}"
            raise OutputError(Fault(f"cannot write {path}: it is a folder", hint=hint))
        if target.suffix.lower() not in forms:
            said = f"the ending {target.suffix!r}" if target.suffix else "a name without ending"
            raise OutputError(Fault(f"cannot write {path}: {said} is not known", hint=f"use one of {', '.join(forms)}"))
        check_folder(target, path)
        if not os.access(target.parent, os.W_OK):
            raise OutputError(Fault(f"cannot write {path}: it is read-only", hint="choose another name with -o"))
    return target
