// The machine where sessions live: its calls run on workers, or (`local`) here.
import { assertEchoed, echoArguments } from "../echo.mjs";
import { oneByOne } from "../operations.mjs";
import { openRuntime } from "./cluster-tools.mjs";

export const SESSIONS = 64;

export async function open({ local = false, ...options }) {
  const { library, runtime, close } = await openRuntime(options);
  if (!local) await library.joinCluster(runtime);
  const session = await runtime.openSession();
  const calls = (name) => (number) => session.call({ name, arguments: echoArguments(number) });
  for (const name of ["echo", "count"]) {
    const result = await calls(name)(7);
    assertEchoed(`cluster, ${name}`, result.structured);
    if ((result.worker === undefined) !== local) throw new Error(`it ran ${result.worker ?? "here"}`);
  }
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => runtime.openSession()));
  return {
    operations: {
      oneByOne: oneByOne(calls("echo")),
      changing: oneByOne(calls("count")),
      // A unit is one call of each session.
      waiting: oneByOne(() => Promise.all(sessions.map((one) => one.call({ name: "wait", arguments: {} })))),
    },
    close,
  };
}
