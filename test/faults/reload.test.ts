import { appendFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { CallResult } from "../../src/index.js";
import type { Session } from "../../src/runtime/session.js";
import { applied, failed, until, watchedRuntime } from "../runtime/reload/support.js";
import { onTestEnd } from "../support/runtime.js";
import { report } from "./figures.js";
import { FULL } from "./support.js";

const RELOADS = FULL ? 1_000 : 40;
const CALLERS = FULL ? 8 : 4;

/** Says back what it was asked with, a moment later. */
async function echoServer(): Promise<string> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "/", "http://localhost");
    setTimeout(() => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify([searchParams.get("first"), searchParams.get("second")].map(Number)));
    }, 1);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Each version stands twice in its file, and each call answers with both. */
const moduleText = (version: number) => `import { registry } from "hermes-tools";
const first = ${version};
registry.register({
  name: "from_module",
  toolset: "reloaded",
  schema: { description: "version ${version}" },
  handler: async () => {
    await new Promise((resolve) => setTimeout(resolve, first % 3));
    return JSON.stringify([first, ${version}]);
  },
});
`;
const yamlText = (base: string, version: number) => `tools:
  - name: from_yaml
    description: version ${version}
    type: http_wrapper
    method: GET
    endpoint: "${base}/echo?first=${version}&second=${version}"
`;

interface Target {
  readonly tool: string;
  readonly file: string;
  text(version: number): string;
  /** The newest good version that is in force, and the newest one that was written. */
  inForce: number;
  written: number;
}

const BREAKS: readonly ((text: string) => string)[] = [
  (text) => text.slice(0, text.length / 2),
  (text) => `${text}\n{{{ : [\n`,
  () => "",
  (text) => `${text}\nthrow new Error("not today");\n`,
];

/** The ways in which programs save a file. */
const SAVES: readonly ((file: string, text: string) => Promise<void> | void)[] = [
  (file, text) => {
    writeFileSync(`${file}.part~`, text);
    renameSync(`${file}.part~`, file);
  },
  (file, text) => writeFileSync(file, text),
  (file, text) => {
    rmSync(file);
    writeFileSync(file, text);
  },
  async (file, text) => {
    writeFileSync(file, text.slice(0, 30));
    await pause(2);
    appendFileSync(file, text.slice(30));
  },
];

test(`${RELOADS} reloads under load, a tenth of them broken: no call is lost and each sees one version`, async () => {
  const base = await echoServer();
  const made = await watchedRuntime(
    { "tools/a.js": moduleText(0), "tools/b.yaml": yamlText(base, 0) },
    { debounceMs: 12, yolo: true, flags: { "security.allow_private_urls": true } },
  );
  const { runtime, home } = made;
  const targets: readonly [Target, Target] = [
    { tool: "from_module", file: join(home, "tools/a.js"), text: moduleText, inForce: 0, written: 0 },
    {
      tool: "from_yaml",
      file: join(home, "tools/b.yaml"),
      text: (version) => yamlText(base, version),
      inForce: 0,
      written: 0,
    },
  ];

  let stop = false;
  const wrong: string[] = [];
  const seen = new Set<string>();
  let calls = 0;
  const oneCall = async (session: Session, target: Target, id: string): Promise<void> => {
    const oldest = target.inForce;
    const result: CallResult = await session.call({ id, name: target.tool, arguments: {} });
    calls += 1;
    // As people see it: what a model gets of a web answer is in a frame.
    const text = result.human;
    if (!result.ok || result.id !== id) {
      wrong.push(`${target.tool} ${id}: ${text}`);
      return;
    }
    const [first, second] = JSON.parse(text) as number[];
    seen.add(`${target.tool} ${first}`);
    if (first !== second) wrong.push(`${target.tool}: a mixture of ${first} and ${second}`);
    else if (Number(first) < oldest || Number(first) > target.written)
      wrong.push(`${target.tool}: version ${first}, though ${oldest} to ${target.written} were there`);
  };
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    let session = await runtime.openSession();
    for (let count = 0; !stop; count += 1) {
      // Some sessions live as long as the test, some are opened between two reloads.
      if (caller % 2 === 0 && count % 25 === 0) session = await runtime.openSession();
      await oneCall(session, targets[(count + caller) % 2 === 0 ? 0 : 1], `${caller}.${count}`);
      await pause(3);
    }
  });

  let broken = 0;
  for (let round = 1; round <= RELOADS; round += 1) {
    const target = targets[round % 2 === 0 ? 0 : 1];
    // Calls are being made all the time, also where the first one takes long.
    await until(() => calls > round, 20_000);
    // Of ten in a row one is broken, in turn the module and the YAML file.
    const isBroken = round % 20 === 5 || round % 20 === 14;
    const tellings = applied(made).length + failed(made).length;
    const text = target.text(round);
    const save = SAVES[round % SAVES.length] ?? SAVES[0];
    if (isBroken) {
      const before = failed(made).length;
      await save?.(target.file, (BREAKS[broken % BREAKS.length] ?? String)(text));
      broken += 1;
      await until(() => failed(made).length > before, 20_000);
    } else {
      target.written = round;
      await save?.(target.file, text);
      await until(() => applied(made).length + failed(made).length > tellings, 20_000);
      await until(() => runtime.registry.get(target.tool)?.description === `version ${round}`, 20_000);
      target.inForce = round;
    }
  }
  stop = true;
  await Promise.all(callers);
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(broken).toBe(RELOADS / 10);
  expect(failed(made)).toHaveLength(broken);
  expect(calls).toBeGreaterThan(RELOADS);
  expect(seen.size).toBeGreaterThan(FULL ? RELOADS / 4 : 4);
  report({
    id: "N1",
    what: "tool modules and YAML files reloaded under load, a tenth of them broken",
    trials: RELOADS,
    seen: `${calls} calls, ${wrong.length} lost or of two versions; ${broken} broken files, each reported`,
    goal: "0 calls lost, each sees one version, broken files keep the old set",
    pass: wrong.length === 0,
  });
}, 600_000);
