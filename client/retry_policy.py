"""How long an upload waits for a server or network that is away."""

import time
from collections.abc import Callable

from vocboard.client.errors import CertificateError, LimitedError, NetworkError, RefusedError

PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)  # before each attempt; the last one again and again
GIVEN_UP_AFTER_SECONDS = 600.0  # in which nothing has arrived
MAX_LIMIT_SECONDS = 60.0  # a limit that lasts longer is reported instead of waited for
# Another request still holds the upload or was faster (409, 423); the proxy or the server restarts.
PASSING_STATUSES = frozenset({408, 423, 502, 503, 504})
WRONG_OFFSET = "wrong_offset"


class RetryPolicy:
    """Waits before each new attempt, longer and longer, until nothing has arrived for `GIVEN_UP_AFTER_SECONDS`.

    Args of the constructor:
        sleep: waits for some seconds.
        waiting: is given a sentence before each pause.
    """

    def __init__(
        self,
        sleep: Callable[[float], object],
        waiting: Callable[[str], object] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sleep = sleep
        self._waiting = waiting
        self._clock = clock
        self.something_arrived()

    def something_arrived(self) -> None:
        """Restart counting."""
        self._attempts = 0
        self._since = self._clock()
        self._slept = 0.0

    def waits_for(self, error: RefusedError) -> bool:
        """Wait if what the server has refused may succeed in a moment; return whether it may."""
        at_least = 0.0
        if isinstance(error, LimitedError):
            if error.wait_seconds is None or error.wait_seconds > MAX_LIMIT_SECONDS:
                return False
            at_least = error.wait_seconds
        elif error.status not in PASSING_STATUSES and error.code != WRONG_OFFSET:
            return False
        if self._is_over():
            return False
        self._pause("The server is busy or restarting", at_least)
        return True

    def wait(self, error: NetworkError, so_far: str) -> None:
        """Wait after a lost connection.

        Raises:
            NetworkError: it has been lost for too long, or cannot be repaired by waiting.
        """
        if isinstance(error, CertificateError):
            raise error
        if self._is_over():
            raise NetworkError(f"{error}; {so_far}") from error
        self._pause("The connection was lost", 0.0)

    def _is_over(self) -> bool:
        return max(self._clock() - self._since, self._slept) >= GIVEN_UP_AFTER_SECONDS

    def _pause(self, reason: str, at_least: float) -> None:
        seconds = max(at_least, PAUSES_SECONDS[min(self._attempts, len(PAUSES_SECONDS) - 1)])
        self._attempts += 1
        self._waiting(f"{reason}; trying again in {seconds:.0f} s. What has arrived is kept.")
        self._sleep(seconds)
        self._slept += seconds
