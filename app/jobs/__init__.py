"""The queue of everything that workers do: one table of jobs, one claim, one lease, one policy of retrying."""
