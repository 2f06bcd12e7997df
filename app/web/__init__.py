"""HTTP infrastructure: problem details, cached responses, headers, cookies, CSRF, identity, limits."""
