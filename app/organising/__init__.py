"""What organisers do across a challenge, its submissions and people, and what they see of them."""
