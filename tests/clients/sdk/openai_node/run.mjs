// The official Node client: `run.mjs chat` or `run.mjs responses`.
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import {
  ANNA, BASE_URL, HELLO, MODEL, ONE_TOOL, OSLO, PERSON, PING, ROME, SECRET, TASK, THINK, TWO_CALLS,
  brokenOff, meetsFailures, run, same, schemas, tools,
} from "./scenarios.mjs";

const client = new OpenAI({ baseURL: BASE_URL, apiKey: "unused", timeout: 120_000 });
const Person = z.object({ name: z.string(), age: z.number().int() });

const chat = {
  tools: Object.entries(schemas).map(([name, parameters]) => ({ type: "function", function: { name, parameters } })),
  ask: (text, fields) => client.chat.completions.create({ model: MODEL, messages: [{ role: "user", content: text }], ...fields }),
  // The completion that the client's accumulator makes of the stream.
  streamed(messages, fields) {
    const list = typeof messages === "string" ? [{ role: "user", content: messages }] : messages;
    const body = { model: MODEL, messages: list, stream_options: { include_usage: true }, ...fields };
    return client.chat.completions.stream(body).finalChatCompletion();
  },
  calls: (completion) =>
    completion.choices[0].message.tool_calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
  async untilAnswered(text) {
    const runnable = Object.entries(schemas).map(([name, parameters]) => ({
      type: "function",
      function: { name, parameters, parse: JSON.parse, function: tools[name] },
    }));
    const messages = [{ role: "user", content: text }];
    return client.chat.completions.runTools({ model: MODEL, messages, tools: runnable, stream: true }).finalContent();
  },
  async person() {
    const response_format = zodResponseFormat(Person, "person");
    const messages = [{ role: "user", content: PERSON }];
    const parsed = await client.chat.completions.parse({ model: MODEL, messages, response_format });
    same((await this.streamed(PERSON, { response_format })).choices[0].message.parsed, ANNA);
    return parsed.choices[0].message.parsed;
  },
  named: { type: "function", function: { name: "get_weather" } },
  cutOff: () => chat.streamed(HELLO, { model: "dies" }),
  async thinking() {
    const { reasoning_content, content } = (await this.ask(THINK)).choices[0].message;
    return [reasoning_content, content];
  },
  async usage() {
    const usage = (await this.streamed(HELLO)).usage;
    return [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens];
  },
};

const responses = {
  tools: Object.entries(schemas).map(([name, parameters]) => ({ type: "function", name, parameters, strict: true })),
  ask: (text, fields) => client.responses.create({ model: MODEL, input: text, ...fields }),
  streamed: (input, fields) => client.responses.stream({ model: MODEL, input, ...fields }).finalResponse(),
  calls: (response) =>
    response.output.filter((item) => item.type === "function_call").map((call) => [call.name, JSON.parse(call.arguments)]),
  async untilAnswered(text) {
    let response = await this.streamed(text, { tools: this.tools });
    for (let turn = 0; turn < 3; turn++) {
      const calls = response.output.filter((item) => item.type === "function_call");
      if (!calls.length) return response.output_text;
      const results = calls.map((call) => ({
        type: "function_call_output",
        call_id: call.call_id,
        output: tools[call.name](JSON.parse(call.arguments)),
      }));
      response = await this.streamed(results, { previous_response_id: response.id, tools: this.tools });
    }
    throw new Error("no answer");
  },
  async person() {
    const text = { format: zodTextFormat(Person, "person") };
    same((await this.streamed(PERSON, { text })).output_parsed, ANNA);
    return (await client.responses.parse({ model: MODEL, input: PERSON, text })).output_parsed;
  },
  named: { type: "function", name: "get_weather" },
  async cutOff() {
    const response = await responses.streamed(HELLO, { model: "dies" });
    same(response.status, "failed");
    throw new Error(response.error.message);
  },
  async thinking() {
    const response = await this.streamed(THINK);
    return [response.output.find((item) => item.type === "reasoning").content[0].text, response.output_text];
  },
  async usage() {
    const usage = (await this.streamed(HELLO)).usage;
    return [usage.input_tokens, usage.output_tokens, usage.total_tokens];
  },
};

const api = { chat, responses }[process.argv[2]];

await run({
  A: async () => same(api.calls(await api.streamed(ONE_TOOL, { tools: api.tools })), [OSLO]),
  B: async () => {
    same(api.calls(await api.streamed(TWO_CALLS, { tools: api.tools })), [OSLO, ROME]);
    same((await api.untilAnswered(TWO_CALLS)).includes("degrees"), true);
  },
  C: async () => same((await api.untilAnswered(TASK)).includes(SECRET), true),
  D: async () => same(await api.person(), ANNA),
  E: async () => {
    for (const tool_choice of ["required", api.named]) {
      same(api.calls(await api.streamed(ONE_TOOL, { tools: api.tools, tool_choice })), [OSLO]);
    }
  },
  F: () => meetsFailures((model) => api.ask(HELLO, { model }), (error) => error.status),
  G: () => brokenOff(api.cutOff),
  H: async () => same((await api.thinking()).map((text) => text.trim()), ["Two and two are four.", "Four."]),
  I: async () => {
    same(api.calls(await api.streamed(PING, { tools: api.tools })), [["ping", {}]]);
    same(await api.untilAnswered(PING), "The server is up.");
  },
  J: async () => {
    const [asked, answered, both] = await api.usage();
    same([answered, both, asked > 0], [2, asked + 2, true]);
  },
});
