"""`likely serve`: models that answer, explain, learn and forget over HTTP."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from likely.cli.options import Reads
from likely.cli.output import OutputOptions
from likely.errors import MissingExtra, NoSuchFile, to_install

TOKEN = "LIKELY_TOKEN"
MEGABYTE = 1_000_000


def serve(
    models: Annotated[
        list[str], typer.Argument(help="Model files: PATH, NAME=PATH or NAME@VERSION=PATH.", metavar="MODEL…"), Reads()
    ],
    output: OutputOptions,
    host: Annotated[str, typer.Option(help="The address to listen at.", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.", min=0, max=65535)] = 8000,
    learn: Annotated[bool, typer.Option("--learn", help="Take rows to learn and to forget.")] = False,
    token_file: Annotated[
        str | None, typer.Option(help="A file with the token that every request must carry.", metavar="FILE"), Reads()
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A further name under which it may be called.", metavar="NAME")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="A web page that may ask, such as https://intranet.example.", metavar="URL")
    ] = None,
    body_limit: Annotated[float, typer.Option(help="Megabytes of a request.", metavar="MB", min=0.001)] = 10.0,
    compact: Annotated[
        int, typer.Option(help="Rows in the journal after which it is folded into the model.", metavar="ROWS", min=1)
    ] = 10_000,
    watch: Annotated[
        float, typer.Option(help="Seconds between looks at the files; 0: never.", metavar="SECONDS", min=0.0)
    ] = 1.0,
    log_requests: Annotated[bool, typer.Option("--log-requests", help="A line for every request.")] = False,
) -> None:
    """Answer over HTTP by one or several models.

    \b
    likely serve mails.likely                        at http://127.0.0.1:8000
    likely serve mails.likely --learn                also POST /learn, /forget
    likely serve spam@1=old.likely spam@2=new.likely
    likely serve mails.likely --host 0.0.0.0 --token-file token.txt

    POST /predict, /decide and /explain take {"rows": [{"column": value}]}, CSV or Arrow; /v2 is the Open Inference
    Protocol, /docs lists all. A file that is replaced is read again, also on SIGHUP. What is learned is on the disk
    before it is acknowledged, in MODEL.journal, and folded into MODEL later. Another address than this machine's
    own needs a token, in a file or in the variable LIKELY_TOKEN.
    """
    try:
        from likely.serve import server
        from likely.serve.catalogue import read_source
        from likely.serve.options import Limits, ServiceOptions
        from likely.serve.service import Service
    except ImportError as error:
        raise MissingExtra(f"Serving needs {error.name}: {to_install('serve')}.") from None

    options = ServiceOptions(
        host=host, port=port, token=_token(token_file), hosts=tuple(allow_host or ()),
        origins=tuple(allow_origin or ()), learn=learn, compact_rows=compact, watch_seconds=watch,
        log_requests=log_requests, limits=replace(Limits(), body_bytes=int(body_limit * MEGABYTE)),
    )  # fmt: skip
    _log_to_stderr(output.quiet, log_requests)
    listening = server.listen(host, port)
    service = Service([read_source(model) for model in models], options)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}"
    names = ", ".join(dict.fromkeys(model.name for model in service.catalogue.all()))
    server.run(service, listening, lambda: output.say(f"Serving {names} at {address} (see {address}/docs)"))


def _token(path: str | None) -> str | None:
    if path is None:
        return os.environ.get(TOKEN) or None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise NoSuchFile(f"There is no file {path!r} with a token.") from None


def _log_to_stderr(quiet: bool, requests: bool) -> None:
    """One line for each event; never what rows hold."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("likely.serve")
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.ERROR if quiet else logging.INFO if requests else logging.WARNING)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
