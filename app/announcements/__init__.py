"""What organisers and participants of a challenge tell each other: announcements, and questions with answers."""
