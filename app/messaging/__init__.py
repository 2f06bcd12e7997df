"""Wake-up messages over Redis or a directory, and the outbox of email."""
