"""OpenAI's legacy completions: prompts that the client wrote itself, in which nothing is rendered and no call is read."""
