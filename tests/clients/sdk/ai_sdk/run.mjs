// Vercel's AI SDK: `run.mjs compatible`, `run.mjs chat`, `run.mjs responses` or `run.mjs messages`.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import {
  ANNA, BASE_URL, HELLO, MODEL, ONE_TOOL, OSLO, PERSON, PING, ROME, SECRET, TASK, THINK, TWO_CALLS,
  brokenOff, meetsFailures, notRead, run, same, schemas, tools,
} from "./scenarios.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;
const where = { baseURL: BASE_URL, apiKey: "unused" };
const compatible = createOpenAICompatible({ name: "toolwire", includeUsage: true, supportsStructuredOutputs: true, ...where });
const openai = createOpenAI(where);
const api = process.argv[2];
const model = {
  compatible: (name) => compatible(name),
  chat: (name) => openai.chat(name),
  responses: (name) => openai.responses(name),
  messages: (name) => createAnthropic(where)(name),
}[api];

const runnable = Object.fromEntries(
  Object.entries(schemas).map(([name, schema]) => [
    name,
    tool({ description: "A tool", inputSchema: jsonSchema(schema), execute: async (input) => tools[name](input) }),
  ]),
);

// The steps of a run, each of its requests streamed.
async function streamed(prompt, { name = MODEL, ...options } = {}) {
  let failed;
  const result = streamText({
    model: model(name),
    prompt,
    tools: runnable,
    stopWhen: stepCountIs(3),
    onError: ({ error }) => { failed = error; },
    ...options,
  });
  await result.consumeStream();
  if (failed) throw failed;
  const steps = await result.steps;
  return {
    calls: steps.flatMap((step) => step.toolCalls.map((call) => [call.toolName, call.input])),
    text: await result.text,
    reasoning: steps.map((step) => step.reasoningText ?? "").join(""),
    usage: await result.usage,
  };
}

const last = (error) => error.lastError ?? error;

await run({
  A: async () => same((await streamed(ONE_TOOL, { stopWhen: stepCountIs(1) })).calls, [OSLO]),
  B: async () => {
    const { calls, text } = await streamed(TWO_CALLS);
    same([calls, text.includes("degrees")], [[OSLO, ROME], true]);
  },
  C: async () => same((await streamed(TASK)).text.includes(SECRET), true),
  D: async () => {
    const output = Output.object({ schema: z.object({ name: z.string(), age: z.number().int() }) });
    // Only models of Claude's names are asked for structured output in Anthropic's words.
    const name = api === "messages" ? "claude-sonnet-4-5" : MODEL;
    same((await generateText({ model: model(name), prompt: PERSON, output })).output, ANNA);
  },
  E: async () => {
    for (const toolChoice of ["required", { type: "tool", toolName: "get_weather" }]) {
      same((await streamed(ONE_TOOL, { toolChoice, stopWhen: stepCountIs(1) })).calls, [OSLO]);
    }
  },
  F: () =>
    meetsFailures((name) => generateText({ model: model(name), prompt: HELLO }), (error) => last(error).statusCode),
  G: () => brokenOff(() => streamed(HELLO, { name: "dies" })),
  H: async () => {
    const providerOptions = {
      openai: { forceReasoning: true, reasoningSummary: "auto" },
      anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } },
    };
    const { reasoning, text } = await streamed(THINK, { providerOptions: api === "chat" ? {} : providerOptions });
    if (api === "chat") return notRead(text);
    same(text.trim(), "Four.");
    same(reasoning.trim(), "Two and two are four.");
  },
  I: async () => {
    const { calls, text } = await streamed(PING);
    same([calls, text], [[["ping", {}]], "The server is up."]);
  },
  J: async () => {
    const { usage } = await streamed(HELLO);
    same([usage.outputTokens, usage.inputTokens > 0], [2, true]);
  },
});
