// OpenAI's Agents SDK: `run.mjs chat` or `run.mjs responses`.
import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";
import {
  ANNA, BASE_URL, HELLO, MODEL, ONE_TOOL, PERSON, PING, SECRET, TASK, THINK, TWO_CALLS,
  brokenOff, failure, meetsFailures, run, same, schemas, tools,
} from "./scenarios.mjs";

setTracingDisabled(true);
const chat = process.argv[2] === "chat";
const Model = chat ? OpenAIChatCompletionsModel : OpenAIResponsesModel;
const client = new OpenAI({ baseURL: BASE_URL, apiKey: "unused" });
const runnable = Object.entries(schemas).map(([name, parameters]) =>
  tool({ name, description: "A tool", parameters, execute: (input) => tools[name](input) }),
);

// The run, each of its requests streamed.
async function streamed(text, { name = MODEL, ...options } = {}) {
  const agent = new Agent({ name: "Helper", model: new Model(client, name), tools: runnable, ...options });
  const result = await new Runner().run(agent, text, { stream: true });
  for await (const _ of result);
  await result.completed;
  if (result.error) throw result.error;
  return result;
}

const calls = (result) =>
  result.newItems
    .filter((item) => item.type === "tool_call_item")
    .map((item) => [item.rawItem.name, item.rawItem.arguments]);

await run({
  A: async () => same(calls(await streamed(ONE_TOOL)), [["get_weather", '{"city": "Oslo"}']]),
  B: async () => {
    const result = await streamed(TWO_CALLS);
    same(calls(result), [["get_weather", '{"city": "Oslo"}'], ["get_weather", '{"city": "Rome"}']]);
    same(result.finalOutput.includes("degrees"), true);
  },
  C: async () => same((await streamed(TASK)).finalOutput.includes(SECRET), true),
  D: async () => {
    const outputType = z.object({ name: z.string(), age: z.number().int() });
    same((await streamed(PERSON, { outputType, tools: [] })).finalOutput, ANNA);
  },
  E: async () => {
    for (const toolChoice of ["required", "get_weather"]) {
      const options = { modelSettings: { toolChoice }, toolUseBehavior: "stop_on_first_tool" };
      same((await streamed(ONE_TOOL, options)).finalOutput, "Oslo: 7 degrees");
    }
  },
  F: () => meetsFailures((name) => streamed(HELLO, { name }), (error) => error.status),
  G: async () => {
    const lost = () => streamed(HELLO, { name: "dies" });
    if (chat) return brokenOff(lost);
    const error = await failure(lost);
    same(error.message.includes("response.failed"), true);
    return `${error.name} that names the event, without our message`;
  },
  H: async () => {
    const result = await streamed(THINK);
    same([result.newItems.map((item) => item.type), result.finalOutput.trim()], [["reasoning_item", "message_output_item"], "Four."]);
  },
  I: async () => {
    const result = await streamed(PING);
    same([calls(result), result.finalOutput], [[["ping", "{}"]], "The server is up."]);
  },
  J: async () => {
    const { usage } = (await streamed(HELLO)).state;
    same([usage.outputTokens, usage.inputTokens > 0], [2, true]);
  },
});
