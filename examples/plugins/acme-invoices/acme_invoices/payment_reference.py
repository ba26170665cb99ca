"""Makes a structured creditor reference (ISO 11649) of an invoice number."""

import re
from typing import Any

TOOL = {
    "title": "Payment reference",
    "description": "Makes a structured creditor reference (ISO 11649) of an invoice number.",
    "arguments": {
        "type": "object",
        "properties": {
            "invoice": {
                "type": "string",
                "description": "Invoice number: letters and digits, at most 21.",
                "minLength": 1,
                "maxLength": 40,
                "x-role": "target",
            },
        },
        "required": ["invoice"],
    },
    "examples": [
        {"arguments": {"invoice": "539007547034"}, "result": {"reference": "RF18539007547034"}},
    ],
}


def main(arguments: dict[str, Any], con: Any) -> dict[str, Any]:
    text = re.sub(r"[^A-Z0-9]", "", arguments["invoice"].upper())
    if not 0 < len(text) <= 21:
        raise ValueError("An invoice number has between 1 and 21 letters and digits.")
    digits = "".join(str(int(each, 36)) for each in text + "RF00")
    return {"reference": f"RF{98 - int(digits) % 97:02d}{text}"}
