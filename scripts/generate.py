"""Writes the files that are made from the code: OpenAPI document and settings reference."""

import json
import sys
from pathlib import Path

from steward.api import create_routes
from steward.core.settings import settings_reference

ROOT = Path(__file__).resolve().parent.parent


def generated() -> dict[Path, str]:
    document = json.dumps(create_routes().openapi(), indent=2, sort_keys=True, ensure_ascii=False)
    return {
        ROOT / "web/openapi.json": document + "\n",
        ROOT / "docs/reference/settings.md": settings_reference(),
    }


def main() -> None:
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
