// LangChain: `run.mjs chat` or `run.mjs responses`.
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import { z } from "zod";
import {
  ANNA, BASE_URL, HELLO, MODEL, ONE_TOOL, OSLO, PERSON, PING, ROME, SECRET, TASK, THINK, TWO_CALLS,
  brokenOff, fails, meetsFailures, notRead, run, same, schemas, tools,
} from "./scenarios.mjs";

const useResponsesApi = process.argv[2] === "responses";
const configuration = { baseURL: BASE_URL };
const model = (name = MODEL, options = {}) =>
  new ChatOpenAI({ model: name, apiKey: "unused", configuration, useResponsesApi, streamUsage: true, maxRetries: 2, ...options });
const runnable = Object.entries(schemas).map(([name, schema]) =>
  tool((input) => tools[name](input), { name, description: "A tool", schema }),
);

// The message that its chunks add up to.
async function streamed(model, text) {
  let whole;
  for await (const chunk of await model.stream(text)) whole = whole ? whole.concat(chunk) : chunk;
  return whole;
}

const calls = (message) => message.tool_calls.map((call) => [call.name, call.args]);

async function agentSays(text) {
  const agent = createAgent({ model: model(), tools: runnable });
  return (await agent.invoke({ messages: [{ role: "user", content: text }] })).messages.at(-1).text;
}

const lost = () => brokenOff(() => streamed(model("dies"), HELLO));

await run({
  A: async () => same(calls(await streamed(model().bindTools(runnable), ONE_TOOL)), [OSLO]),
  B: async () => {
    same(calls(await streamed(model().bindTools(runnable), TWO_CALLS)), [OSLO, ROME]);
    same((await agentSays(TWO_CALLS)).includes("degrees"), true);
  },
  C: async () => same((await agentSays(TASK)).includes(SECRET), true),
  D: async () => {
    const person = z.object({ name: z.string(), age: z.number().int() });
    for (const method of ["jsonSchema", "jsonMode"]) {
      same(await model().withStructuredOutput(person, { name: "person", method }).invoke(PERSON), ANNA);
    }
  },
  E: async () => {
    for (const tool_choice of ["any", "get_weather"]) {
      same(calls(await model().bindTools(runnable, { tool_choice }).invoke(ONE_TOOL)), [OSLO]);
    }
  },
  F: () => meetsFailures((name) => model(name).invoke(HELLO), (error) => error.status),
  G: useResponsesApi
    ? fails("it takes half an answer for a whole one: of a stream's events it reads no `response.failed`", lost)
    : lost,
  H: async () => {
    // It passes `reasoning` on for the names of OpenAI's own models only.
    const message = await streamed(model(MODEL, useResponsesApi ? { modelKwargs: { reasoning: { summary: "auto" } } } : {}), THINK);
    if (!useResponsesApi) return notRead(message.text);
    const thoughts = message.additional_kwargs.reasoning.summary.map((part) => part.text);
    same([thoughts.join("").trim(), message.text.trim()], ["Two and two are four.", "Four."]);
  },
  I: async () => {
    same(calls(await streamed(model().bindTools(runnable), PING)), [["ping", {}]]);
    same(await agentSays(PING), "The server is up.");
  },
  J: async () => {
    const { usage_metadata } = await streamed(model(), HELLO);
    same([usage_metadata.output_tokens, usage_metadata.input_tokens > 0], [2, true]);
  },
});
