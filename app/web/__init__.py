"""What all of HTTP shares: problem details, cached responses, headers, cookies, CSRF, identity, limits."""
