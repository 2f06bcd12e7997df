"""What stands between a request and the application: headers, cookies, forgery, limits, identity."""
