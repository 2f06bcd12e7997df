"""Any number of accounts that hold places leaves places for others, and has to bring more and more bytes."""

import uuid
from dataclasses import replace
from datetime import timedelta

from vocboard.app.intake.limits import Limits, Place, minimum_rate, pressure, refusal
from vocboard.app.intake.models import UploadKind

RATE = 32 * 1024
LIMITS = Limits(30, 2, 10**10, 10**9, timedelta(hours=1), RATE, 8, 64, small_bytes=4 * 1024**2)
LARGE, SMALL = 10**9, 10**6


def place(network: object = None, *, byte_count: int = LARGE, is_new: bool = False) -> Place:
    person = uuid.uuid4()
    return Place(person, str(person if network is None else network), UploadKind.SUBMISSION, byte_count, is_new)


def admitted(*wanted: Place) -> list[Place]:
    """Those that get a place, one after the other, if none ends."""
    found: list[Place] = []
    for each in wanted:
        if refusal(each, found, LIMITS) is None:
            found.append(each)
    return found


def test_new_accounts_get_half_of_the_places_together_whatever_their_networks() -> None:
    attackers = admitted(*(place(is_new=True) for _ in range(100)))
    assert len(attackers) == 32
    assert refusal(place(), attackers, LIMITS) is None
    assert refusal(place(is_new=True, byte_count=SMALL), attackers, LIMITS) is None


def test_large_uploads_leave_all_places_for_small_ones_and_the_reverse() -> None:
    for held, wanted in ((LARGE, SMALL), (SMALL, LARGE)):
        everyone = admitted(*(place(byte_count=held) for _ in range(1000)))
        assert refusal(place(byte_count=held), everyone, LIMITS) is not None
        assert refusal(place(byte_count=wanted, is_new=True), everyone, LIMITS) is None


def test_what_holds_places_has_to_bring_more_as_they_fill() -> None:
    rates = []
    for taken in (0, 31, 32, 48, 56, 63, 64):
        own, others = place(), [place() for _ in range(taken)]
        rates.append(minimum_rate(own, others, LIMITS) // RATE)
    assert rates == [1, 1, 2, 4, 8, 8, 8]
    new = [place(is_new=True) for _ in range(31)]
    assert minimum_rate(place(is_new=True), new, LIMITS) == 8 * RATE
    assert minimum_rate(place(), new, LIMITS) == RATE


def test_people_and_networks_hold_less_as_places_fill() -> None:
    eight = admitted(*(place(number % 8) for number in range(1000)))
    assert len(eight) < LIMITS.concurrent_in_all // 2 + 1
    assert len(admitted(*eight, *(place() for _ in range(1000)))) == LIMITS.concurrent_in_all
    person = place()
    second = replace(person, kind=UploadKind.GROUND_TRUTH)
    assert refusal(second, [person, *(place() for _ in range(30))], LIMITS) is None
    busy = refusal(second, [person, *(place() for _ in range(31))], LIMITS)
    assert busy is not None
    assert "busy" in busy


def test_no_place_is_left_when_all_are_taken() -> None:
    assert pressure(place(), [place() for _ in range(64)], LIMITS) is None
    assert refusal(place(), [place() for _ in range(64)], LIMITS) is not None
