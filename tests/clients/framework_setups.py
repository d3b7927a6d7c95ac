"""How a user points each framework at the gateway: title, language of the lines, the lines."""

FRAMEWORK_SETUPS: dict[str, tuple[str, str]] = {
    "LangChain, anthropic": ("python", 'ChatAnthropic(model="MODEL", base_url="http://127.0.0.1:8000", api_key="unused")'),
    "LiteLLM": (
        "python",
        """
where = {"api_base": "http://127.0.0.1:8000/v1", "api_key": "unused"}
litellm.completion("openai/MODEL", [...], **where)
litellm.responses(model="openai/MODEL", input="...", **where)
litellm.anthropic.messages.acreate(
    model="anthropic/MODEL", api_base="http://127.0.0.1:8000", api_key="unused", max_tokens=1000, messages=[...]
)
""",
    ),
    "LiteLLM proxy": (
        "yaml",
        """
model_list:
  - model_name: MODEL
    litellm_params:
      model: openai/MODEL
      api_base: http://127.0.0.1:8000/v1
      api_key: unused
""",
    ),
    "instructor": (
        "python",
        """
client = openai.OpenAI(base_url="http://127.0.0.1:8000/v1", api_key="unused")
instructor.from_openai(client, mode=instructor.Mode.TOOLS_STRICT)  # or JSON_SCHEMA, RESPONSES_TOOLS
""",
    ),
    "Mirascope": (
        "python",
        """
llm.register_provider("openai", base_url="http://127.0.0.1:8000/v1", api_key="unused")
llm.model("openai/MODEL:completions")  # or openai/MODEL:responses
llm.register_provider("anthropic", base_url="http://127.0.0.1:8000", api_key="unused")
llm.model("anthropic/MODEL")
""",
    ),
    "LlamaIndex": (
        "python",
        """
OpenAILike(
    model="MODEL",
    api_base="http://127.0.0.1:8000/v1",
    api_key="unused",
    is_chat_model=True,
    is_function_calling_model=True,
)
""",
    ),
    "Haystack": (
        "python",
        """
OpenAIChatGenerator(api_key=Secret.from_token("unused"), model="MODEL", api_base_url="http://127.0.0.1:8000/v1")
""",
    ),
    "Semantic Kernel": (
        "python",
        """
client = openai.AsyncOpenAI(base_url="http://127.0.0.1:8000/v1", api_key="unused")
OpenAIChatCompletion(ai_model_id="MODEL", async_client=client)
""",
    ),
    "AutoGen": (
        "python",
        """
OpenAIChatCompletionClient(
    model="MODEL",
    base_url="http://127.0.0.1:8000/v1",
    api_key="unused",
    model_info={
        "vision": False,
        "function_calling": True,
        "json_output": True,
        "structured_output": True,
        "family": "unknown",
    },
)
""",
    ),
    "Strands Agents": (
        "python",
        """
OpenAIModel(client_args={"base_url": "http://127.0.0.1:8000/v1", "api_key": "unused"}, model_id="MODEL")
""",
    ),
    "smolagents": ("python", 'OpenAIServerModel("MODEL", api_base="http://127.0.0.1:8000/v1", api_key="unused")'),
    "CrewAI": ("python", 'LLM(model="openai/MODEL", base_url="http://127.0.0.1:8000/v1", api_key="unused")'),
    "Google ADK": ("python", 'LiteLlm("openai/MODEL", api_base="http://127.0.0.1:8000/v1", api_key="unused")'),
    "DSPy": (
        "python",
        """
dspy.LM("openai/MODEL", api_base="http://127.0.0.1:8000/v1", api_key="unused")
# For tools in the API's own words rather than in texts:
litellm.register_model({"openai/MODEL": {"litellm_provider": "openai", "mode": "chat", "supports_function_calling": True}})
dspy.LM("openai/MODEL", api_base="http://127.0.0.1:8000/v1", api_key="unused", engine="litellm")
""",
    ),
    "Agno": ("python", 'OpenAILike(id="MODEL", base_url="http://127.0.0.1:8000/v1", api_key="unused")'),
    "Marvin": (
        "python",
        """
provider = OpenAIProvider(base_url="http://127.0.0.1:8000/v1", api_key="unused")  # Pydantic AI's
marvin.Agent(model=OpenAIChatModel("MODEL", provider=provider))
""",
    ),
    "mcp-agent": (
        "yaml",
        """
openai:
  base_url: http://127.0.0.1:8000/v1
  api_key: unused
  default_model: MODEL
""",
    ),
    "llm": (
        "yaml",
        """
# extra-openai-models.yaml in the folder that `llm logs path` names
- model_id: toolwire
  model_name: MODEL
  api_base: http://127.0.0.1:8000/v1
  supports_tools: true
  supports_schema: true
""",
    ),
    "LangChain (Node)": (
        "js",
        """
new ChatOpenAI({ model: "MODEL", apiKey: "unused", configuration: { baseURL: "http://127.0.0.1:8000/v1" } });
""",
    ),
    "OpenAI Agents SDK (Node)": (
        "js",
        """
setTracingDisabled(true); // traces would go to OpenAI
const client = new OpenAI({ baseURL: "http://127.0.0.1:8000/v1", apiKey: "unused" });
new Agent({ name: "Helper", model: new OpenAIResponsesModel(client, "MODEL") }); // or OpenAIChatCompletionsModel
""",
    ),
}
