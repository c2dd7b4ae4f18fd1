"""A client's way to a server: the channel, and the errors that come through it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc

from ..address import PROCESS, UNIX, Target
from .child import Child
from .failures import received
from .protocol import AUTHORIZATION, MESSAGE, METADATA, Stub

OPTIONS = (
    ("grpc.max_receive_message_length", 2 * MESSAGE),
    ("grpc.max_send_message_length", 2 * MESSAGE),
    ("grpc.max_metadata_size", METADATA),
    # A machine's proxy knows nothing of this, and channels are not shared: a lost one is told.
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
)


class Channel:
    """An open channel; for "process" also the child at its other end."""

    def __init__(self, target: Target) -> None:
        """Raises ConnectionLostError, OSError for files that cannot be read."""
        self.child = Child() if target.address == PROCESS else None
        self.address = target.address if self.child is None else self.child.address
        self._channel = _made(target, self.address)
        self.stub = Stub(self._channel)
        secret = target.secret
        self._metadata = ((AUTHORIZATION, f"Bearer {secret}"),) if secret else None

    def ask(self, method: Callable[..., Any], request: Any, asked: str) -> Any:
        """What a method answers.  Raises the error that came instead."""
        try:
            return method(request, metadata=self._metadata)
        except grpc.RpcError as error:
            raise received(error, asked, self.address) from None

    def begin(self, method: Callable[..., Any], request: Any, asked: str) -> tuple[Any, Any]:
        """A call that stays open, and the first message of its answer."""
        call = method(request, metadata=self._metadata)
        try:
            return call, next(call)
        except grpc.RpcError as error:
            raise received(error, asked, self.address) from None

    def close(self) -> None:
        """End all calls; a private server ends, too."""
        self._channel.close()
        if self.child is not None:
            self.child.stop()


def _made(target: Target, address: str) -> Any:
    if target.ca is None and target.certificate is None:
        return grpc.insecure_channel(_grpc_address(address), options=OPTIONS)
    credentials = grpc.ssl_channel_credentials(
        root_certificates=_bytes(target.ca),
        private_key=_bytes(target.key),
        certificate_chain=_bytes(target.certificate),
    )
    return grpc.secure_channel(address, credentials, options=OPTIONS)


def _grpc_address(address: str) -> str:
    if address.startswith(UNIX):
        return UNIX + str(Path(address.removeprefix(UNIX)).absolute())
    return address


def _bytes(path: str | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()
