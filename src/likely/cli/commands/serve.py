"""`likely serve`: models that predict, explain, learn and forget over HTTP."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from likely.cli.options import Reads, complete_model_files
from likely.cli.output import OutputOptions
from likely.errors import MissingExtra, NoSuchFile, to_install

TOKEN = "LIKELY_TOKEN"
MEGABYTE = 1_000_000


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Model files: PATH, NAME=PATH or NAME@VERSION=PATH.",
            metavar="MODEL",
            autocompletion=complete_model_files,
        ),
        Reads(),
    ],
    output: OutputOptions,
    host: Annotated[str, typer.Option(help="The address to listen on.", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 picks a free one.", metavar="PORT", min=0, max=65535)] = 8000,
    learn: Annotated[bool, typer.Option("--learn", help="Accept rows to learn and to forget.")] = False,
    token_file: Annotated[
        str | None, typer.Option(help="A file with the token that every request must carry.", metavar="FILE"), Reads()
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another host name that clients may use.", metavar="NAME")
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(help="A web origin that may call it, such as https://intranet.example.", metavar="URL"),
    ] = None,
    body_limit: Annotated[float, typer.Option(help="Largest request in megabytes.", metavar="MB", min=0.001)] = 10.0,
    compact: Annotated[
        int, typer.Option(help="Fold the journal into the model after this many rows.", metavar="ROWS", min=1)
    ] = 10_000,
    watch: Annotated[
        float,
        typer.Option(
            help="Seconds between checks for replaced model files; 0: never check.", metavar="SECONDS", min=0.0
        ),
    ] = 1.0,
    log_requests: Annotated[bool, typer.Option("--log-requests", help="Log every request.")] = False,
) -> None:
    """Serve one or several models over HTTP.

    \b
    likely serve mails.likely                        at http://127.0.0.1:8000
    likely serve mails.likely --learn                also POST /learn, /forget
    likely serve spam@1=old.likely spam@2=new.likely
    likely serve mails.likely --host 0.0.0.0 --token-file token.txt

    POST /predict, /decide and /explain take {"rows": [{"column": value}]}, CSV or Arrow; /v2 is the Open Inference
    Protocol, /docs lists everything. A model file that is replaced is loaded again, also on SIGHUP. Learned rows are on
    disk (MODEL.journal) before they are acknowledged, and folded into MODEL later. To listen on any address but this
    machine's own, give a token, in a file or in the variable LIKELY_TOKEN.
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
