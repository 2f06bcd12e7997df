"""Workers, as the rest of the installation sees them."""
