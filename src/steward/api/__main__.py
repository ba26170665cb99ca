"""`python -m steward.api` prints the OpenAPI document, from the routes alone: no server, no database."""

import json
import sys

from steward.api import create_routes

json.dump(create_routes().openapi(), sys.stdout, indent=2, sort_keys=True, ensure_ascii=False)
sys.stdout.write("\n")
