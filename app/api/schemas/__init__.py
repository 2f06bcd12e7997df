"""What the API takes and gives, as documented by its OpenAPI document."""
