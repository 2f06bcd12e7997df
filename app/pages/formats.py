"""Formats values for pages: scores, times, sizes, durations, curves."""

import math
import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from markupsafe import Markup, escape

from vocboard.app.accounts.removal import DELETED_DOMAIN
from vocboard.app.challenges.rules import licence_address
from vocboard.app.leaderboards.reported import exact_percent
from vocboard.app.transfer.importing_people import NOBODYS_DOMAIN

# The time zone in which a day ends last. Source: IEEE 802.16, "Anywhere on Earth".
ANYWHERE_ON_EARTH, ANYWHERE_ON_EARTH_NAME = timezone(timedelta(hours=-12)), "anywhere on Earth (UTC−12)"
NOT_AVAILABLE = "n/a"
THIN_SPACE = "\u2009"
WHOLE_POINTS = 2  # decimals of a fraction
NEARLY_WHOLE = 0.04  # of a day or an hour
HEAT_BOUNDS = (0.0005, 0.02, 0.08, 0.2, 0.4, 0.6, 0.8)  # shares of a row: lower bounds of the steps
_SIZES = (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024))
# The first match counts, because most browsers also name browsers that they imitate.
_BROWSERS = (("Firefox", "Firefox"), ("Edg", "Edge"), ("OPR", "Opera"), ("Chrome", "Chrome"), ("Safari", "Safari"))
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)
_DURATIONS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def real_address(email: str) -> str:
    """Return an email address; nothing for people who have none here: imported ones, and those of deleted accounts."""
    return "" if email.endswith((f"@{NOBODYS_DOMAIN}", f"@{DELETED_DOMAIN}")) else email


def step_percent(step: float) -> str:
    """Format the step of the Ladder mechanism, a fraction, as a percentage without needless zeros.

    >>> step_percent(0.01), step_percent(0.005)
    ('1', '0.5')
    """
    return f"{100 * step:.10g}"


def step_points(step: float) -> str:
    """Format it as a difference of percentages.

    >>> step_points(0.01), step_points(0.005)
    ('1 percentage point', '0.5 percentage points')
    """
    percent = step_percent(step)
    return f"{percent} percentage point{'' if percent == '1' else 's'}"


def percent(value: float | None, decimals: int) -> str:
    """Format a fraction as a percentage.

    Args:
        value: a fraction; None or NaN if undefined.
        decimals: decimal places of the fraction: 4 gives a percentage with two.

    >>> percent(0.87345, 4)
    '87.34'
    >>> percent(None, 4)
    'n/a'
    """
    if value is None or math.isnan(value):
        return NOT_AVAILABLE
    return f"{100 * round(value, decimals):.{max(decimals - 2, 0)}f}"


def reported_percent(value: float | None) -> str:
    """Format a fraction that was reported elsewhere, with as many decimals as it was reported with.

    >>> reported_percent(0.537), reported_percent(None)
    ('53.7', '–')
    """
    return "–" if value is None else exact_percent(value)


def signed_percent(value: float, decimals: int) -> str:
    """Format a difference of two fractions as percentage points, with its sign.

    >>> signed_percent(0.0123, 4), signed_percent(-0.5, 3), signed_percent(0.0, 4)
    ('+1.23', '−50.0', '±0.00')
    """
    rounded = round(value, decimals)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else "±"
    return f"{sign}{percent(abs(rounded), decimals)}"


def signed_interval(ends: tuple[float, float], decimals: int) -> tuple[str, str]:
    """Format an interval of a difference in percentage points; without decimals if both ends are whole points.

    Whole points are what intervals of coarse scores are rounded to. They are rounded outwards, so two equal ends are
    those of a narrow interval.

    >>> signed_interval((-0.064, 0.0123), 3), signed_interval((-0.02, 0.0), 3), signed_interval((0.0, 0.0), 3)
    (('−6.4', '+1.2'), ('−2', '±0'), ('±0.0', '±0.0'))
    """
    low, high = ends
    if low != high and all(round(end, decimals) == round(end, WHOLE_POINTS) for end in ends):
        decimals = WHOLE_POINTS
    return signed_percent(low, decimals), signed_percent(high, decimals)


def bar_length(value: float | None) -> str:
    """Return the length of a score's bar as an SVG length.

    >>> bar_length(0.5)
    '50.0%'
    """
    return "0%" if value is None or math.isnan(value) else f"{100 * min(max(value, 0.0), 1.0):.1f}%"


def instant(value: datetime, style: str = "full") -> Markup:
    """Format a time in UTC; a script adds the reader's local time.

    Args:
        style: `full`, or `ago` for a relative time; until a script has written that, it is the day, about as long.
    """
    moment = value.astimezone(UTC)
    text = f"{moment.day} {moment:%b %Y, %H:%M} UTC"
    at = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    if style == "ago":
        return Markup('<time datetime="{}" data-instant="ago" title="{}">{}</time>').format(
            at, text, f"{moment.day} {moment:%b %Y}"
        )
    return Markup('<time datetime="{}" data-instant="{}">{}</time>').format(at, style, text)


def deadline(value: datetime, anywhere_on_earth: bool) -> Markup:
    """Write an instant in UTC and, if wanted, anywhere on Earth; a script puts the reader's own time before it."""
    written = instant(value)
    if not anywhere_on_earth:
        return written
    moment = value.astimezone(ANYWHERE_ON_EARTH)
    return Markup('{} <span class="elsewhere soft">{} <abbr title="{}">AoE</abbr></span>').format(
        written, f"{moment.day} {moment:%b %Y, %H:%M}", ANYWHERE_ON_EARTH_NAME
    )


def day(value: datetime) -> Markup:
    """Format the day of an instant in UTC.

    >>> day(datetime(2026, 5, 2, 12, tzinfo=UTC))
    Markup('<time datetime="2026-05-02T12:00:00Z">2 May 2026</time>')
    """
    moment = value.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        moment.strftime("%Y-%m-%dT%H:%M:%SZ"), f"{moment.day} {moment:%b %Y}"
    )


def date_field(value: datetime | None, zone: tzinfo = UTC) -> str:
    """Write an instant as the value of a `datetime-local` field, in UTC or another time zone.

    >>> date_field(datetime(2026, 5, 2, 11, 59, tzinfo=UTC), ANYWHERE_ON_EARTH)
    '2026-05-01T23:59'
    """
    return value.astimezone(zone).strftime("%Y-%m-%dT%H:%M") if value else ""


def file_size(count: int) -> str:
    """Format a number of bytes.

    >>> file_size(1536), file_size(1024)
    ('1.5 KiB', '1 KiB')
    """
    for unit, size in _SIZES:
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{count} bytes"


def duration(value: timedelta) -> str:
    """Format a duration in the largest unit that gives a whole number.

    >>> duration(timedelta(days=7)), duration(timedelta(minutes=90)), duration(timedelta(seconds=1))
    ('7 days', '90 minutes', '1 second')
    """
    seconds = max(round(value.total_seconds()), 0)
    for unit, size in _DURATIONS:
        if seconds >= size and seconds % size == 0:
            count = seconds // size
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return "0 seconds"


def time_until(value: datetime, at: datetime) -> str:
    """Say how long it is until an instant: in days, and in hours or minutes if there are fewer than two.

    It is rounded down, but an hour short of 30 days are 30 days, as in `app/static/js/times.js`.

    >>> noon = datetime(2026, 5, 2, 12, tzinfo=UTC)
    >>> [time_until(noon + timedelta(hours=hours), noon) for hours in (299.5, 46.99, 1.5, 0.01, -1)]
    ['in 12 days', 'in 47 hours', 'in 90 minutes', 'in less than a minute', 'in less than a minute']
    """
    left = value - at
    for unit, length in (("day", timedelta(days=1)), ("hour", timedelta(hours=1))):
        number = (left + length * NEARLY_WHOLE) // length
        if number >= 2:
            return f"in {plural(number, unit)}"
    minutes = left // timedelta(minutes=1)
    return f"in {plural(minutes, 'minute')}" if minutes >= 1 else "in less than a minute"


def time_left(value: datetime, at: datetime) -> str:
    """Say how long it is until an instant, as a countdown does.

    >>> noon = datetime(2026, 5, 2, 12, tzinfo=UTC)
    >>> time_left(noon + timedelta(days=12), noon)
    '12 days left'
    """
    return f"{time_until(value, at).removeprefix('in ')} left"


def ordinal(number: int) -> str:
    """Write a rank as people say it.

    >>> [ordinal(number) for number in (1, 2, 3, 11, 112, 1023)] == ["1st", "2nd", "3rd", "11th", "112th", "1023rd"]
    True
    """
    suffix = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def count(value: int) -> str:
    """Format a whole number with thin spaces as thousands separators.

    >>> count(52404) == "52" + THIN_SPACE + "404"
    True
    """
    return f"{value:,}".replace(",", THIN_SPACE)


def plural(number: int, one: str, many: str | None = None) -> str:
    """Format a number with its noun.

    >>> plural(1, "class", "classes"), plural(3, "submission")
    ('1 class', '3 submissions')
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def file_path(path: str) -> Markup:
    """Mark the parts of a path: a line may end after a "/", and within a name only if that is longer than the line."""
    parts = re.findall(r"[^/]*/|[^/]+", path)
    return Markup("").join(Markup('<span class="path-part">{}</span>').format(part) for part in parts)


def with_code(text: str) -> Markup:
    """Set what stands between backticks in type for code, as messages about files mark commands; escape the rest.

    >>> with_code("With `tar czf <name>`, or `zip`; 5` more")
    Markup('With <code>tar czf &lt;name&gt;</code>, or <code>zip</code>; 5` more')
    """
    plain, *rest = re.split(r"`([^`]+)`", text)
    return escape(plain) + Markup("").join(
        Markup("<code>{}</code>{}").format(code, after) for code, after in zip(rest[::2], rest[1::2], strict=True)
    )


def paragraphs(text: str) -> Markup:
    """Convert plain text to paragraphs, separated at blank lines; single line breaks are kept."""
    parts = [part.strip() for part in text.replace("\r\n", "\n").split("\n\n") if part.strip()]
    lines = (Markup("<br>").join(map(escape, part.split("\n"))) for part in parts)
    return Markup("").join(Markup("<p>{}</p>").format(line) for line in lines)


def browser_name(user_agent: str) -> str:
    """Return the name of a browser and its system, from the user agent.

    >>> browser_name("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox on Linux'
    """
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "A browser")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), None)
    return f"{browser} on {system}" if system else browser


def heat(share: float | None) -> int:
    """Return the step (0 to 7) of a cell's colour for its share of the row."""
    return 0 if share is None else sum(share >= bound for bound in HEAT_BOUNDS)


def range_of_ranks(ranks: tuple[int, int]) -> str:
    """Return a range of ranks.

    >>> range_of_ranks((1, 3)), range_of_ranks((2, 2))
    ('1–3', '2')
    """
    best, worst = ranks
    return f"{best}" if best == worst else f"{best}–{worst}"


FILTERS = (
    *(
        real_address,
        percent,
        reported_percent,
        step_points,
        signed_percent,
        signed_interval,
        bar_length,
        heat,
        count,
        ordinal,
        range_of_ranks,
    ),
    *(instant, deadline, day, date_field, duration, time_left, time_until),
    *(licence_address, real_address, file_size, file_path, with_code, paragraphs, browser_name),
)  # of templates, by their names
