"""`likely warm-up`: compile everything now, so that no later command waits for it."""

from __future__ import annotations

from likely.cli.output import OutputOptions, many, write_json


def warm_up(output: OutputOptions) -> None:
    """Compile everything that is compiled on first use, so that nobody waits for it later.

    \b
    likely warm-up

    The fast loops are compiled once on a machine, each when it is first needed; this does all of them, with a bar. They
    are kept beside the package, or in the folder that NUMBA_CACHE_DIR names.
    """
    import time

    from likely.warmup import warm_up

    begun = time.monotonic()
    compiled = warm_up(output.progress)
    if output.json:
        write_json({"compiled": compiled, "seconds": round(time.monotonic() - begun, 1)})
    did = f"Compiled {many(compiled, 'loop')} in {time.monotonic() - begun:.0f} s"
    output.say(f"{did}; later commands find them." if compiled else "Everything was compiled already.")
