"""The prose of docs/clients.md."""

BEGINNING = """\
# Clients

Any client of OpenAI's Chat Completions or Responses, or of Anthropic's Messages, works once it has this gateway's address.
OpenAI's clients want it with `/v1`, Anthropic's without. The key can be anything.

This page is written by `make test-clients` and `make test-clients-all`. They install each client into an environment of its
own and let it work against the gateway over a real socket: the model's turns are scripted, everything else is real.
"""
FAILURES_ARE = """\
What a client's user sees when the engine fails, and how often the engine was asked: **F** with 400, 429 or 500 (a 502 of the
gateway's), and with 503 twice before it is well; **G** in the middle of an answer, where "our message" says that the engine's
stream broke off. A ✘ is the client's own fault, for the reason beside it.
"""
NOTES_ARE = "What else was seen; – is what a client does not have."
AGENTS_DO = """\
Each is asked in a home of its own, without a terminal, to read a file and tell what it says: it calls its own tool, sends the
result and prints the model's answer.
"""
AGENTS_BESIDE = """\
Not among them:

- Open WebUI asks for 263 packages, PyTorch with CUDA among them: several gigabytes, for a page that a person would have to click.
- Goose and Zed come as programs of their own, and Crush's package fetches one while it is installed; these tests install
  nothing but packages. All three take the address of an OpenAI-compatible API.
- Gemini CLI speaks Google's API alone; Qwen Code grew out of it and speaks OpenAI's. Roo Code needs an editor around it.

### With a small model

Agents bring long prompts: some 12 500 tokens in Claude Code's case, more than the 8192 that the built-in model takes. Both
Codex CLI and Claude Code understand the refusal and say it in their own words ("Codex ran out of room in the model's context
window", "Prompt is too long · the request is ~12524 tokens (limit 8192)"). With prompts of one sentence (Claude Code's
`--tools Read --system-prompt "You read files."`, Codex's `-c model_instructions_file=FILE`) both take the built-in model's
answer without an error; but what 135 million parameters say there is of no use, and they call no tool. Give agents a model of
some billions of parameters, and 32768 tokens of context or more.

`make test-vllm-agents` lets Codex CLI, on both transports, and Claude Code, with its shell alone, work on a real vLLM with the
lines below: the engine generates a call of the shell from its tokens, the agent runs it, and the engine generates the answer.
"""
