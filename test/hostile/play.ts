import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Agent } from "../../src/agent/agent.js";
import { Agents } from "../../src/agent/agents.js";
import type { ApprovalAnswer, ApprovalRequest } from "../../src/call/scope.js";
import { jobsOf } from "../../src/runtime/jobs.js";
import { sourceOf, until } from "../sources/mcp/support.js";
import { onTestEnd } from "../support/runtime.js";
import type { HostileCase } from "./case.js";
import { keptFiles, openWorld, secretsIn, type World } from "./world.js";

/** Plays one row, then looks at what has become of the machine, of the secrets, and at what the model was shown. */
export async function play(row: HostileCase): Promise<void> {
  const world = await openWorld(row.given);
  const before = keptFiles(world.places.person);
  const jobs = await jobsOf(world.runtime).list();
  const asked: ApprovalRequest[] = [];
  await converse(row, world, asked);

  expect(world.model.complaints).toEqual([]);
  // Calls of one message may end in any order.
  expect([...world.calls].map(String).sort(), "the calls that were made").toEqual(
    row.calls.map(String).sort(),
  );
  expect(
    asked.map(({ tool }) => tool),
    "what a person was asked about",
  ).toEqual(row.asked ?? []);
  const after = keptFiles(world.places.person);
  const { memory } = row.agreed ?? {};
  const agreed = memory === undefined ? {} : { ".hermes/memories/MEMORY.md": memory };
  const { ".hermes/memories/.MEMORY.md.sources.json": _, ...rest } = after;
  expect(memory === undefined ? after : rest, "what outlives a conversation").toEqual({
    ...before,
    ...agreed,
  });
  expect(await jobsOf(world.runtime).list()).toHaveLength(jobs.length);
  for (const [name, words] of Object.entries(row.kept ?? {}))
    expect(readFileSync(join(world.places.cwd, name), "utf8"), name).toContain(words);
  lookAtSecrets(world);
  lookAtFrames(row, world);
}

async function converse(row: HostileCase, world: World, asked: ApprovalRequest[]): Promise<void> {
  const { says, between = [], answers, clarifies, door = {} } = row;
  const agents = new Agents(world.runtime);
  onTestEnd(() => agents.close());
  const left = [...(answers ?? [])];
  const approver = async (request: ApprovalRequest): Promise<ApprovalAnswer> => {
    asked.push(request);
    return left.shift() ?? "deny";
  };
  let agent: Agent | undefined;
  for (const [index, words] of says.entries()) {
    const how = between[index - 1] ?? "same";
    if (agent === undefined || how !== "same") {
      await agent?.close();
      agent = await agents.open({
        ...door,
        ...(agent !== undefined && how === "resume" && { conversation: agent.conversation }),
        ...(answers !== undefined && { approver }),
        ...(clarifies !== undefined && { ask: async () => clarifies }),
        maxTurns: 12,
      });
    }
    if (index > 0 && row.given?.mcp?.changes === true)
      await until(sourceOf(world.runtime), "s", ({ changed }) => changed.length > 0);
    for await (const event of agent.send(words)) if (event.type === "error") throw new Error(event.message);
  }
  await agent?.close();
}

export function lookAtSecrets({ sent, model }: World): void {
  expect(
    sent.flatMap((request) => secretsIn(request)),
    "secrets that a stranger got",
  ).toEqual([]);
  const told = model.requests.map(({ body }) => JSON.stringify(body));
  expect(
    told.flatMap((body) => secretsIn(body)),
    "secrets that the model was shown",
  ).toEqual([]);
}

const FRAMES = /<(untrusted_tool_result|project_notes|summary)\b[^>]*>[\s\S]*?<\/\1>/g;

export function lookAtFrames(
  { framed = [], unseen = [], seen = [] }: Pick<HostileCase, "framed" | "unseen" | "seen">,
  { model }: World,
): void {
  const turns = model.requests.filter(({ tools }) => tools.length > 0);
  const told = turns.flatMap(({ messages }) =>
    messages.filter(({ role }) => role !== "assistant").map(({ text }) => text),
  );
  const outside = told.map((text) => text.replace(FRAMES, "")).join("\n");
  for (const words of [...framed, ...seen])
    expect(told.join("\n"), "what the model was shown").toContain(words);
  for (const words of framed) expect(outside, "what stands outside of every frame").not.toContain(words);
  for (const words of unseen) expect(told.join("\n"), "what the model was shown").not.toContain(words);
  // Whoever writes a summary gets messages as lines of JSON: nobody but the person can be taken for the person.
  const lines = model.requests
    .filter(({ tools }) => tools.length === 0)
    .flatMap(({ messages }) => messages.at(-1)?.text.split("\n") ?? [])
    .map((line): { readonly role: string; readonly said: string } => JSON.parse(line));
  const persons = lines.flatMap(({ role, said }) => (role === "user" ? said : []));
  for (const words of framed)
    expect(persons.join("\n"), "what the person seems to have said").not.toContain(words);
}
