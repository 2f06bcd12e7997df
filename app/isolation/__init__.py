"""What a process gives up before it reads what strangers sent."""
