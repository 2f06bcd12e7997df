"""What people type: which characters texts may have, and checks of fields that report everything at once."""
