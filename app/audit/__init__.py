"""Who did what to which object."""
