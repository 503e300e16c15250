"""`likely warm-up`: compile everything now, so that no later command waits for it."""

from __future__ import annotations

from likely.cli.output import OutputOptions, many, write_json


def warm_up(output: OutputOptions) -> None:
    """Compile everything now, so that later commands start at once.

    \b
    likely warm-up

    The fast loops are compiled once per machine, each when it is first needed; this compiles them all, with a progress
    bar. The results are kept beside the package, or in the folder that NUMBA_CACHE_DIR names.
    """
    import time

    from likely.warmup import warm_up

    begun = time.monotonic()
    compiled = warm_up(output.progress)
    if output.json:
        write_json({"compiled": compiled, "seconds": round(time.monotonic() - begun, 1)})
    did = f"Compiled {many(compiled, 'loop')} in {time.monotonic() - begun:.0f} s"
    output.say(f"{did}; later commands need not." if compiled else "Everything was compiled already.")
