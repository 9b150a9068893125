"""Where results are written: never on what they are made from, never through a link, never on what is not ours."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mechsim.cli.main import main
from mechsim.result import Journal, OutputError, load
from mechsim.result.paths import open_held, replacing

PRECIOUS = "what I wrote by hand\n"
TABLED = """
PartData: {Fixed: {O: [], R: [1]}, Particles: {A: 1}}
Joints: {Slots: {A-OR: []}}
Tables: {f: {file: FILE}}
AppliedForces: {Forces: {A: [f, 0]}}
ProblemData: {tend: 1, positions: {A: [1]}}
"""


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main([*words])
    return int(left.value.code or 0)


def tabled(table: str = "f.csv") -> None:
    Path(table).write_text("0,1\n1,2\n")
    Path("cart.csv").write_text(TABLED.replace("FILE", table))  # a mechanism may have any name


@pytest.fixture(params=["itself", "symbolic link", "hard link", "longer way", "folder link"])
def other_name(request):
    """Another name of a file."""

    def name(path: str) -> str:
        alias = Path("alias.csv")
        match request.param:
            case "symbolic link":
                alias.symlink_to(path)
            case "hard link":
                os.link(path, alias)
            case "longer way":
                Path("deep").mkdir()
                return f"deep/../{path}"
            case "folder link":
                Path("here").symlink_to(".")
                return f"here/{path}"
            case _:
                return path
        return str(alias)

    return name


@pytest.mark.parametrize("source", ["cart.csv", "f.csv"])
def test_results_are_not_written_on_what_they_are_made_from(source, other_name, capsys):
    tabled()
    before = Path(source).read_text()
    assert run("run", "cart.csv", "-o", other_name(source)) == 2
    assert "the motion is computed from that file" in capsys.readouterr().err
    assert Path(source).read_text() == before


def test_nor_are_rows_kept_on_a_table(capsys):
    table = "out.partial.csv"
    tabled(table)
    Path(table).write_text("# mechsim wrote something like this\n0,1\n1,2\n")
    assert run("run", "cart.csv", "-o", "out.csv", "--samples", "5") == 2
    assert "the motion is computed from that file" in capsys.readouterr().err
    assert Path(table).read_text().startswith("# mechsim wrote")


def test_python_does_not_either(tmp_path):
    import mechsim

    tabled()
    motion = mechsim.simulate("cart.csv")
    for source in ("cart.csv", "f.csv"):
        before = Path(source).read_text()
        with pytest.raises(OutputError, match="the motion is computed from that file"):
            motion.save(source)
        assert Path(source).read_text() == before
    motion.save("out.csv")
    assert len(load("out.csv")) == len(motion.t)


def foreign(kind: str, place: Path) -> Path | None:
    """Something in the place of a partial file; the file whose content must stay."""
    precious = Path("precious.txt")
    precious.write_text(PRECIOUS)
    match kind:
        case "symbolic link":
            place.symlink_to(precious)
        case "link to nothing":
            place.symlink_to("nothing.txt")
        case "hard link":
            os.link(precious, place)
        case "hard link to ours":
            precious.write_text("# mechsim 1\n")
            os.link(precious, place)
        case "hand-written":
            place.write_text(PRECIOUS)
            return place
        case "short":
            place.write_text("# mech")
            return place
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
    return precious


@pytest.mark.parametrize(
    "kind",
    ["symbolic link", "link to nothing", "hard link", "hard link to ours", "hand-written", "short", "pipe", "folder"],
)
def test_what_is_not_ours_is_left_alone(kind):
    precious = foreign(kind, Path("out.partial.csv"))
    before = precious.read_text()
    with pytest.raises(OutputError, match=r"cannot (keep rows in|write) .*out\."):
        Journal("out.csv", "# mechsim 1\nt\n", "%g\n")
    assert precious.read_text() == before and not Path("nothing.txt").exists()


def test_the_partial_file_of_an_earlier_run_is_replaced():
    Path("out.partial.csv").write_text("# mechsim 0\nt\n" + "1\n" * 1000)
    journal = Journal("out.csv", "# mechsim 1\nt\n", "%g\n")
    assert Path("out.partial.csv").read_text() == "# mechsim 1\nt\n"
    journal.finish("")
    assert Path("out.csv").read_text() == "# mechsim 1\nt\n"


def test_somebody_elses_partial_file_is_left_alone(monkeypatch):
    Path("out.partial.csv").write_text("# mechsim 0\nt\n")
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(OutputError, match="it belongs to somebody else"):
        Journal("out.csv", "# mechsim 1\nt\n", "%g\n")
    assert Path("out.partial.csv").read_text() == "# mechsim 0\nt\n"


@pytest.mark.parametrize("name", ["out.partial.npz", "film.partial.mp4"])
def test_what_is_beside_a_target_is_left_alone(name):
    target = Path(name.replace(".partial", ""))
    Path(name).symlink_to("precious.txt")
    Path("precious.txt").write_text(PRECIOUS)
    with replacing(target.resolve()) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new" and Path("precious.txt").read_text() == PRECIOUS and Path(name).is_symlink()
    assert sorted(os.listdir()) == sorted([name, "precious.txt", target.name])


def test_a_file_that_was_renamed_before_it_was_held_is_opened_again(monkeypatch):
    """The race: a second run opens the partial file, the first one renames it, then the second locks it."""
    import fcntl

    first = Journal("out.csv", "# mechsim 1\nt\n", "%g\n")
    lock, calls = fcntl.flock, []

    def late(stream, how):
        calls.append(1)
        if len(calls) == 1:
            first.finish("# complete\n")  # between the opening and the locking
        lock(stream, how)

    monkeypatch.setattr(fcntl, "flock", late)
    second = Journal("out.csv", "# mechsim 2\nt\n", "%g\n")
    assert Path("out.csv").read_text() == "# mechsim 1\nt\n# complete\n"
    assert Path("out.partial.csv").read_text() == "# mechsim 2\nt\n" and len(calls) == 2
    second.finish("")


def test_only_one_of_many_writes():
    """Threads open the same partial file again and again: never do two hold it, never is a finished file emptied."""
    held, most, wrong = [0], [0], []
    guard = threading.Lock()

    def work(number: int) -> None:
        for _ in range(60):
            try:
                journal = Journal("out.csv", f"# mechsim {number}\nt\n", "%g\n")
            except OutputError:
                continue
            with guard:
                held[0] += 1
                most[0] = max(most[0], held[0])
            journal._write("1\n")
            with guard:
                held[0] -= 1
            if journal.finish("# done\n").read_text().splitlines()[1:] != ["t", "1", "# done"]:
                wrong.append(number)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert most[0] == 1 and not wrong and os.listdir() == ["out.csv"]


def test_a_second_run_is_told_that_the_first_one_writes():
    journal = Journal("out.csv", "# mechsim 1\nt\n", "%g\n")
    with pytest.raises(OutputError, match="another run is writing it"):
        open_held(Path("out.partial.csv"))
    journal.discard()
    assert os.listdir() == []


LONG = "n" * 300
COMMANDS = [
    ["run", "cart.yaml", "-o", f"{LONG}.csv"],
    ["run", "cart.yaml", "-o", f"{'n' * 250}.csv"],  # only its partial file has too long a name
    ["run", "cart.yaml", "-o", f"{LONG}/out.csv"],
    ["run", f"{LONG}.yaml"],
    ["run", "cart.yaml", "-o", "/".join(["d"] * 3000) + ".csv"],
    ["check", LONG],
    ["assemble", LONG],
    ["open", f"{LONG}.yaml", "--no-browser"],
    ["open", "cart.yaml", "--no-browser", "-o", f"{LONG}.html"],
    ["animate", f"{LONG}.csv"],
    ["animate", "out.csv", "-o", f"{LONG}.gif"],
    ["plot", LONG],
    ["plot", "out.csv", "-o", f"{LONG}.png"],
    ["run", ""],
    ["animate", ""],
    ["animate", "."],
    ["animate", "/"],
    ["animate", "out.csv", "-o", ""],
    ["plot", ""],
    ["plot", ".."],
    ["open", ""],
    ["run", "."],
    ["run", "cart.yaml", "-o", ""],
    ["run", "cart.yaml", "-o", "."],
    ["run", "cart.yaml", "--tables-from", LONG, "-o", "x/y.csv"],
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    (folder / "cart.yaml").write_text(TABLED.replace("{file: FILE}", "{points: [[0, 1], [1, 2]]}"))
    here = os.getcwd()
    os.chdir(folder)
    assert run("run", "cart.yaml", "-o", "out.csv", "-q") == 0
    os.chdir(here)
    return folder


@pytest.mark.parametrize("words", COMMANDS, ids=range(len(COMMANDS)))
def test_names_that_cannot_be_are_errors_of_ours(words, results, capsys):
    for name in ("cart.yaml", "out.csv"):
        shutil.copy(results / name, name)
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert "unexpected" not in said and "error: " in said.lower()


def test_a_working_folder_that_is_gone(results, tmp_path):
    """What is named in full works; what is not cannot be found; nothing is unexpected."""
    (tmp_path / "target").mkdir()
    script = f"""
mkdir gone && cd gone && rm -rf ../gone
for words in "run {results}/cart.yaml -o {tmp_path}/target/out.csv" "run {results}/cart.yaml" "run cart.yaml" \\
    "check {results}/cart.yaml" "animate {results}/out.csv -o {tmp_path}/target/film.png" "animate {results}/out.csv" \\
    "plot {results}/out.csv -o {tmp_path}/target/plot.png" "plot {results}/out.csv" "assemble {results}/cart.yaml" \\
    "open {results}/cart.yaml --no-browser" "--help" "version"
do {sys.executable} -m mechsim $words > /dev/null 2>> {tmp_path}/said; echo $?; done
"""
    ended = subprocess.run(["sh", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert [int(code) for code in ended.stdout.split()] == [0, 2, 2, 0, 0, 2, 0, 2, 0, 2, 0, 0]
    said = (tmp_path / "said").read_text()
    assert "unexpected" not in said and "Traceback" not in said
    assert sorted(os.listdir(tmp_path / "target")) == ["film.png", "out.csv", "plot.png"]
