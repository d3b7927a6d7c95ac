// What the Node clients' scripts share: the tasks, the tools, and one JSON line for each scenario.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export const ROOT = process.env.TOOLWIRE_URL;
export const BASE_URL = `${ROOT}/v1`;
export const MODEL = "scripted";

export const ONE_TOOL = "What is the weather in Oslo?";
export const TWO_CALLS = "What is the weather in Oslo and Rome?";
export const TASK = "Please read notes.txt and tell me the code.";
export const PERSON = "Who is Anna?";
export const THINK = "What is two and two?";
export const PING = "Please ping the server.";
export const HELLO = "Hello";
export const SECRET = "4711";

export const tools = {
  get_weather: ({ city }) => `${city}: 7 degrees`,
  read_file: ({ path }) => readFileSync(path, "utf8"),
  ping: () => "pong",
};

const parameters = (...names) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
  additionalProperties: false,
});

export const schemas = { get_weather: parameters("city"), read_file: parameters("path"), ping: parameters() };
export const OSLO = ["get_weather", { city: "Oslo" }];
export const ROME = ["get_weather", { city: "Rome" }];
export const ANNA = { name: "Anna", age: 31 };

export const same = (found, expected) => assert.deepEqual(found, expected);

// Runs each scenario; it returns a short text, or nothing, or fails.
export async function run(scenarios) {
  for (const name of Object.keys(scenarios).sort()) {
    let line;
    try {
      line = { scenario: name, ok: true, detail: (await scenarios[name]()) || "" };
    } catch (error) {
      if (error.known) {
        console.log(JSON.stringify({ scenario: name, ok: false, known: true, detail: error.message }));
        continue;
      }
      const where = /run\.mjs:(\d+)/.exec(error.stack ?? "")?.[1];
      line = { scenario: name, ok: false, detail: `line ${where}: ${error.name}: ${error.message}`.slice(0, 600) };
    }
    console.log(JSON.stringify(line));
  }
}

// A scenario that the client itself does wrong, and how that is known.
export function fails(evidence, scenario) {
  return async () => {
    try {
      await scenario();
    } catch {
      throw Object.assign(new Error(evidence), { known: true });
    }
    throw new Error("it works now: expect no failure of it");
  };
}

// What the work throws.
export async function failure(work) {
  let result;
  try {
    result = await work();
  } catch (error) {
    return error;
  }
  throw new Error(`no error, but ${JSON.stringify(result)}`);
}

// Scenario H for clients that leave thinking out: what they give is the answer alone.
export function notRead(answer) {
  same(answer.trim(), "Four.");
  return "the answer only: it does not read the thinking of chat completions";
}

// Scenario G: what becomes of a stream whose engine dies, which the client must not take for an answer.
export async function brokenOff(work) {
  const error = await failure(work);
  same(`${error.message ?? JSON.stringify(error)}`.includes("broke off"), true);
  return `${error.name ?? "an error"} with our message`;
}

// How often the engine was asked for this model since the last time.
export async function attempts(model) {
  const answer = await fetch(`${process.env.TOOLWIRE_ENGINE}/asked/${model}`);
  return (await answer.json()).asked;
}

// Scenario F: each status arrives as the client's own error, and an engine that is busy twice is asked a third time.
export async function meetsFailures(ask, statusOf) {
  const told = [];
  for (const [model, status] of [["fails-400", 400], ["fails-429", 429], ["fails-500", 502]]) {
    await attempts(model);
    const error = await failure(() => ask(model));
    same(statusOf(error), status);
    told.push(`${status} ${error.constructor.name} after ${await attempts(model)}`);
  }
  await attempts("busy");
  await ask("busy");
  return [...told, `503 twice: well after ${await attempts("busy")}`].join(", ");
}
