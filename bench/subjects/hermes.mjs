// The product as a library: the built bundle, the whole path.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assertEchoed, echo, echoArguments, echoDescription, echoSchema, toolNames } from "../echo.mjs";
import { callOperations, oneByOne, timedAfter } from "../operations.mjs";

const TOOLSET = "bench";

/** `dist`: the build to measure. `tools`: how many are registered. `journal`: whether calls are written down. */
export async function open({ dist, tools = 10, journal = false }) {
  const { createRuntime, ToolRegistry } = await import(pathToFileURL(join(dist, "index.js")).href);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const registry = new ToolRegistry();
  for (const registration of registrations(tools)) registry.register(registration);
  const runtime = await createRuntime({
    registry,
    home,
    cwd: home,
    systemDir: join(home, "system"),
    builtins: false,
    userTools: false,
    journal,
  });
  const session = await runtime.openSession({ toolsets: [TOOLSET] });
  const call = (number) => session.call({ name: "echo", arguments: echoArguments(number) });
  const textCall = (number) =>
    session.call({ name: "echo", arguments: JSON.stringify(echoArguments(number)) });
  for (const way of [call, textCall]) {
    const result = await way(7);
    if (!result.ok) throw new Error(`hermes refused the call: ${JSON.stringify(result.error)}`);
    assertEchoed("hermes", result.structured);
  }
  if (journal) await assertJournaled(runtime);

  const request = { enabled: [TOOLSET], quiet: true };
  const definitions = () => runtime.getToolDefinitions(request);
  const data = await definitions();
  if (data.length !== tools) throw new Error(`hermes defined ${data.length} of ${tools} tools`);
  // Registering a tool once more is the smallest change that makes every remembered answer stale.
  const [again] = registrations(1);
  const makeStale = () => registry.register(again);
  return {
    operations: {
      ...callOperations(call),
      textArguments: oneByOne(textCall),
      thousandInOneMessage: thousandInOneMessage(session),
      definitionsRemembered: oneByOne(definitions),
      definitionsRebuilt: timedAfter(makeStale, definitions),
      definitionsRebuiltAsText: timedAfter(makeStale, async () => JSON.stringify(await definitions())),
      definitionsStringify: oneByOne(() => JSON.stringify(data)),
      register: timedAfter(
        () => registrations(tools),
        (all) => {
          const fresh = new ToolRegistry();
          for (const registration of all) fresh.register(registration);
        },
      ),
    },
    async close() {
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Every tool brings a schema object of its own, as real ones do. */
function registrations(count) {
  return toolNames(count).map((name) => ({
    name,
    toolset: TOOLSET,
    schema: { description: echoDescription, parameters: structuredClone(echoSchema) },
    handler: echo,
  }));
}

function thousandInOneMessage(session) {
  return async (count) => {
    for (let done = 0; done < count; done += 1) {
      await session.callAll(
        Array.from({ length: 1_000 }, (_, number) => ({
          id: `call_${number}`,
          name: "echo",
          arguments: echoArguments(number),
        })),
      );
    }
  };
}

async function assertJournaled(runtime) {
  const journal = await runtime.journal();
  if (journal.enabled !== true) throw new Error("hermes was asked for a journal but keeps none");
}
