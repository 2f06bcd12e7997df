"""Webhooks: telling programs of people and of organisers what has happened, by signed requests."""
