"""What tests of several packages share: services, browsers, the compose file."""
