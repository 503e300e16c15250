"""A `likely` that starts at once: a process that has imported everything forks for every command.

The child has the arguments, the folder and the three streams of whoever called, so pipes and exit codes are real.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLIENT = """#!{python} -ISs
import json, os, socket, sys
caller = socket.socket(socket.AF_UNIX)
caller.connect({address!r})
socket.send_fds(caller, [json.dumps([os.getcwd(), sys.argv[1:]]).encode()], [0, 1, 2])
sys.exit(int(caller.recv(8) or 99))
"""


@contextmanager
def preloaded(folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which `likely` is the quick one; `folder` holds what it needs."""
    folder.mkdir()
    address = str(folder / "socket")
    program = folder / "likely"
    program.write_text(CLIENT.format(python=sys.executable, address=address))
    program.chmod(0o755)
    root = Path(__file__).resolve().parents[2]
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.preloaded", address], cwd=root, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
    )  # fmt: skip
    assert server.stdout is not None
    try:
        server.stdout.readline()  # it listens
        yield {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def serve(address: str) -> None:
    """Fork for every caller."""
    import likely.evaluation
    import likely.models.persistence
    import likely.streaming.evaluate
    import likely.streaming.transform  # noqa: F401
    from likely.cli.app import app  # noqa: F401

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    while True:
        caller, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            if os.fork() == 0:
                _answer(caller)
            os._exit(0)
        caller.close()
        os.wait()


def _answer(caller: socket.socket) -> None:
    content, streams, _, _ = socket.recv_fds(caller, 1 << 16, 3)
    folder, arguments = json.loads(content)
    os.chdir(folder)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (open(k, mode, closefd=False) for k, mode in enumerate("rww"))  # noqa: SIM115
    from likely.cli.run import main

    sys.argv = ["likely", *arguments]
    code = 99
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    sys.stdout.flush()
    sys.stderr.flush()
    for number in range(3):  # whoever reads shall see the end before the exit code
        os.close(number)
    caller.sendall(str(code).encode())
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
