"""JSON in and out: bodies are parsed once into a type, answers are written from one, and both are told to OpenAPI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

T = TypeVar("T")

MOST_BODY_BYTES = 1 << 20
REF = "#/components/schemas/{name}"


class RequestError(Exception):
    """A request that cannot be read; `status` is the HTTP status that says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Problem(msgspec.Struct, frozen=True):
    """What every refusal looks like."""

    error: str


def answer(value: object, *, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")


def problem(status: int, message: str) -> Response:
    return answer(Problem(message), status=status)


def body(wanted: type[T]) -> Callable[[Request], Awaitable[T]]:
    """A dependency that reads the body as `wanted`; RequestError where it is none, has a field that nobody reads, or is
    larger than 1 MiB."""

    async def read(request: Request) -> T:
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise RequestError(415, "the body must be JSON, with the content type application/json")
        raw = await _bounded(request)
        try:
            value = msgspec.json.decode(raw, type=wanted)
        except msgspec.DecodeError as error:
            raise RequestError(422, f"the body cannot be read: {error}") from error
        if (stray := _stray(msgspec.json.decode(raw), msgspec.to_builtins(value))) is not None:
            raise RequestError(422, f"the body cannot be read: {stray}")
        return value

    return read


def _stray(given: Any, read: Any, where: str = "$") -> str | None:
    """The first field that was given and not read, in words: stored types pass over what they do not know, but what a
    person misspells is to be heard of."""
    if isinstance(given, dict) and isinstance(read, dict):
        for name, value in given.items():
            if name not in read:
                accepted = ", ".join(f"`{known}`" for known in read)
                return f"Object has an unknown field `{name}` - at `{where}`; expected {accepted}"
            if (found := _stray(value, read[name], f"{where}.{name}")) is not None:
                return found
    if isinstance(given, list) and isinstance(read, list | tuple):
        pairs = enumerate(zip(given, read, strict=True))
        return next((found for n, pair in pairs if (found := _stray(*pair, f"{where}[{n}]")) is not None), None)
    return None


async def _bounded(request: Request) -> bytes:
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > MOST_BODY_BYTES:
            raise RequestError(413, f"the body is larger than {MOST_BODY_BYTES:,} bytes")
    return bytes(received)


class Schemas:
    """Collects the types that routes name, and gives their schemas to the OpenAPI document."""

    def __init__(self) -> None:
        self._types: list[Any] = [Problem]

    def answers(self, *types: Any, status: int = 200) -> dict[int | str, dict[str, Any]]:
        """For a route's `responses`: it answers the one type given."""
        (wanted,) = types
        return {status: {"description": "as asked", "content": self._content(wanted)}}

    def takes(self, wanted: Any) -> dict[str, Any]:
        """For a route's `openapi_extra`: the body that it reads."""
        return {"requestBody": {"required": True, "content": self._content(wanted)}}

    def components(self) -> dict[str, Any]:
        _, components = msgspec.json.schema_components(self._types, ref_template=REF)
        return components

    def _content(self, wanted: Any) -> dict[str, Any]:
        self._types.append(wanted)
        (schema,), _ = msgspec.json.schema_components([wanted], ref_template=REF)
        return {"application/json": {"schema": schema}}


schemas = Schemas()
