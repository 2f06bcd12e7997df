"""What people are told about: on the site, and by email."""
