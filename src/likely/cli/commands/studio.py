"""`likely studio`: a page in the browser that shows a model, or trains one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from likely.cli.models import load_model, provenance_of
from likely.cli.options import Reads, complete_model_files
from likely.cli.output import OutputOptions
from likely.errors import MissingExtra, to_install

BODY_BYTES = 500_000_000


def studio(
    output: OutputOptions,
    model: Annotated[
        str | None,
        typer.Argument(
            help="A model; without one, drop a table on the page and train.", metavar="MODEL",
            autocompletion=complete_model_files,
        ),
        Reads(),
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", "-d", help="Rows to look at and to evaluate on.", metavar="FILE"),
        Reads(),
    ] = None,
    port: Annotated[int, typer.Option(help="The port; 0 picks a free one.", metavar="PORT", min=0, max=65535)] = 8001,
    browse: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
) -> None:  # fmt: skip
    """Explore a model in the browser: columns, cases, costs, reasons.

    \b
    likely studio mails.likely                    what it has learned
    likely studio mails.likely --data mails.csv   and how good it is
    likely studio                                 start with a table

    The page is served to this machine only, and loads nothing from elsewhere. For a page that needs no server:
    likely show MODEL -o page.html
    """
    try:
        from likely.serve import server
        from likely.serve.catalogue import read_source
        from likely.serve.options import Limits, ServiceOptions
        from likely.serve.service import Service
        from likely.studio.material import material_of
        from likely.studio.routes import StudioRoutes
        from likely.studio.workbench import Workbench
    except ImportError as error:
        raise MissingExtra(f"The studio needs {error.name}: {to_install('serve')}.") from None

    material = None
    if model is not None:
        classifier = load_model(model)
        material = material_of(classifier, Path(model).name, provenance_of(model), data)
    options = ServiceOptions(
        port=port, log_requests=False, may_be_empty=True, limits=replace(Limits(), body_bytes=BODY_BYTES)
    )
    listening = server.listen(options.host, port)
    service = Service([read_source(model)] if model is not None else [], options)
    routes = StudioRoutes(Workbench(material, None if material is None else material.rows), service)
    address = f"http://{options.host}:{listening.getsockname()[1]}/studio"

    def started() -> None:
        output.say(f"The studio is at {address} (Ctrl+C ends it)")
        if browse:
            typer.launch(address)

    try:
        server.run(service, listening, started, routes.add_to)
    finally:
        routes.close()
