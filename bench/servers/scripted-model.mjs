// A server that speaks OpenAI's chat completions, streams, and plays the script that the request's `model` names; a
// process of its own. It keeps account of each client (told apart by their keys) as a server with a prompt cache does.
import { createServer } from "node:http";
import { answerTo } from "../agent-script.mjs";

/** Between two pieces of an answer, so that each travels alone. */
const PACE_MS = 3;

const SCRIPTS = { loop: answerTo, clock, work };

const accounts = new Map();

const server = createServer((request, response) => {
  answer(request, response).catch((error) => response.destroy(error));
});
// Two hundred clients on a busy machine: none may find its connection closed while its request is on the way.
server.keepAliveTimeout = 120_000;
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
process.on("message", ({ account }) => process.send({ account: summed(account) }));
process.on("disconnect", () => process.exit());

async function answer(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("latin1");
  const { model, messages } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  const account = noted(request.headers.authorization ?? "", text);
  const { calls = [], words = [], pace = 0 } = SCRIPTS[model](account.requests - 1, account.number);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.socket.setNoDelay(true);
  for (const word of words) {
    response.write(event({ content: typeof word === "function" ? word() : word }));
    if (pace > 0) await new Promise((resolve) => setTimeout(resolve, pace));
  }
  if (calls.length > 0) {
    const tool_calls = calls.map(({ id, name, arguments: given }, index) => ({
      index,
      id,
      type: "function",
      function: { name, arguments: given },
    }));
    response.write(event({ tool_calls }));
  }
  response.write(event({}, calls.length > 0 ? "tool_calls" : "stop"));
  const usage = {
    prompt_tokens: Math.ceil(account.last / 4),
    completion_tokens: 10,
    prompt_tokens_details: { cached_tokens: Math.floor(account.known / 4) },
  };
  response.end(`data: ${JSON.stringify({ model, choices: [], usage })}\n\ndata: [DONE]\n\n`);
}

function event(delta, finish_reason = null) {
  return `data: ${JSON.stringify({ model: "scripted", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}

/** Byte for byte: how much of this prompt is how the one before began. The messages are the end of the body. */
function noted(key, body) {
  const prompt = body.slice(0, body.lastIndexOf("]"));
  const account = accounts.get(key) ?? {
    number: accounts.size,
    requests: 0,
    prompt: "",
    sent: 0,
    anew: 0,
    extended: 0,
  };
  accounts.set(key, account);
  account.known = commonLength(account.prompt, prompt);
  if (account.known === account.prompt.length) account.extended += 1;
  account.requests += 1;
  account.sent += prompt.length;
  account.anew += prompt.length - account.known;
  account.last = prompt.length;
  account.prompt = prompt;
  return account;
}

function commonLength(one, other) {
  let length = 0;
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
  return length;
}

/** `anew`: bytes that no request before had begun with; `last`: bytes of the last prompt. */
function summed(key) {
  const { requests, sent, anew, extended, last } = accounts.get(key) ?? {};
  return { requests, sent, anew, extended, last };
}

/** Every word is the moment at which it is written, on the clock that all processes of a machine share. */
function clock() {
  return { words: Array.from({ length: 8 }, () => () => `${process.hrtime.bigint()} `), pace: PACE_MS };
}

/** Messages of an agent at work: look at the folder, read and write files, run a command, say what was found. */
function work(number, client) {
  const message = Math.floor(number / 4);
  const call = (index, name, given) => ({
    id: `call_${number}_${index}`,
    name,
    arguments: JSON.stringify(given),
  });
  switch (number % 4) {
    case 0:
      return {
        calls: [
          call(0, "read_file", { path: "notes.txt", offset: 1 + message * 20, limit: 200 }),
          call(1, "search_files", { pattern: `line ${message}7 `, path: "notes.txt" }),
        ],
      };
    case 1:
      return {
        calls: [call(0, "write_file", { path: `out/${client}.txt`, content: `step ${number}\n` })],
      };
    case 2:
      // One command for each conversation: what processes take is not the agent's.
      return message === 0
        ? { calls: [call(0, "terminal", { command: "wc -l notes.txt" })] }
        : { calls: [call(0, "directory_list", { path: "." })] };
    default:
      return { words: ["The notes ", "were read, ", "and the step ", "was written down."] };
  }
}
