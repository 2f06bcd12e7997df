"""Request and response schemas, as documented in the OpenAPI document."""
