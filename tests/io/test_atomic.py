"""Whatever happens while a model is saved: the old file or the new one, and nothing else."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from likely import BayesClassifier
from likely.errors import FileError, NoSuchFile
from likely.io import outputs as atomic

KILLER = """
import json, os, signal, sys
import likely
from likely.io import outputs as atomic
from likely.models import persistence

path, seen = sys.argv[1], []
old = likely.BayesClassifier().fit([[0.0], [9.0]], [0, 1])
new = likely.BayesClassifier().fit([[0.0, 1.0], [9.0, 2.0]], [0, 1])


def child(last):
    steps = 0

    def step():
        nonlocal steps
        if steps == last:
            os.kill(os.getpid(), signal.SIGKILL)
        steps += 1

    def stepping(function):
        def call(*arguments):
            step()
            result = function(*arguments)
            step()
            return result

        return call

    def write_halves(path, content):
        with atomic.whole_file(path) as file:
            step()
            file.write(content[: len(content) // 2])
            file.flush()
            step()
            file.write(content[len(content) // 2 :])

    for name in ("chmod", "fsync", "replace"):
        setattr(os, name, stepping(getattr(os, name)))
    persistence.write_whole = write_halves
    new.save(path)
    os._exit(0)


killed = True
while killed:
    old.save(path)
    assert os.listdir(os.path.dirname(path)) == ["m.likely"]
    process = os.fork()
    if not process:
        child(len(seen))
    killed = os.WIFSIGNALED(os.waitpid(process, 0)[1])
    seen.append([likely.load(path).n_features_in_, len(os.listdir(os.path.dirname(path)))])
print(json.dumps(seen))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_kill_at_every_step_of_saving(tmp_path: Path) -> None:
    """Before, halfway, and between all that the system is asked to do: the old model, then the new one."""
    command = [sys.executable, "-c", KILLER, str(tmp_path / "m.likely")]
    seen = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    features, files = zip(*seen, strict=True)
    # two while it is written, then before and after chmod, fsync and replace, and the folder's fsync; none at last
    assert features == (1,) * 7 + (2,) * 4
    assert files == (2,) * 7 + (1,) * 4  # what is left behind is swept by the next save


def test_a_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.likely"
    clf = BayesClassifier().fit([[0.0], [9.0]], [0, 1])
    clf.save(path)
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        clf.partial_fit([[1.0]], [0]).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.likely"]


FULL_DISK = """
import resource, signal, sys, numpy as np, likely
clf = likely.BayesClassifier().fit(np.random.default_rng(0).normal(size=(50, 500)), np.arange(50) % 2)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    clf.save(sys.argv[1])
except OSError as error:
    print("refused", error.errno)
"""


def test_a_write_that_really_stops_halfway(tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    BayesClassifier().fit([[0.0], [9.0]], [0, 1]).save(path)
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("refused")
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.likely"]


def test_two_savers_do_not_sweep_each_other(tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    file, name = atomic._own_file(path)
    with file:
        atomic.write_whole(path, b"other")
        assert os.path.exists(name)
    atomic.write_whole(path, b"again")
    assert not os.path.exists(name)


def node(path: Path, kind: int, device: tuple[int, int] = (0, 0)) -> Path:
    """A special file of our own: nothing here touches those of the machine."""
    try:
        os.mknod(path, kind | 0o600, os.makedev(*device))
        with path.open("rb" if stat.S_ISCHR(kind) else "r+b"):
            pass
    except (AttributeError, PermissionError):
        pytest.skip("device nodes may not be made or opened here")
    except OSError:  # a block device without a disk
        pass
    return path


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    null = node(tmp_path / "null", stat.S_IFCHR, (1, 3))
    atomic.write_whole(null, b"gone")
    (tmp_path / "link").symlink_to(null)
    atomic.write_whole(tmp_path / "link", b"gone")
    assert stat.S_ISCHR(null.stat().st_mode)
    assert (tmp_path / "link").is_symlink()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link", "null"]


def test_a_disk_is_refused(tmp_path: Path) -> None:
    disk = node(tmp_path / "disk", stat.S_IFBLK, (240, 99))
    with pytest.raises(FileError, match="neither a file nor a pipe"):
        atomic.write_whole(disk, b"gone")
    assert stat.S_ISBLK(disk.stat().st_mode)


def test_a_named_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    atomic.write_whole(pipe, b"through")
    reader.join()
    assert read == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(FileError, match="is a pipe"), atomic.log_file(pipe, anew=True):
        pass


def test_folders_sockets_and_missing_folders_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match="is a folder"):
        atomic.write_whole(tmp_path, b"x")
    for name, why in (("", "An empty name"), ("a\0b", "no file name can have"), ("\ud800", "no file name can have")):
        with pytest.raises(FileError, match=why):
            atomic.write_whole(name, b"x")
    assert list(tmp_path.iterdir()) == [] and not list(tmp_path.parent.glob(".*unfinished*"))
    with pytest.raises(NoSuchFile, match=r"There is no folder 'no/where' to write 'x\.html' to"):
        atomic.write_text("no/where/x.html", "x")
    (tmp_path / "file").touch()
    with pytest.raises(NoSuchFile, match="There is no folder"):
        atomic.write_text("file/x.html", "x")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door")
        with pytest.raises(FileError, match="neither a file nor a pipe"):
            atomic.write_whole("door", b"x")


def test_what_is_open_already_is_gone_on_with(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    code = "from likely.io.outputs import write_text; print('now', flush=True); write_text('/dev/stdout', 'then\\n')"
    with log.open("ab") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert log.read_text() == "before\nnow\nthen\n"


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link, dangling = tmp_path / "there" / "m", tmp_path / "link", tmp_path / "dangling"
    target.write_bytes(b"old")
    link.symlink_to("there/m")
    dangling.symlink_to("there/new")
    before = target.stat().st_ino
    atomic.write_whole(link, b"new")
    atomic.write_whole(dangling, b"newer")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_ino != before  # another file took its place: whoever reads the old one reads on
    assert dangling.is_symlink()
    assert (tmp_path / "there" / "new").read_bytes() == b"newer"


def test_mode_and_owner_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 12345, 23456)
    before = path.stat()
    atomic.write_whole(path, b"new")
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


def test_an_owner_that_cannot_be_kept_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only root gives files away; the group is kept where that is allowed."""
    path, asked = tmp_path / "m", []
    path.write_bytes(b"old")
    own = os.stat(path)

    def refuse(name: str, owner: int, group: int) -> None:
        asked.append((owner, group))
        if owner != -1:
            raise PermissionError(1, "Operation not permitted")

    stranger = os.stat_result((*own[:4], own.st_uid + 1, own.st_gid + 1, *own[6:]))
    monkeypatch.setattr(atomic.Path, "stat", lambda self: stranger)
    monkeypatch.setattr(atomic.os, "chown", refuse)
    atomic.write_whole(path, b"new")
    assert asked == [(own.st_uid + 1, own.st_gid + 1), (-1, own.st_gid + 1)]
    assert path.read_bytes() == b"new"
