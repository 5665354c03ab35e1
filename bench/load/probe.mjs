// Loaded into the server that is measured (node --import): once a second it writes down what only the process itself
// knows. Its own timer and file are there from the first sample on, so they change no slope.
import { appendFileSync, readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapCodeStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const RESOLUTION_MS = 10;
const file = process.env.HERMES_LOAD_PROBE;
/** Seconds between full collections, after which the heap holds only what is alive. */
const collectEvery = Number(process.env.HERMES_LOAD_COLLECT ?? 0);

if (file !== undefined) {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc");
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let seconds = 0;
  setInterval(() => {
    seconds += 1;
    const collected = collectEvery > 0 && seconds % collectEvery === 0;
    if (collected) collect();
    const { rss, heapUsed, external } = process.memoryUsage();
    const resources = process.getActiveResourcesInfo();
    const timers = resources.filter((name) => name === "Timeout" || name === "Immediate").length;
    appendFileSync(
      file,
      `${JSON.stringify({
        at: Date.now(),
        cpuMs: cpuMs(),
        rss,
        heap: heapUsed,
        external,
        code: collected ? compiledCode() : undefined,
        collected,
        timers,
        handles: resources.length - timers,
        descriptors: descriptors(),
        // The histogram measures the distance between two ticks, one of which is due every RESOLUTION_MS.
        delayP99: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
        delayMax: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
      })}\n`,
    );
    delay.reset();
  }, 1_000).unref();
}

/** With what belongs to it; its bound is the text of the program. */
function compiledCode() {
  const { code_and_metadata_size, bytecode_and_metadata_size } = getHeapCodeStatistics();
  return code_and_metadata_size + bytecode_and_metadata_size;
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function descriptors() {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return null;
  }
}
