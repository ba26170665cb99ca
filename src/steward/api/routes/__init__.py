"""Routes, one file per noun; each exports `router`."""
