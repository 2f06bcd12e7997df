"""Parser for server-sent events.

Source: HTML standard, section 9.2.6, "Interpreting an event stream".
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name (`message` unless the server says otherwise) and its data."""

    name: str
    data: str


def parse(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events in a stream of lines without line ends. Comments and an incomplete last event are skipped.

    >>> list(parse([": ping", "event: state", 'data: {"state":', 'data: "queued"}', "", "data: cut short"]))
    [Event(name='state', data='{"state":\\n"queued"}')]
    """
    name, data = "", list[str]()
    for line in lines:
        if not line:
            if data:
                yield Event(name or "message", "\n".join(data))
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
