"""A route that calls its function itself, for what other programs send by the thousand."""

from collections.abc import Callable, Coroutine
from typing import Any, get_type_hints

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError


class DirectRoute(APIRoute):
    """Its function takes the request and what the path names, and answers with a response.

    The framework's way there and back costs as much as storing an event. What does not fit goes that way: it has the words for it.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        framework, endpoint = super().get_route_handler(), self.endpoint
        guards = [each.dependency for each in self.dependencies if each.dependency is not None]
        hints = get_type_hints(endpoint, include_extras=True)
        readers = {name: TypeAdapter(hints[name]) for name in self.param_convertors}

        async def handle(request: Request) -> Response:
            given = request.path_params
            try:
                read = {name: each.validate_strings(given[name]) for name, each in readers.items()}
            except ValidationError:
                return await framework(request)
            for guard in guards:
                await guard(request)
            found: Response = await endpoint(request, **read)
            return found

        return handle
