"""The coding agents: how a user configures each, how it runs without a terminal, and how it calls its tool that reads a file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clients.catalog import AGENTS as FOLDERS
from tests.clients.catalog import Client

ADDRESS = "http://127.0.0.1:8000"
"""Stands for the gateway's address in the lines below; MODEL stands for the model."""


@dataclass(frozen=True)
class Agent(Client):
    """A coding agent. Files are in the home folder."""

    command: str = ""
    always: tuple[str, ...] = ()
    """What follows the command for a user as well."""
    headless: tuple[str, ...] = ()
    """What follows the command to do one task and end; PROMPT stands for the task."""
    files: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    quiet: Mapping[str, str] = field(default_factory=dict)
    """Variables against updates and telemetry."""
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """How the tool is called that reads a file; PATH stands for the file. No tool: it is given the file."""
    beside: str = ""
    """What the gateway's own configuration needs."""
    never: str = ""
    """What it prints when it has answered in another way than it was told to."""
    hint: str = ""
    """What else a user may want to know."""
    before: tuple[str, ...] = ()
    """What is run once before, to configure it."""

    @property
    def executable(self) -> str:
        """Where the command is in the environment."""
        return f"bin/{self.command}" if self.pins.suffix == ".txt" else f"node_modules/.bin/{self.command}"

    @property
    def prompt(self) -> str:
        """The task, in words by which its turns are known."""
        return f"{self.name} {self.api}: please read notes.txt and tell me the code."

    def setup(self) -> str:
        """The lines for a user, as Markdown."""
        blocks = [f"`toolwire.yaml`, in the model's entry:\n\n```yaml\n{self.beside}\n```"] if self.beside else []
        for path, text in self.files.items():
            place = path if path.startswith("opencode") else f"~/{path}"
            blocks.append(f"`{place}`:\n\n```{path.rpartition('.')[2]}\n{text.strip()}\n```")
        shown = {**self.variables, **self.quiet}
        lines = [f"export {name}={value}" for name, value in shown.items()]
        lines += [" ".join((self.command, *self.before))] if self.before else []
        blocks.append("```sh\n" + "\n".join([*lines, " ".join((self.command, *self.always))]) + "\n```")
        blocks += [self.hint] if self.hint else []
        return f"### {self.name}\n\n" + "\n\n".join(blocks)


def pins(folder: str, file: str = "package.json") -> Path:
    return FOLDERS / folder / file


def copilot(api: str, kind: str, address: str, **wire: str) -> "Agent":
    """GitHub's agent on one of the APIs that it speaks."""
    variables = {"COPILOT_PROVIDER_TYPE": kind, "COPILOT_PROVIDER_BASE_URL": address, "COPILOT_MODEL": "MODEL"}
    return Agent(
        "Copilot CLI",
        api,
        pins("copilot"),
        command="copilot",
        headless=("-p", "PROMPT", "--allow-all-tools"),
        variables={**variables, "COPILOT_PROVIDER_API_KEY": "unused", **wire},
        quiet={"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"},
        tool="view",
        arguments={"path": "PATH"},
        hint=COPILOT_HINT,
    )


CODEX = """
model = "MODEL"
model_provider = "toolwire"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.toolwire]
name = "Toolwire"
base_url = "http://127.0.0.1:8000/v1"
env_key = "TOOLWIRE_KEY"
wire_api = "responses"
# supports_websockets = true
"""
OPENCODE = """
{
  "$schema": "https://opencode.ai/config.json",
  "autoupdate": false,
  "share": "disabled",
  "model": "toolwire/MODEL",
  "small_model": "toolwire/MODEL",
  "provider": {
    "toolwire": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Toolwire",
      "options": {"baseURL": "http://127.0.0.1:8000/v1", "apiKey": "unused"},
      "models": {"MODEL": {"name": "MODEL"}}
    }
  }
}
"""
CONTINUE = """
name: Local
version: 1.0.0
schema: v1
models:
  - name: MODEL
    provider: openai
    model: MODEL
    apiBase: http://127.0.0.1:8000/v1
    apiKey: unused
    roles: [chat]
    capabilities: [tool_use]
"""
PI = """
{
  "providers": {
    "toolwire": {
      "baseUrl": "http://127.0.0.1:8000/v1",
      "api": "openai-completions",
      "apiKey": "unused",
      "models": [{"id": "MODEL"}]
    }
  }
}
"""
COPILOT_HINT = """\
`COPILOT_PROVIDER_WIRE_API=responses` takes it to Responses, with `COPILOT_PROVIDER_TRANSPORT=websockets` over a WebSocket;
`COPILOT_PROVIDER_TYPE=anthropic` and the address without `/v1` to Messages."""
SHELL_TOOL = {"tool": "exec_command", "arguments": {"cmd": "cat PATH"}}
CODEX_RUN = ("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "PROMPT")
AGENTS: list[Agent] = [
    Agent(
        "Codex CLI",
        "Responses",
        pins("codex"),
        command="codex",
        headless=CODEX_RUN,
        files={".codex/config.toml": CODEX},
        variables={"TOOLWIRE_KEY": "unused"},
        **SHELL_TOOL,
    ),
    Agent(
        "Codex CLI",
        "Responses over WebSocket",
        pins("codex"),
        command="codex",
        headless=CODEX_RUN,
        files={".codex/config.toml": CODEX.replace("# supports", "supports")},
        never="Falling back from WebSockets",
        variables={"TOOLWIRE_KEY": "unused"},
        **SHELL_TOOL,
    ),
    Agent(
        "Claude Code",
        "Messages",
        pins("claude_code"),
        command="claude",
        headless=("-p", "PROMPT", "--dangerously-skip-permissions"),
        variables={"ANTHROPIC_BASE_URL": ADDRESS, "ANTHROPIC_AUTH_TOKEN": "unused"},
        quiet={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        tool="Read",
        arguments={"file_path": "PATH"},
        beside='aliases: ["claude-*"]',
    ),
    Agent(
        "opencode",
        "Chat",
        pins("opencode"),
        command="opencode",
        headless=("run", "PROMPT"),
        files={"opencode.json": OPENCODE},
        quiet={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        tool="read",
        arguments={"filePath": "PATH"},
    ),
    Agent(
        "Cline CLI",
        "Chat",
        pins("cline"),
        command="cline",
        before=("auth", "-p", "openai", "-k", "unused", "-m", "MODEL", "-b", f"{ADDRESS}/v1"),
        headless=("-P", "openai", "-k", "unused", "-m", "MODEL", "--json", "PROMPT"),
        tool="read_files",
        arguments={"files": [{"path": "PATH"}]},
    ),
    Agent(
        "Qwen Code",
        "Chat",
        pins("qwen_code"),
        command="qwen",
        headless=("-p", "PROMPT", "--auth-type", "openai", "-y"),
        variables={"OPENAI_BASE_URL": f"{ADDRESS}/v1", "OPENAI_API_KEY": "unused", "OPENAI_MODEL": "MODEL"},
        tool="read_file",
        arguments={"file_path": "PATH"},
    ),
    Agent(
        "Continue CLI",
        "Chat",
        pins("continue"),
        command="cn",
        headless=("-p", "PROMPT", "--auto"),
        files={".continue/config.yaml": CONTINUE},
        quiet={"CONTINUE_TELEMETRY_ENABLED": "0"},
        tool="Read",
        arguments={"filepath": "PATH"},
    ),
    Agent(
        "pi",
        "Chat",
        pins("pi"),
        command="pi",
        headless=("--provider", "toolwire", "--model", "MODEL", "-p", "PROMPT"),
        files={".pi/agent/models.json": PI},
        quiet={"PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
        tool="read",
        arguments={"path": "PATH"},
    ),
    copilot("Chat", "openai", f"{ADDRESS}/v1"),
    copilot("Responses", "openai", f"{ADDRESS}/v1", COPILOT_PROVIDER_WIRE_API="responses"),
    copilot(
        "Responses over WebSocket",
        "openai",
        f"{ADDRESS}/v1",
        COPILOT_PROVIDER_WIRE_API="responses",
        COPILOT_PROVIDER_TRANSPORT="websockets",
    ),
    copilot("Messages", "anthropic", ADDRESS),
    Agent(
        "aider",
        "Chat",
        pins("aider", "requirements.txt"),
        command="aider",
        always=("--model", "openai/MODEL"),
        headless=("--no-git", "--yes-always", "--message", "PROMPT", "notes.txt"),
        variables={"OPENAI_API_BASE": f"{ADDRESS}/v1", "OPENAI_API_KEY": "unused"},
        quiet={
            "AIDER_ANALYTICS": "false",
            "AIDER_CHECK_UPDATE": "false",
            "AIDER_SHOW_MODEL_WARNINGS": "false",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
    ),
]
