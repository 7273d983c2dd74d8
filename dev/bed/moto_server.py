# SPDX-License-Identifier: Apache-2.0
"""Starts the server of moto without work that the test bed does not need.

In every request, moto reads its own folder twice to find the service, lists the methods of a class, builds a table of
the errors of the service for each error, and writes a line to the log. Together with the collection of garbage, of which
there is little, this is a third of its CPU time. The threads stay as they are, one for each connection: with a pool of
them, connections on which no request is sent would keep others waiting.

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
from moto.moto_server.werkzeug_app import DomainDispatcherApplication


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

handling = threading.Lock()
dispatch = DomainDispatcherApplication.__call__


def one_after_the_other(self, environ, start_response):
    """Handles a request when no other one is being handled. Its body is read first: a client may take long to send it."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if length:
        environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read(length))
    with handling:
        return dispatch(self, environ, start_response)


DomainDispatcherApplication.__call__ = one_after_the_other

# What was imported lives as long as the process.
gc.freeze()
gc.set_threshold(50_000, 20, 100)

server.main()
