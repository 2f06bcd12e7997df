"""Messages: Celery's wake-ups over Redis or a directory, the notifier that sends them, and the outbox of e-mail."""
