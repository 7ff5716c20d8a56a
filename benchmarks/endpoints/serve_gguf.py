"""llama.cpp's own server on a GGUF file: `python serve_gguf.py FILE PORT`.

Runs in the environment of `usual_ports.py`: xllamacpp is llama.cpp's server as a wheel, so that nothing is
compiled.
"""

import signal
import sys

import xllamacpp

CONTEXT_TOKENS = 16_384


def main(path: str, port: str) -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.hostnames, parameters.port = ["127.0.0.1"], int(port)
    parameters.n_ctx, parameters.n_parallel = CONTEXT_TOKENS, 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main(*sys.argv[1:])
