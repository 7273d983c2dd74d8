# SPDX-License-Identifier: Apache-2.0
"""Starts the server of moto without work that the test bed does not need.

In every request, moto reads its own folder twice to find the service, builds a table of the errors of the service for
each error, starts a thread, and writes a line to the log. Together with the collection of garbage, of which there is
little, this is a third of its CPU time.
"""

import gc
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from moto import backends, server
from moto.core import errors
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from werkzeug.serving import ThreadedWSGIServer

# Errors are still written.
logging.getLogger("werkzeug").setLevel(logging.WARNING)

modules = tuple(backends.list_of_moto_modules())
backends.list_of_moto_modules = lambda: modules
DomainDispatcherApplication.get_backend_for_host = lru_cache(maxsize=4096)(
    DomainDispatcherApplication.get_backend_for_host
)

lookups = errors.ErrorLookupFactory()
errors.ErrorLookupFactory = lambda: lookups

workers = ThreadPoolExecutor(max_workers=8)
ThreadedWSGIServer.process_request = lambda self, request, address: workers.submit(
    self.process_request_thread, request, address
)

# What was imported lives as long as the process.
gc.freeze()
gc.set_threshold(50_000, 20, 100)

server.main()
