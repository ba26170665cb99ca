"""The program of the drawing process: JSON jobs on standard input, bytes on standard output.

It runs as a file of its own, almost without the rest of Steward, because V8 and Typst take memory that the server should not
hold, cannot be interrupted, and may abort the process that hosts them when a specification exhausts them.
The answer is one line of JSON (sizes, or an error), then the results one after another.
"""

import json
import sys
from typing import Any

from steward.isolation import lower_limits

_VEGA_LITE = "6.4"
_MEMORY = 2 << 30


def main() -> None:
    # Neither a runaway script nor a crash may hurt the machine. Private memory only: V8 reserves far more addresses
    # than it uses.
    lower_limits({"CORE": 0, "FSIZE": 0, "CPU": 300, "DATA": _MEMORY})
    job = json.loads(sys.stdin.buffer.read())
    results: list[bytes] = []
    for number, task in enumerate(job["tasks"]):
        try:
            results.append(_TASKS[task["do"]](task))
        except (ValueError, RuntimeError) as problem:
            _answer({"error": str(problem)[:2_000], "task": number}, [])
            return
    _answer({"sizes": [len(result) for result in results]}, results)


def _vega_svg(task: dict[str, Any]) -> bytes:
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(**_vega_arguments(task))
    return text.encode()


def _vega_png(task: dict[str, Any]) -> bytes:
    import vl_convert

    return vl_convert.vegalite_to_png(scale=task["scale"], **_vega_arguments(task))


def _vega_arguments(task: dict[str, Any]) -> dict[str, Any]:
    return {
        "vl_spec": task["spec"],
        "vl_version": _VEGA_LITE,
        "config": task["config"],
        # The loader refuses every address: a chart carries its data with it.
        "allowed_base_urls": [],
        "format_locale": task["number_locale"],
        "time_format_locale": task["time_locale"],
    }


def _pdf(task: dict[str, Any]) -> bytes:
    try:
        return _compiled(task, ["ua-1"])
    except RuntimeError as problem:
        if "could not be displayed" not in str(problem):
            raise
        # No font here has one of the characters: PDF/UA forbids the empty box that a plain PDF shows in its place.
        return _compiled(task, [])


def _compiled(task: dict[str, Any], standards: Any) -> bytes:
    import typst

    fonts = typst.Fonts(
        include_system_fonts=task["system_fonts"], include_embedded_fonts=True, font_paths=[]
    )
    result = typst.compile(
        task["template"].encode(),
        # An empty folder: a template that tried to read a file would find none.
        root=task["root"],
        font_paths=fonts,
        sys_inputs={"report": task["report"]},
        pdf_standards=standards,
        package_path=task["root"],
        package_cache_path=task["root"],
        timestamp=task["timestamp"],
    )
    if not isinstance(result, bytes):
        raise TypeError("Typst returned no document.")
    return result


_TASKS = {"svg": _vega_svg, "png": _vega_png, "pdf": _pdf}


def _answer(head: dict[str, Any], results: list[bytes]) -> None:
    out = sys.stdout.buffer
    out.write(json.dumps(head).encode() + b"\n")
    for result in results:
        out.write(result)
    out.flush()


if __name__ == "__main__":
    main()
