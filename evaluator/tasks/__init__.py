"""One folder per task, with everything about it. The registries are `definitions`, `formats` and `scoring`."""
