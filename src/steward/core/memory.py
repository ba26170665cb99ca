"""What was loaded stays: the collector of garbage need not walk over it, which holds up every thread for a quarter second."""

import gc


def keep_loaded() -> None:
    """To be called after much was imported: what exists now is freed when nobody refers to it, but never searched for rings."""
    gc.freeze()
