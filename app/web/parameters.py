"""Refuses query parameters that a route does not have: if they were ignored, `?rehersal=true` would submit for real."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from fastapi import Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query

from vocboard.app.errors import InvalidInputError
from vocboard.app.forms import no_such_field

MAX_NAMED = 20  # parameters that a route does not have: looking for a similar one takes time
_known: dict[Callable[..., Any], tuple[str, ...]] = {}  # names by endpoint: routes do not change


async def refuse_unknown_parameters(request: Request) -> None:
    """Check the names of a request's query parameters.

    Raises:
        InvalidInputError: the route does not have some of them, or they are there twice, of which one would count.
    """
    if not request.scope["query_string"]:
        return
    endpoint = request.scope["endpoint"]
    if endpoint not in _known:
        fields = get_flat_params(request.scope["route"].dependant)
        _known[endpoint] = tuple(field.alias for field in fields if isinstance(field.field_info, Query))
    known = _known[endpoint]
    sent = Counter(name for name, _ in request.query_params.multi_items())
    wrong = {name: "Send this parameter once." for name in known if sent[name] > 1}
    unknown = [name for name in sent if name not in known][:MAX_NAMED]
    wrong |= {name: no_such_field(name, known, kind="parameter") for name in unknown}
    if wrong:
        raise InvalidInputError(wrong)
