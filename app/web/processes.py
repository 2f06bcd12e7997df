"""Several web processes that take connections from one listener."""

from uvicorn.supervisors import Multiprocess


class WebProcesses(Multiprocess):
    """uvicorn's processes, of which none is there to answer once they stop: then new connections are refused.

    uvicorn keeps the listener open until all have ended. The system would take connections for it, and what a proxy
    sent over these would be lost; a connection that is refused is made again.
    """

    def terminate_all(self) -> None:
        """Close the listener, and stop the processes, which close theirs."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()
