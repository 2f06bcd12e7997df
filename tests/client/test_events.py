from vocboard.client.events import Event, parse


def test_reads_events_as_the_standard_has_them() -> None:
    lines = [
        ": a comment keeps the connection alive",
        "",
        "event: state",
        "id: 7",
        'data: {"state": "queued"}',
        "",
        "data:without a space",
        "data",
        "data:  with two",
        "",
        "event: state",
        "",
        "data: the connection broke before the empty line",
    ]

    assert list(parse(lines)) == [
        Event("state", '{"state": "queued"}'),
        Event("message", "without a space\n\n with two"),
    ]
