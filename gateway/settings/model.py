"""The configuration as frozen models: every key, its type, its default and what it means."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from .guards import GuardSettings
from .pool import PoolSettings
from .recordings import Recorded, RecordingSettings
from .section import Section, beside
from .wire import Wire

MODEL_NAME = r"^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$"
MODEL_ALIAS = r"^[A-Za-z0-9*][A-Za-z0-9._:/@+*-]*$"
BACKENDS = ("vllm", "embedded", "replay")


class Server(Section):
    """Where the gateway listens."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(default=8000, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    drain: float = Field(default=30.0, ge=0)
    """Seconds that running answers get to end once the gateway is told to stop; new requests are refused in the meantime."""
    write_timeout: float = Field(default=60.0, gt=0)
    """Seconds after which a client that takes nothing of what it is sent loses its connection."""


class Limits(Section):
    """What one request may cost before it reaches an engine."""

    body_bytes: int = Field(default=8 * 1024 * 1024, ge=1024)
    """Largest request body."""
    json_depth: int = Field(default=128, ge=8, le=512)
    """Deepest nesting of objects and arrays in a request body."""
    tools: int = Field(default=512, ge=1)
    """Most tools in one request."""
    messages: int = Field(default=10_000, ge=1)
    """Most messages, or items, in one request."""
    choices: int = Field(default=16, ge=1, le=128)
    """Largest `n`."""
    schema_bytes: int = Field(default=256 * 1024, ge=1024)
    """Largest JSON Schema of one tool or response format."""
    schema_depth: int = Field(default=64, ge=4, le=128)
    """Deepest nesting of one such schema."""


class StoreSettings(Section):
    """Where responses are kept for `previous_response_id`, and for how long."""

    kind: Literal["memory", "redis"] = "memory"
    """The gateway's own memory, or a Redis that all replicas share."""
    url: str | None = Field(default=None, repr=False)
    """Address of the Redis, such as redis://127.0.0.1:6379/0."""
    ttl: float = Field(default=86400.0, gt=0)
    """Seconds after which a response that nobody asked for is forgotten."""
    max_entries: int = Field(default=10_000, ge=1)
    """Most responses kept in memory; those not used for longest go first."""
    max_bytes: int = Field(default=256 * 1024 * 1024, ge=1024)
    """Most bytes that responses take in memory."""
    prefix: str = Field(default="toolwire", min_length=1, pattern=r"^[A-Za-z0-9._-]+$")
    """Beginning of all keys in the Redis."""

    @model_validator(mode="after")
    def _redis_has_a_url(self) -> Self:
        if self.kind == "redis" and not self.url:
            raise PydanticCustomError("store_url", "kind redis needs an address: add  url: redis://HOST:PORT/0")
        return self


class AuthSettings(Section):
    """Who may use the gateway: everybody, or those with an API key."""

    keys_file: str | None = None
    """File of API keys, one JSON object a line, as `toolwire keys` writes it."""
    keys_in_redis: bool = False
    """Whether the API keys are in the Redis of `store`, for several gateways."""
    metrics: Literal["key", "open"] = "key"
    """Whether /metrics needs a key too. It tells models' names and how much they are used."""
    on_store_failure: Literal["allow", "deny"] = "allow"
    """While the Redis cannot be reached: keys seen lately go on, and each gateway counts limits for itself (allow), or every
    request is refused with 503 (deny). A key that is not known is never let in."""
    assumed_answer: int = Field(default=1024, ge=0)
    """Tokens that are set aside within a key's limits for an answer of which neither the request nor the model's entry says how
    long it may be (max_tokens)."""

    @field_validator("keys_file")
    @classmethod
    def _file_beside(cls, value: str | None, info: ValidationInfo) -> str | None:
        folder = (info.context or {}).get("folder")
        return str(Path(folder or ".") / Path(value).expanduser()) if value else None

    @property
    def on(self) -> bool:
        """Whether a key is needed."""
        return self.keys_file is not None or self.keys_in_redis


class TelemetrySettings(Section):
    """To whom traces and metrics are told. The standard OTEL_* variables work too. For Prometheus nothing need be set."""

    otlp_endpoint: str | None = Field(default=None, repr=False)
    """Address of an OpenTelemetry collector that takes OTLP over HTTP, such as http://127.0.0.1:4318."""
    capture_content: bool = False
    """Whether traces hold what was asked and answered: messages, tools and calls with their arguments."""

    @field_validator("otlp_endpoint")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise PydanticCustomError("urls", "must start with http:// or https://, got '{url}'", {"url": value})
        return value


class SamplingDefaults(Section):
    """Used where a request says nothing."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)


class ModelSettings(Section):
    """What every model entry has, whichever engine runs it."""

    name: str = Field(min_length=1, max_length=200, pattern=MODEL_NAME)
    """What clients call the model."""
    aliases: tuple[Annotated[str, Field(min_length=1, max_length=200, pattern=MODEL_ALIAS)], ...] = ()
    """Other names it answers to; a * stands for any characters, as in claude-*. Exact names come first, then longer patterns."""
    tokenizer: str | None = None
    """Folder or hub id; default: what the engine says it serves."""
    chat_template: str | None = None
    """Default: the tokenizer's own. A path, or toolwire/NAME for one of ours."""
    parser: str = "auto"
    """Tool-call format: a name or alias (see `toolwire formats`), or auto: found from the chat template."""
    template_check: Literal["off", "warn", "fail"] = "fail"
    """What happens at the start when the parser cannot read back the calls that the chat template writes: nothing is looked at, a
    warning, or the model is not served. `toolwire check` shows all of it."""
    strict_history: bool = False
    """Whether an earlier turn that is broken (no result for a call, arguments that are no JSON object) is an error instead of
    being healed with a warning."""
    context: int | None = Field(default=None, ge=16)
    """Most tokens of prompt and answer together; default: what the engine says."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Most tokens of one answer; longer wishes are cut to it."""
    strict: Literal["fail", "retry", "report"] = "fail"
    """What happens when an answer breaks what the request demanded: an error (fail), one more attempt with the reason in the
    conversation and then an error (retry: calls are sent once the turn is whole and valid), or a notice (report)."""
    strict_policy: Literal["openai", "repair", "lenient"] = "openai"
    """Which schemas strict tools and answers may have: those OpenAI takes (openai), also those that can be narrowed to its rules
    (repair), or any JSON Schema (lenient)."""
    required_fallback: Literal["none", "no_tool"] = "none"
    """What a model may do when a call is required and no tool fits: nothing (none), or answer in words through a hidden function
    (no_tool); the client then gets content."""
    parallel_calls: bool = True
    """Whether the model can make several calls in one turn. If not, each turn ends with its first call, whatever is asked."""
    recorder: Recorded = "off"
    """Which turns go into the files of `recordings`: none, those that failed or were remarkable (errors), all."""
    guards: GuardSettings = GuardSettings()
    fallback: str | None = None
    """Another entry's name, which answers when no engine of this one can."""
    wire: Wire = "openai"
    """How answers on Chat Completions are written at the points where clients want opposite things: as OpenAI does, or as chat
    interfaces of old expect it (legacy-ui). A key may have its own."""
    sampling: SamplingDefaults = SamplingDefaults()

    @field_validator("tokenizer", "chat_template")
    @classmethod
    def _beside_the_file(cls, value: str | None, info: ValidationInfo) -> str | None:
        return beside(value, info) if value and not value.startswith("toolwire/") else value


class VllmModel(ModelSettings):
    """A model on a vLLM server."""

    backend: Literal["vllm"]
    urls: tuple[str, ...] = ()
    """Addresses of its replicas, such as http://127.0.0.1:8001."""
    engine_model: str | None = None
    """The name vLLM serves it under; default: the first one it lists."""
    api_key: str | None = Field(default=None, repr=False)
    """Sent to the engine as bearer token."""
    prefix_cache: Literal["per_key", "shared"] = "per_key"
    """Whether prompts of different API keys may share what the engine has cached of their beginnings. Shared, a user can find out
    by how soon an answer begins whether somebody else has sent the same beginning."""
    pool: PoolSettings = PoolSettings()

    @model_validator(mode="after")
    def _has_urls(self) -> Self:
        if not self.urls:
            raise PydanticCustomError("urls", "backend vllm needs an address: add  urls: [http://HOST:PORT]")
        for place, url in enumerate(self.urls):
            if not url.startswith(("http://", "https://")):
                raise PydanticCustomError("urls", "urls must start with http:// or https://, got '{url}'", {"url": url})
            if url in self.urls[:place]:
                raise PydanticCustomError("urls", "urls has the same address twice; remove one")
            if self.api_key and "@" in urlsplit(url).netloc:
                raise PydanticCustomError("urls", "urls with a password and api_key exclude one another; remove one")
        return self


class EmbeddedModel(ModelSettings):
    """A GGUF file, run inside the gateway's own process."""

    backend: Literal["embedded"]
    path: str | None = None
    """A GGUF file or hf:OWNER/REPO/FILE; default: the SmolLM2 model that comes with the gateway."""
    threads: int | None = Field(default=None, ge=1)
    """Threads of the engine; default: one less than there are processors. More than are free make it slower."""
    parallel: int = Field(default=4, ge=1, le=64)
    """Answers generated at the same time."""

    @field_validator("path")
    @classmethod
    def _file_beside(cls, value: str | None, info: ValidationInfo) -> str | None:
        return beside(value, info) if value and not value.startswith("hf:") else value


class ReplayModel(ModelSettings):
    """Recorded turns instead of an engine, for tests and for debugging a parser."""

    backend: Literal["replay"]
    turns: str
    """A JSONL file: {"match": regex or null, "text" or "pieces", "finish", "delay_ms"} per line."""

    @field_validator("turns")
    @classmethod
    def _turns_beside(cls, value: str, info: ValidationInfo) -> str:
        return beside(value, info)


AnyModel = Annotated[VllmModel | EmbeddedModel | ReplayModel, Field(discriminator="backend")]
DEFAULT_MODEL = EmbeddedModel(name="smollm2", backend="embedded", parallel_calls=False)
"""Small as it is, this model repeats its first call until its tokens run out when it may make several."""


class Settings(Section):
    """The whole configuration file."""

    server: Server = Server()
    limits: Limits = Limits()
    store: StoreSettings = StoreSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    auth: AuthSettings = AuthSettings()
    recordings: RecordingSettings = RecordingSettings()
    models: tuple[AnyModel, ...] = (DEFAULT_MODEL,)

    @field_validator("models")
    @classmethod
    def _names_are_unique(cls, models: tuple[AnyModel, ...]) -> tuple[AnyModel, ...]:
        if not models:
            raise PydanticCustomError("no_models", "add a model, or leave the key out to serve the embedded default")
        owners: dict[str, int] = {}
        for place, model in enumerate(models):
            for name in (model.name, *model.aliases):
                if name in owners:
                    raise PydanticCustomError(
                        "duplicate_name", "'{name}' is the name or alias of two entries ({a} and {b}); rename one",
                        {"name": name, "a": f"models[{owners[name]}]", "b": f"models[{place}]"},
                    )  # fmt: skip
                owners[name] = place
        return models

    @model_validator(mode="after")
    def _fallbacks_are_others(self) -> Self:
        names = [model.name for model in self.models]
        for place, model in enumerate(self.models):
            if model.fallback is not None and (model.fallback == model.name or model.fallback not in names):
                raise PydanticCustomError(
                    "fallback", "models[{place}].fallback: '{name}' is no other entry's name; there are: {names}",
                    {"place": place, "name": model.fallback, "names": ", ".join(names)},
                )  # fmt: skip
        return self

    @model_validator(mode="after")
    def _keys_have_one_home(self) -> Self:
        if self.auth.keys_in_redis and self.auth.keys_file:
            raise PydanticCustomError("auth", "auth: keys_file and keys_in_redis exclude one another; remove one")
        if self.auth.keys_in_redis and self.store.kind != "redis":
            raise PydanticCustomError(
                "auth", "auth: keys_in_redis needs a Redis: add  store: {{kind: redis, url: redis://HOST:PORT/0}}"
            )
        return self


def json_schema() -> dict[str, Any]:
    """JSON Schema of the configuration file, for editors."""
    schema = Settings.model_json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "toolwire.yaml"}
