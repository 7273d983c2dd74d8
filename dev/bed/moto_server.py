# SPDX-License-Identifier: Apache-2.0
"""Starts the server of moto without work that the test bed does not need.

In every request, moto reads its own folder twice to find the service, lists the methods of a class, builds a table of
the errors of the service for each error, and writes a line to the log. Together with the collection of garbage, of which
there is little, this is a third of its CPU time. The threads stay as they are, one for each connection: with a pool of
them, connections on which no request is sent would keep others waiting.

Werkzeug closes the connection after each answer, because nobody knows whether the request was read to its end. Here it
always is, so connections stay open: a connection and a thread for each request are a quarter of the CPU time.

Requests are handled one after the other. In many operations, moto goes through a dictionary of its resources, and fails with
"dictionary changed size during iteration" when another request adds one meanwhile. Python runs one thread at a time anyway.
"""

import gc
import io
import logging
import threading
from functools import lru_cache
from pkgutil import resolve_name

from moto import backends, server
from werkzeug import serving
from werkzeug.exceptions import InternalServerError


def remember(place, name):
    """Keeps the answers of a function. A release of moto that has another one instead starts without this."""
    try:
        owner = resolve_name(place)
        setattr(owner, name, lru_cache(maxsize=4096)(getattr(owner, name)))
    except (ImportError, AttributeError):
        logging.warning("moto has no %s.%s: requests may take longer", place, name)


# Errors are still written.
logging.getLogger("werkzeug").setLevel(logging.WARNING)

modules = tuple(backends.list_of_moto_modules())
backends.list_of_moto_modules = lambda: modules
remember("moto.moto_server.werkzeug_app:DomainDispatcherApplication", "get_backend_for_host")
remember("moto.core.errors", "ErrorLookupFactory")
remember("moto.core.responses", "method_names_from_class")
# Each look for a model of botocore began with a list of its four hundred folders.
remember("moto.core.loaders", "create_loader")
# Keys, certificates and user pools have a private key with which nobody signs: a tenth of a second each. They share it.
remember("cryptography.hazmat.primitives.asymmetric.rsa", "generate_private_key")
remember("cryptography.hazmat.primitives.asymmetric.rsa", "rsa_recover_prime_factors")

handling = threading.Lock()


def answer(self):
    """Reads a request whole, handles it when no other one is being handled, and writes the answer in one piece."""
    environ = self.make_environ()
    if environ.get("wsgi.input_terminated"):  # it comes in chunks
        body = environ["wsgi.input"].read()
    else:
        body = self.rfile.read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    begun = []

    def start_response(status, headers, exc_info=None):
        begun[:] = [status, headers]

    with handling:
        try:
            content = self.server.app(environ, start_response)
            text = b"".join(content)
            if hasattr(content, "close"):
                content.close()
        except Exception:
            logging.exception("%s %s", self.command, self.path)
            text = b"".join(InternalServerError()(environ, start_response))
    status, headers = begun
    code, _, reason = status.partition(" ")
    self.send_response(int(code), reason)
    for key, value in headers:
        self.send_header(key, value)
    without_body = self.command == "HEAD" or code in ("204", "304")
    if not without_body and not any(key.lower() == "content-length" for key, _ in headers):
        self.send_header("Content-Length", str(len(text)))
    self.end_headers()
    if not without_body:
        self.wfile.write(text)
    self.wfile.flush()


def expected(self):
    """Asks for the body of a request that waits for this."""
    self.send_response_only(100)
    self.end_headers()
    self.wfile.flush()
    return True


serving.WSGIRequestHandler.run_wsgi = answer
serving.WSGIRequestHandler.handle_expect_100 = expected
serving.WSGIRequestHandler.protocol_version = "HTTP/1.1"
serving.WSGIRequestHandler.wbufsize = 64 << 10  # head and body in one packet
serving.WSGIRequestHandler.disable_nagle_algorithm = True

# What was imported lives as long as the process.
gc.freeze()
gc.set_threshold(50_000, 20, 100)

server.main()
