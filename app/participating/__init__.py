"""What participants do with their submissions after the upload: describe, publish, withdraw."""
