"""Where rows are counted. Every engine returns the same statistics."""
