"""Prompts as the models' own code makes them, in the interpreter that has it: a line of JSON in, a line of JSON out.

    echo '{"renderer": "mistral_v11", "messages": [...], "tools": [...], "thinking": false}' | python official_renderers.py

The answer is `{"prompt": ...}`, or `{"error": ...}` where the code refuses the conversation. It knows nothing of the checkout.
"""

import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

Request = dict[str, Any]


def rendered(request: Request) -> dict[str, str]:
    """The prompt, or why there is none."""
    try:
        return {"prompt": RENDERERS[request["renderer"]](request)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def deepseek(version: str) -> Callable[[Request], str]:
    """The encoder that stands beside the model's weights, in the folder that `TOOLWIRE_DEEPSEEK_ENCODERS` names.

    Tools belong to the system message.
    """

    def render(request: Request) -> str:
        messages = [{**message, "reasoning": message.get("reasoning_content")} for message in request["messages"]]
        if request["tools"]:
            if messages[0]["role"] != "system":
                messages.insert(0, {"role": "system", "content": ""})
            messages[0]["tools"] = request["tools"]
        mode = "thinking" if request["thinking"] else "chat"
        return str(encoder(version).encode_messages(messages, mode))

    return render


@cache
def encoder(version: str) -> Any:
    path = Path(os.environ["TOOLWIRE_DEEPSEEK_ENCODERS"]) / f"encoding_ds{version}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mistral(version: str) -> Callable[[Request], str]:
    """mistral-common with the vocabularies that it brings: `v3` is SentencePiece's, all others are Tekken's."""

    def render(request: Request) -> str:
        from mistral_common.protocol.instruct.request import ChatCompletionRequest

        messages = [spoken(message) for message in request["messages"]]
        asked = ChatCompletionRequest.from_openai(messages, tools=request["tools"] or None)
        text = vocabulary(version).encode_chat_completion(asked).text
        return str(text).replace("\u2581", " ").replace("<0x0A>", "\n").replace("<0x09>", "\t")  # as SentencePiece spells them

    return render


def spoken(message: dict[str, Any]) -> dict[str, Any]:
    """Reasoning as mistral-common takes it: a part of the content."""
    reasoning = message.get("reasoning_content")
    rest = {key: value for key, value in message.items() if key != "reasoning_content"}
    if not reasoning:
        return rest
    text = [{"type": "text", "text": message["content"]}] if message["content"] else []
    return {**rest, "content": [{"type": "thinking", "thinking": reasoning, "closed": True}, *text]}


@cache
def vocabulary(version: str) -> Any:
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    if version == "v3":
        return MistralTokenizer.v3()
    if version == "nemo":
        return MistralTokenizer.v3(is_tekken=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tekken.json"
        path.write_text(json.dumps(tekken(version)), encoding="utf-8")
        return MistralTokenizer.from_file(str(path))


def tekken(version: str) -> dict[str, Any]:
    """The vocabulary of Nemo under a later version of the layout, with the control tokens that it has there."""
    import mistral_common
    from mistral_common.tokens.tokenizers.base import SpecialTokens

    described = json.loads((Path(mistral_common.__file__).parent / "data" / "tekken_240718.json").read_text(encoding="utf-8"))
    described["config"]["version"] = version
    described["special_tokens"] = [
        {"rank": rank, "token_str": token.value, "is_control": True} for rank, token in enumerate(SpecialTokens)
    ]
    return dict(described)


def harmony(request: Request) -> str:
    """openai-harmony, whose vocabulary is where `TIKTOKEN_ENCODINGS_BASE` says. One call a message, its result behind it."""
    from openai_harmony import (
        Conversation,
        DeveloperContent,
        HarmonyEncodingName,
        Message,
        Role,
        SystemContent,
        ToolDescription,
        load_harmony_encoding,
    )

    told = list(request["messages"])
    about = SystemContent.new().with_conversation_start_date("2025-06-01")
    first = told.pop(0)["content"] if told[0]["role"] == "system" else None
    guide = DeveloperContent.new().with_instructions(first) if first is not None else DeveloperContent.new()
    described = [
        ToolDescription.new(tool["name"], tool["description"], parameters=tool.get("parameters"))
        for tool in (entry["function"] for entry in request["tools"])
    ]
    if described:
        guide = guide.with_function_tools(described)
    messages = [Message.from_role_and_content(Role.SYSTEM, about)]
    if first is not None or described:
        messages.append(Message.from_role_and_content(Role.DEVELOPER, guide))
    for message in told:
        messages += channelled(message, told)
    encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
    tokens = encoding.render_conversation_for_completion(Conversation.from_messages(messages), Role.ASSISTANT)
    return str(encoding.decode(tokens))


def channelled(message: dict[str, Any], conversation: list[dict[str, Any]]) -> list[Any]:
    """A message of a chat as messages with channels; results come with their calls."""
    from openai_harmony import Author, DeveloperContent, Message, Role

    if message["role"] == "tool":
        return []
    if message["role"] == "system":
        return [Message.from_role_and_content(Role.DEVELOPER, DeveloperContent.new().with_instructions(message["content"]))]
    if message["role"] == "user":
        return [Message.from_role_and_content(Role.USER, message["content"])]
    said = []
    if message.get("reasoning_content"):
        said.append(Message.from_role_and_content(Role.ASSISTANT, message["reasoning_content"]).with_channel("analysis"))
    if message["content"]:
        channel = "commentary" if message.get("tool_calls") else "final"
        said.append(Message.from_role_and_content(Role.ASSISTANT, message["content"]).with_channel(channel))
    for call in message.get("tool_calls") or []:
        name = f"functions.{call['function']['name']}"
        spoken = Message.from_role_and_content(Role.ASSISTANT, call["function"]["arguments"]).with_channel("commentary")
        said.append(spoken.with_recipient(name).with_content_type("json"))
        for answer in conversation:
            if answer.get("tool_call_id") == call["id"]:
                author = Author.new(Role.TOOL, name)
                told = Message.from_author_and_content(author, answer["content"])
                said.append(told.with_recipient("assistant").with_channel("commentary"))
    return said


RENDERERS: dict[str, Callable[[Request], str]] = {
    "deepseek_v32": deepseek("v32"),
    "deepseek_v4": deepseek("v4"),
    "mistral_v3": mistral("v3"),
    "mistral_nemo": mistral("nemo"),
    "mistral_v7": mistral("v7"),
    "mistral_v11": mistral("v11"),
    "mistral": mistral("v13"),
    "harmony": harmony,
}

if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(rendered(json.loads(line))) + "\n")
