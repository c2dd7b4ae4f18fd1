"""The protocol over HTTP, by aiohttp: an event loop in a thread of its own, runs in others."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aiohttp import web

from staticad_schema.errors import ExecutionError, PlanError, StaticadError

from ..address import split
from ..serving.checkpoints import LOG
from ..serving.failures import status
from ..serving.limits import Limits, Run
from ..serving.service import Admission
from . import described, rest
from .inferring import Inference

HEADER_LENGTH = "Inference-Header-Content-Length"
STATUSES = {
    "INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "UNAUTHENTICATED": 401, "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429, "CANCELLED": 499, "ABORTED": 500, "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}  # fmt: skip
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
VERSIONED = ("/v2/models/{model}", "/v2/models/{model}/versions/{version}")


class HttpServer:
    """Listens from when it is made until `stop`; `address` is where."""

    def __init__(
        self,
        address: str,
        inference: Inference,
        admission: Admission,
        limits: Limits,
        busy: Callable[[], tuple[int, int]],
        ssl: Any = None,
    ) -> None:
        """busy: how many sessions are open, and runs in progress.  ssl: an SSLContext, for TLS.
        Raises ExecutionError."""
        self._inference = inference
        self._admission = admission
        self._busy = busy
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.threads, thread_name_prefix="http")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="http", daemon=True)
        self._thread.start()
        self._runner = web.AppRunner(
            self._application(), access_log=None, handler_cancellation=True, shutdown_timeout=10.0
        )
        try:
            self.address: str = self._wait(self._listen(address, ssl))
        except OSError as error:
            self._end()
            raise ExecutionError(
                "the server cannot listen there",
                asked=f"serve --http {address}",
                expected="an address that is free",
                found=str(error),
            ) from None

    def stop(self) -> None:
        """Answer what was asked, and stop."""
        self._wait(self._runner.cleanup())
        self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._pool.shutdown(wait=False)

    def _wait(self, awaited: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(awaited, self._loop).result()

    async def _listen(self, address: str, ssl: Any) -> str:
        await self._runner.setup()
        host, port = split(address)
        site = web.TCPSite(self._runner, host, int(port), ssl_context=ssl)
        await site.start()
        bound: Any = self._runner.addresses[0]
        name = f"[{host}]" if ":" in host else host
        return f"{name}:{bound[1]}"

    def _application(self) -> web.Application:
        application = web.Application(
            middlewares=[self._guarded], client_max_size=self._limits.http_bytes
        )
        add = application.router.add_route
        for path in ("/v2/health/live", "/v2/health/ready"):
            add("GET", path, self._alive)
        add("GET", "/v2", self._server)
        add("GET", "/v2/models/stats", self._statistics)
        for path in VERSIONED:
            add("GET", path, self._model)
            add("GET", f"{path}/ready", self._ready)
            add("GET", f"{path}/stats", self._statistics)
            add("POST", f"{path}/infer", self._infer)
        add("POST", "/v2/repository/index", self._index)
        add("POST", "/v2/repository/models/{model}/load", self._load)
        add("POST", "/v2/repository/models/{model}/unload", self._unload)
        for path in ("/v2/systemsharedmemory", "/v2/systemsharedmemory/region/{region}"):
            add("GET", f"{path}/status", self._memory_status)
            add("POST", f"{path}/unregister", self._memory_unregister)
        add("POST", "/v2/systemsharedmemory/region/{region}/register", self._memory_register)
        add("GET", "/metrics", self._metrics)
        return application

    # ---------------------------------------------------------------- answers

    async def _alive(self, request: web.Request) -> web.Response:
        return web.Response()

    async def _server(self, request: web.Request) -> web.Response:
        return web.json_response(described.server())

    async def _model(self, request: web.Request) -> web.Response:
        return web.json_response(described.model(self._asked(request)))

    async def _ready(self, request: web.Request) -> web.Response:
        self._asked(request)
        return web.Response()

    async def _statistics(self, request: web.Request) -> web.Response:
        model, version = (request.match_info.get(key, "") for key in ("model", "version"))
        found = described.statistics(self._inference.repository, model, version)
        return web.json_response({"model_stats": found})

    async def _infer(self, request: web.Request) -> web.Response:
        body = await request.read()
        run = self._inference.run()
        work = asyncio.get_running_loop().run_in_executor(
            self._pool, self._inferred, request, body, run
        )
        try:
            document, raw = await asyncio.shield(work)
        except asyncio.CancelledError:
            # Whoever asked has gone.
            run.cancel.set()
            raise
        response = web.Response(body=document + raw)
        if raw:
            response.headers[HEADER_LENGTH] = str(len(document))
            response.content_type = "application/octet-stream"
        else:
            response.content_type = "application/json"
        response.enable_compression()
        return response

    def _inferred(self, request: web.Request, body: bytes, run: Run) -> tuple[bytes, bytes]:
        path = request.match_info
        header = request.headers.get(HEADER_LENGTH)
        asked = rest.Asked(self._inference, path["model"], path.get("version", ""), body, header)
        return rest.answer(asked, self._inference.infer(asked.request, run))

    async def _index(self, request: web.Request) -> web.Response:
        asked = rest.parsed(await request.read())
        only_ready = asked.get("ready", False) is True
        return web.json_response(described.index(self._inference.repository, only_ready))

    async def _load(self, request: web.Request) -> web.Response:
        if rest.parsed(await request.read()).get("parameters"):
            raise PlanError(
                "models are loaded from the server's files only",
                asked="load",
                expected="no parameters",
            )
        await self._in_thread(self._inference.repository.load, request.match_info["model"])
        return web.Response()

    async def _unload(self, request: web.Request) -> web.Response:
        await self._in_thread(self._inference.repository.unload, request.match_info["model"])
        return web.Response()

    async def _memory_status(self, request: web.Request) -> web.Response:
        regions = self._inference.memory.registered(request.match_info.get("region", ""))
        return web.json_response([region._asdict() for region in regions])

    async def _memory_register(self, request: web.Request) -> web.Response:
        asked = rest.parsed(await request.read())
        key, offset, size = (asked.get(k, 0) for k in ("key", "offset", "byte_size"))
        if not (isinstance(key, str) and type(offset) is int and type(size) is int):
            raise PlanError(
                "not a place in shared memory",
                asked="shared memory",
                expected="key, byte_size and perhaps offset",
            )
        self._inference.memory.register(request.match_info["region"], key, offset, size)
        return web.Response()

    async def _memory_unregister(self, request: web.Request) -> web.Response:
        self._inference.memory.unregister(request.match_info.get("region", ""))
        return web.Response()

    async def _metrics(self, request: web.Request) -> web.Response:
        text = described.metrics(self._inference.repository, *self._busy())
        return web.Response(text=text, content_type="text/plain", charset="utf-8")

    # ---------------------------------------------------------------- around them

    def _asked(self, request: web.Request) -> Any:
        path = request.match_info
        return self._inference.repository.get(path["model"], path.get("version", "")).model

    async def _in_thread(self, work: Callable[[str], None], name: str) -> None:
        await asyncio.get_running_loop().run_in_executor(self._pool, work, name)

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            headers = request.headers
            self._admission.admit(lambda: [(key.lower(), v) for key, v in headers.items()])
            return await handler(request)
        except StaticadError as error:
            return _failed(STATUSES[status(error).name], str(error))
        except web.HTTPException as error:
            return _failed(error.status, error.reason)
        except web.RequestPayloadError as error:
            return _failed(400, str(error))
        except Exception as error:
            LOG.exception("a request has failed")
            return _failed(500, f"{type(error).__name__}: {error}")


def _failed(code: int, words: str) -> web.Response:
    return web.Response(
        status=code,
        text=json.dumps({"error": words[:4000]}),
        content_type="application/json",
    )
