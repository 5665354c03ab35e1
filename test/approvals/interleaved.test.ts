import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import type { ApprovalAnswer } from "../../src/call/scope.js";
import { isRefused } from "../../src/policy/approvals/refusal.js";
import type { ApprovalStore } from "../../src/policy/approvals/store.js";
import { onTestEnd, tempDir } from "../support/runtime.js";
import { askingRuntime, seededRandom, until } from "./support.js";

const GATEWAYS = 4;
const CALLS = 1_000;

interface Question {
  readonly id: string;
  readonly hash: string;
  readonly text: string;
}

interface Sent {
  readonly id: string;
  readonly hash: string;
  readonly answer: ApprovalAnswer;
}

/** A chat platform: each connection belongs to the person that the platform, not the message, says it is. */
async function gateway(name: string, store: ApprovalStore) {
  const path = join(tempDir(), "gateway.sock");
  const outcomes: { readonly sent: Sent; readonly by: string; readonly taken: boolean }[] = [];
  const server = createServer((socket) => {
    let by: string | undefined;
    createInterface({ input: socket }).on("line", (line) => {
      if (by === undefined) {
        by = `${name}:${line}`;
        return;
      }
      const person = by;
      const sent = JSON.parse(line) as Sent;
      void store.answer({ ...sent, by: person }).then((given) => {
        outcomes.push({ sent, by: person, taken: !isRefused(given) });
      });
    });
  });
  server.listen(path);
  await once(server, "listening");
  onTestEnd(() => void server.close());
  const connectAs = async (person: string): Promise<Socket> => {
    const socket = connect(path);
    await once(socket, "connect");
    onTestEnd(() => void socket.destroy());
    socket.write(`${person}\n`);
    return socket;
  };
  return { name, outcomes, connectAs };
}

const shaOf = (text: string) => createHash("sha256").update(text).digest("hex");

it("of 1,000 interleaved approvals over 4 gateways each reaches its own call, byte for byte, and nothing else does", {
  timeout: 120_000,
}, async () => {
  const random = seededRandom(20);
  const made = await askingRuntime({ timeoutSeconds: 100 });
  const store = await made.approvals.store();
  const gateways = await Promise.all(
    Array.from({ length: GATEWAYS }, (_, index) => gateway(`chat${index}`, store)),
  );
  const sessions = await Promise.all(
    gateways.map(({ name }) =>
      made.runtime.openSession({ approver: made.approvals.queue({ audience: [`${name}:ann`] }) }),
    ),
  );
  const leaveEarly = new AbortController();
  const calls = Array.from({ length: CALLS }, (_, index) => {
    // Bytes that a careless copy would lose: control characters, bidi marks, a lone surrogate, equal prefixes.
    const text = `do ${index}\u0000\u001b[2K\u202e${index % 7 === 0 ? "\ud800" : "ü"}${"\\".repeat(index % 3)}`;
    const early = index % 20 === 19;
    const call = sessions[index % GATEWAYS]?.call(
      { id: `c${index}`, name: "risky", arguments: { text } },
      early ? { signal: leaveEarly.signal } : {},
    );
    return { text, early, wanted: !early && index % 3 !== 0, gateway: index % GATEWAYS, call };
  });
  await until(() => store.list().length === CALLS, "1,000 waiting questions");
  leaveEarly.abort();
  const early = calls.filter((call) => call.early).length;
  await until(() => store.list().length === CALLS - early, "the interrupted ones to be over");

  const byText = new Map(calls.map((call) => [call.text, call]));
  const questions: (Question & { readonly gateway: number; readonly wanted: boolean })[] = store
    .list({ all: true })
    .map(({ id, hash, shown }) => {
      const { text } = shown.args as { text: string };
      const call = byText.get(text);
      if (call === undefined) throw new Error("a question shows a text that nobody asked about");
      return { id, hash, text, gateway: call.gateway, wanted: call.wanted };
    });
  const other = () => questions[Math.floor(random() * questions.length)] as Question;
  const sockets = await Promise.all(
    gateways.map(async (one) => ({
      ann: await one.connectAs("ann"),
      mallory: await one.connectAs("mallory"),
    })),
  );
  const messages: { readonly socket: Socket; readonly sent: Sent; readonly order: number }[] = [];
  for (const { id, hash, gateway: at, wanted } of questions) {
    const own = sockets[at];
    const foreign = sockets[(at + 1) % GATEWAYS];
    if (own === undefined || foreign === undefined) throw new Error("no sockets");
    const real: Sent = { id, hash, answer: wanted ? "once" : "deny" };
    const stranger = other();
    messages.push(
      { socket: own.ann, sent: real, order: random() },
      { socket: own.mallory, sent: { id, hash, answer: "once" }, order: random() },
      { socket: foreign.ann, sent: { id, hash, answer: "once" }, order: random() },
      { socket: own.ann, sent: { id, hash: shaOf(id), answer: "once" }, order: random() },
      {
        socket: own.ann,
        sent: { id: `apr_${shaOf(id).slice(0, 12)}`, hash, answer: "once" },
        order: random(),
      },
      // Repeated, and for a denial the opposite: after the real one.
      { socket: own.ann, sent: { id, hash, answer: "once" }, order: 1 + random() },
    );
    if (stranger.hash !== hash)
      messages.push({ socket: own.ann, sent: { id: stranger.id, hash, answer: "once" }, order: random() });
  }
  messages.sort((first, second) => first.order - second.order);
  for (const { socket, sent } of messages) socket.write(`${JSON.stringify(sent)}\n`);

  const results = await Promise.all(calls.map(({ call }) => call));
  await until(
    () => gateways.reduce((sum, one) => sum + one.outcomes.length, 0) === messages.length,
    "an answer to every message",
  );
  const approved = calls.filter(({ wanted }) => wanted).map(({ text }) => text);
  expect(results.filter((result) => result?.ok === true)).toHaveLength(approved.length);
  expect(made.ran.map(shaOf).sort()).toEqual(approved.map(shaOf).sort());

  const taken = gateways.flatMap((one) => one.outcomes.filter((outcome) => outcome.taken));
  expect(taken).toHaveLength(CALLS - early);
  const owner = new Map(questions.map((question) => [question.id, question]));
  for (const { sent, by } of taken) {
    const question = owner.get(sent.id);
    expect(by).toBe(`chat${question?.gateway}:ann`);
    expect(sent.hash).toBe(question?.hash);
    expect(sent.answer).toBe(question?.wanted === true ? "once" : "deny");
  }
});
