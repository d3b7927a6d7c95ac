// Anthropic's official Node client.
import Anthropic from "@anthropic-ai/sdk";
import {
  ANNA, HELLO, MODEL, ONE_TOOL, OSLO, PERSON, PING, ROME, ROOT, SECRET, TASK, THINK, TWO_CALLS,
  brokenOff, meetsFailures, run, same, schemas, tools,
} from "./scenarios.mjs";

const client = new Anthropic({ baseURL: ROOT, apiKey: "unused", timeout: 120_000 });
const declared = Object.entries(schemas).map(([name, input_schema]) => ({ name, description: "A tool", input_schema }));

// The message that the client's accumulator makes of the stream.
function ask(messages, fields) {
  const list = typeof messages === "string" ? [{ role: "user", content: messages }] : messages;
  return client.messages.stream({ model: MODEL, max_tokens: 500, messages: list, ...fields }).finalMessage();
}

const uses = (message) => message.content.filter((block) => block.type === "tool_use");
const calls = (message) => uses(message).map((block) => [block.name, block.input]);
const textOf = (message) => message.content.filter((block) => block.type === "text").map((block) => block.text).join("");

async function untilAnswered(text) {
  const messages = [{ role: "user", content: text }];
  for (let turn = 0; turn < 3; turn++) {
    const message = await ask(messages, { tools: declared });
    if (message.stop_reason !== "tool_use") return textOf(message);
    const content = uses(message).map((use) => ({
      type: "tool_result",
      tool_use_id: use.id,
      content: tools[use.name](use.input),
    }));
    messages.push({ role: "assistant", content: message.content }, { role: "user", content });
  }
  throw new Error("no answer");
}

const PERSON_SCHEMA = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
  additionalProperties: false,
};

await run({
  A: async () => same(calls(await ask(ONE_TOOL, { tools: declared })), [OSLO]),
  B: async () => {
    same(calls(await ask(TWO_CALLS, { tools: declared })), [OSLO, ROME]);
    same((await untilAnswered(TWO_CALLS)).includes("degrees"), true);
  },
  C: async () => same((await untilAnswered(TASK)).includes(SECRET), true),
  D: async () => {
    const output_config = { format: { type: "json_schema", schema: PERSON_SCHEMA } };
    same(JSON.parse(textOf(await ask(PERSON, { output_config }))), ANNA);
  },
  E: async () => {
    for (const tool_choice of [{ type: "any" }, { type: "tool", name: "get_weather" }]) {
      const message = await ask(ONE_TOOL, { tools: declared, tool_choice });
      same([message.stop_reason, calls(message)], ["tool_use", [OSLO]]);
    }
  },
  F: () => meetsFailures((model) => ask(HELLO, { model }), (error) => error.status),
  G: () => brokenOff(() => ask(HELLO, { model: "dies" })),
  H: async () => {
    const message = await ask(THINK, { max_tokens: 2000, thinking: { type: "enabled", budget_tokens: 1024 } });
    const [thought] = message.content.filter((block) => block.type === "thinking");
    same([thought.thinking.trim(), textOf(message).trim()], ["Two and two are four.", "Four."]);
  },
  I: async () => {
    same(calls(await ask(PING, { tools: declared })), [["ping", {}]]);
    same(await untilAnswered(PING), "The server is up.");
  },
  J: async () => {
    const { usage } = await ask(HELLO);
    same([usage.output_tokens, usage.input_tokens > 0], [2, true]);
    const counted = await client.messages.countTokens({ model: MODEL, messages: [{ role: "user", content: HELLO }] });
    same(counted.input_tokens, usage.input_tokens);
  },
});
