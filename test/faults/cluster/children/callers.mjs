// A steady stream of calls to one front node, in its network: each lane is a session and has one call at a time.
// Told by lines of JSON: {"lanes":8,"pauseMs":5} goes on, {"stop":true} lets what runs finish. Says of each call that it
// was tried and how it was answered. `call`: one call, answered like the others.
import { createHash } from "node:crypto";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

const { port, token, tag, witness } = JSON.parse(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const BIG = "0123456789abcdef".repeat(100_000);
let count = 0;
let running = false;
let lanes = [];

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const hash = (text) => createHash("sha256").update(text).digest("hex");

createInterface({ input: process.stdin }).on("line", async (line) => {
  const order = JSON.parse(line);
  if (order.stop === true) {
    running = false;
    await Promise.all(lanes);
    say({ stopped: true });
  } else if (order.call !== undefined) await one(order.call);
  else {
    running = true;
    lanes = Array.from({ length: order.lanes }, (_, lane) => goOn(`lane${lane}`, order.pauseMs));
  }
});

/** A session stays on its worker: new ones now and then, so that workers that came back get some too. */
async function goOn(lane, pauseMs) {
  for (let calls = 0; running; calls += 1) {
    const failed = (await one(next(`${lane}-${Math.floor(calls / 20)}`))) === undefined;
    await pause(failed ? 200 : pauseMs);
  }
}

/** Mostly short calls that read or leave a line, some that take a while, run a program, or carry over a megabyte. */
function next(lane) {
  count += 1;
  const id = `${tag}-${lane}-${count}`;
  const [kind, name, args] = pick(id, lane);
  return { id, lane, kind, name, args };
}

function pick(id, lane) {
  const turn = count % 50;
  if (count % 200 === 0) return ["large", "look", { text: BIG }];
  if (turn === 1) return ["command", "terminal", { command: `echo ${id} $$ >> '${witness}'` }];
  if (turn < 4) return ["slow write", "witness", { line: id, lane, ms: 1_500 }];
  if (turn < 6) return ["slow read", "look", { text: id, ms: 1_500 }];
  return turn % 2 === 0 ? ["write", "witness", { line: id, lane }] : ["read", "look", { text: id }];
}

async function one({ id, lane, kind, name, args }) {
  const begun = Date.now();
  say({ tried: id, kind, at: begun });
  const answered = await post(lane, {
    tool_calls: [{ id, type: "function", function: { name, arguments: args } }],
  });
  const result = answered?.tool_results?.[0];
  if (result === undefined) {
    say({ unanswered: id, kind });
    return undefined;
  }
  const { content, metadata } = result;
  const ok = content.status === "success";
  const right = !ok || name !== "look" || hash(content.text ?? "") === hash(args.text);
  const { code, state } = metadata;
  say({
    done: id,
    kind,
    ok,
    right,
    code,
    state,
    pid: content.pid,
    ms: Date.now() - begun,
    ...(!ok && { why: String(content.error).slice(0, 300) }),
  });
  return result;
}

function post(session, body) {
  const text = JSON.stringify(body);
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "x-hermes-session": session,
      "content-length": Buffer.byteLength(text),
    };
    const sent = request(
      { host: "127.0.0.1", port, path: "/v1/tool_calls", method: "POST", agent, headers },
      (response) => {
        let answer = "";
        response.setEncoding("utf8").on("data", (part) => {
          answer += part;
        });
        response.on("end", () => resolve(response.statusCode === 200 ? JSON.parse(answer) : undefined));
        response.on("error", () => resolve(undefined));
      },
    );
    sent.on("error", () => resolve(undefined));
    sent.end(text);
  });
}
