"""How a user points each client at the gateway: title, language of the lines, the lines."""

SETUPS: dict[str, tuple[str, str]] = {
    "openai (Python)": (
        "python",
        """
client = openai.OpenAI(base_url="http://127.0.0.1:8000/v1", api_key="unused")
client.chat.completions.create(model="MODEL", messages=[...])
client.responses.create(model="MODEL", input="...")
""",
    ),
    "LangChain": (
        "python",
        """
ChatOpenAI(model="MODEL", base_url="http://127.0.0.1:8000/v1", api_key="unused")
# Responses; thinking arrives as a summary:
ChatOpenAI(
    model="MODEL", base_url="http://127.0.0.1:8000/v1", api_key="unused", use_responses_api=True, reasoning={"summary": "auto"}
)
""",
    ),
    "Pydantic AI": (
        "python",
        """
provider = OpenAIProvider(base_url="http://127.0.0.1:8000/v1", api_key="unused")
Agent(OpenAIChatModel("MODEL", provider=provider))
Agent(OpenAIResponsesModel("MODEL", provider=provider), model_settings={"openai_reasoning_summary": "auto"})
Agent(AnthropicModel("MODEL", provider=AnthropicProvider(base_url="http://127.0.0.1:8000", api_key="unused")))
""",
    ),
    "OpenAI Agents SDK": (
        "python",
        """
set_tracing_disabled(True)  # traces would go to OpenAI
client = openai.AsyncOpenAI(base_url="http://127.0.0.1:8000/v1", api_key="unused")
Agent(name="Helper", model=OpenAIResponsesModel("MODEL", client))  # or OpenAIChatCompletionsModel
""",
    ),
    "anthropic (Python)": (
        "python",
        """
client = anthropic.Anthropic(base_url="http://127.0.0.1:8000", api_key="unused")
client.messages.create(model="MODEL", max_tokens=1000, messages=[...])
""",
    ),
    "openai (Node)": (
        "js",
        """
const client = new OpenAI({ baseURL: "http://127.0.0.1:8000/v1", apiKey: "unused" });
""",
    ),
    "AI SDK": (
        "js",
        """
const where = { baseURL: "http://127.0.0.1:8000/v1", apiKey: "unused" };
createOpenAICompatible({ name: "toolwire", includeUsage: true, supportsStructuredOutputs: true, ...where })("MODEL");
createOpenAI(where).chat("MODEL");
createOpenAI(where).responses("MODEL"); // thinking: providerOptions.openai = { forceReasoning: true, reasoningSummary: "auto" }
createAnthropic(where)("MODEL"); // with /v1, unlike Anthropic's own clients
""",
    ),
    "@anthropic-ai/sdk (Node)": (
        "js",
        """
const client = new Anthropic({ baseURL: "http://127.0.0.1:8000", apiKey: "unused" });
""",
    ),
}
