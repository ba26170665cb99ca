"""Serves weights with the package xllamacpp: run as a script, so that nothing of Steward is loaded beside the model.

`binding.py MODEL PORT CONTEXT THREADS`, with the key as the first line of its input.
"""

import signal
import sys
import threading


def main() -> None:
    import xllamacpp

    model, port, context, threads = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.api_keys = [sys.stdin.readline().strip()]
    params.n_ctx = int(context)
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    params.use_jinja = True
    params.offline = True
    params.ui = False
    params.endpoint_slots = False
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201
    ended.wait()


if __name__ == "__main__":
    main()
