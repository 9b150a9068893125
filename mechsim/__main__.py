"""The command `mechsim`, also as `python -m mechsim`. Ctrl-C is heard before anything is imported that takes time."""

import _signal  # type: ignore[import-not-found]  # `signal` takes some milliseconds to import
import gc
import os

INTERRUPTED = 130  # what a shell reports for Ctrl-C


def leave(number: int, frame: object) -> None:
    """Nothing has begun, so there is nothing to save."""
    os.write(2, b"\ninterrupted\n")
    os._exit(INTERRUPTED)


def main() -> None:
    """Run the command and leave with its exit code."""
    gc.set_threshold(100_000, 50)  # what is imported stays, and looking through it for rubbish is a tenth of a start
    # Matrices are small here. Threads of OpenBLAS gain nothing on them, and wait for each other where others use the
    # processor too: rests of ten rods in space took 9 s, or 140.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from mechsim.cli.main import main as run

    try:
        run()
    finally:  # what the interpreter does at its end is of no interest to whoever presses Ctrl-C
        if _signal.getsignal(_signal.SIGINT) is not _signal.SIG_IGN:
            _signal.signal(_signal.SIGINT, leave)
        gc.freeze()  # it would look through all for rubbish, several times: another tenth


# Where Ctrl-C is ignored (`nohup`, a job in the background) it stays so.
if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, leave)

if __name__ == "__main__":
    main()
