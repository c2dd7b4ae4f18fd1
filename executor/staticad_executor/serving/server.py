"""A server: gRPC around the service, where it listens, and its end."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import ssl
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from staticad_schema.errors import ExecutionError, PlanError

from ..address import PROCESS, UNIX, check_address, is_private, split
from ..inference.grpc_service import InferenceService
from ..inference.inferring import Inference
from ..inference.repository import Batching, Repository
from .checkpoints import Folder
from .limits import Limits
from .models import Models
from .protocol import MESSAGE, METADATA, READY, handlers
from .service import Admission, Service

LOG = logging.getLogger("staticad.serving")
GRACE = 10.0


@dataclass(frozen=True)
class Settings:
    """What a server is asked to be.

    listen: addresses.  token, certificate with key, client_ca: how callers show who they are; an
    address that others than this machine reach needs the first or the last.
    """

    listen: tuple[str, ...]
    files: tuple[Path, ...] = ()
    models: Path | None = None
    device: str = "auto"
    checkpoints: Path | None = None
    checkpoint_every: float = 60.0
    token: str = ""
    certificate: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None
    limits: Limits = field(default_factory=Limits)
    http: str = ""
    batching: Batching = field(default_factory=Batching)
    lifeline: int | None = None


class Server:
    """A server that listens; `addresses` is where."""

    def __init__(self, settings: Settings) -> None:
        """Raises PlanError, ExecutionError, FormatError, OSError."""
        _check(settings)
        limits = settings.limits
        self._folder = None if settings.checkpoints is None else Folder(settings.checkpoints)
        models, admission = Models(settings.files, settings.models), Admission(settings.token)
        self.service = Service(limits, models, self._folder, admission, settings.device)
        gate, threads = self.service.gate, limits.threads
        repository = Repository(models, settings.device, gate, limits, settings.batching)
        inference = Inference(repository, limits)
        self._server = grpc.server(
            ThreadPoolExecutor(threads, thread_name_prefix="serving"),
            handlers=[
                handlers(self.service.answers()),
                InferenceService(inference, admission).handlers(),
            ],
            options=(
                ("grpc.max_receive_message_length", 2 * MESSAGE),
                ("grpc.max_send_message_length", 2 * MESSAGE),
                ("grpc.max_metadata_size", METADATA),
                # Two servers do not share an address.
                ("grpc.so_reuseport", 0),
            ),
            maximum_concurrent_rpcs=threads,
        )
        self.addresses = [self._listen(address, settings) for address in settings.listen]
        self._http = None
        if settings.http:
            # Imported when somebody is to be answered over HTTP.
            from ..inference.http import HttpServer

            self._http = HttpServer(
                settings.http,
                inference,
                admission,
                limits,
                lambda: (len(self.service.sessions), gate.running),
                _ssl_context(settings),
            )
            self.http_address = self._http.address
        self._server.start()
        if self.service.keeper is not None:
            self.service.keeper.start(settings.checkpoint_every)

    def stop(self, grace: float = GRACE) -> None:
        """Let what runs come to its end, keep the named sessions, and stop."""
        if self._http is not None:
            self._http.stop()
        self.service.gate.shut(grace)
        self.service.end()
        self._server.stop(1.0 if grace else None).wait()
        if self.service.keeper is not None:
            self.service.keeper.stop()
        if self._folder is not None:
            self._folder.close()
        for address in self.addresses:
            if address.startswith(UNIX):
                Path(address.removeprefix(UNIX)).unlink(missing_ok=True)

    def _listen(self, address: str, settings: Settings) -> str:
        """Listen at an address; the one that it became."""
        if address.startswith(UNIX):
            return self._listen_unix(Path(address.removeprefix(UNIX)).absolute())
        try:
            credentials = _credentials(settings)
            port = (
                self._server.add_insecure_port(address)
                if credentials is None
                else self._server.add_secure_port(address, credentials)
            )
        except RuntimeError as error:
            raise _refused(address, str(error)) from None
        host, _ = split(address)
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def _listen_unix(self, path: Path) -> str:
        if path.exists():
            _remove_stale(path)
        # A socket for the user of this process, and nobody else.
        with _umask(0o177):
            try:
                self._server.add_insecure_port(f"{UNIX}{path}")
            except RuntimeError as error:
                raise _refused(f"{UNIX}{path}", str(error)) from None
        return f"{UNIX}{path}"


def serve(settings: Settings) -> None:
    """Serve until a signal, or until the lifeline's other end closes."""
    server = Server(settings)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    for address in server.addresses:
        LOG.info("listening on %s", address)
    if settings.http:
        LOG.info("answering HTTP on %s", server.http_address)
    if server.service.keeper is not None:
        for name in server.service.keeper.folder.sessions():
            found = server.service.keeper.folder.newest(name)
            if found is not None:
                LOG.info("session %s can go on from %s", name, found.path)
    if settings.lifeline is not None:
        _tied(settings.lifeline, server)
    while not ended.wait(3600):
        pass
    LOG.info("stopping")
    server.stop()


def _tied(lifeline: int, server: Server) -> None:
    """End with the process at the other end of a pair of sockets, and leave nothing behind."""
    line = socket.socket(fileno=lifeline)
    line.sendall(READY)

    def watch() -> None:
        while line.recv(1):
            pass
        for address in server.addresses:
            shutil.rmtree(Path(address.removeprefix(UNIX)).parent, ignore_errors=True)
        # At once: there is nobody left to tell, and no run keeps an orphan alive.
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def _check(settings: Settings) -> None:
    if not settings.listen:
        raise PlanError("the server is to listen nowhere", asked="serve", expected="--listen")
    web = [settings.http] if settings.http else []
    for address in (*settings.listen, *web):
        check_address(address, "serve --listen")
        if address == PROCESS or (address in web and address.startswith(UNIX)):
            raise PlanError(
                "a server cannot listen there",
                asked="serve --http" if address in web else "serve --listen",
                expected="HOST:PORT" + ("" if address in web else ", or unix:PATH"),
                found=repr(address),
            )
        if not (is_private(address) or settings.token or settings.client_ca):
            raise PlanError(
                "anybody could run graphs on this machine",
                asked=f"serve --listen {address}",
                expected="a unix socket, a loopback address, or callers who show a token "
                "(--token-file) or a certificate (--client-ca)",
                found="an address that other machines may reach",
            )


def _credentials(settings: Settings) -> Any:
    if settings.certificate is None or settings.key is None:
        if settings.client_ca is not None:
            raise PlanError(
                "callers show certificates only over TLS",
                asked="serve --client-ca",
                expected="--certificate and --key of the server's own",
            )
        return None
    authority = None if settings.client_ca is None else settings.client_ca.read_bytes()
    return grpc.ssl_server_credentials(
        [(settings.key.read_bytes(), settings.certificate.read_bytes())],
        root_certificates=authority,
        require_client_auth=authority is not None,
    )


def _ssl_context(settings: Settings) -> ssl.SSLContext | None:
    """The same for HTTP."""
    if settings.certificate is None or settings.key is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=settings.client_ca)
    context.load_cert_chain(settings.certificate, settings.key)
    if settings.client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _remove_stale(path: Path) -> None:
    """Remove the socket of a server that is gone.  Raises ExecutionError for anything else."""
    if not stat.S_ISSOCK(path.stat().st_mode):
        raise _refused(f"{UNIX}{path}", "a file that is no socket is there")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
    raise _refused(f"{UNIX}{path}", "another server listens there")


def _refused(address: str, why: str) -> ExecutionError:
    return ExecutionError(
        "the server cannot listen there",
        asked=f"serve --listen {address}",
        expected="an address that is free",
        found=why[:500],
    )


@contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)
