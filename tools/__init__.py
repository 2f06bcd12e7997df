"""What sets a checkout or a server up; needs nothing but Python."""
