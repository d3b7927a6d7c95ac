"""OpenAI's Responses: `/v1/responses` and what lies below it."""
