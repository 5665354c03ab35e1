import { placesIn } from "../../base/stack.js";

type Listener = (thrown: unknown) => void;

interface Watched {
  readonly folder: string;
  readonly onStray: Listener;
}

const watched = new Set<Watched>();

/**
 * Errors that nothing catches, thrown by timers and forgotten promises of code in this folder, go to `onStray`
 * instead of ending the process. Errors of others end it as they always did.
 */
export function watchStrayErrors(folder: string, onStray: Listener): () => void {
  const one: Watched = { folder, onStray };
  if (watched.size === 0) listen();
  watched.add(one);
  return () => {
    watched.delete(one);
    if (watched.size === 0) stopListening();
  };
}

function listen(): void {
  process.on("uncaughtException", onException);
  process.on("unhandledRejection", onRejection);
}

function stopListening(): void {
  process.off("uncaughtException", onException);
  process.off("unhandledRejection", onRejection);
}

function onException(thrown: unknown): void {
  if (given(thrown) || process.listenerCount("uncaughtException") > 1) return;
  stopListening();
  // With nobody listening any more, Node does what it does by itself.
  setImmediate(() => {
    throw thrown;
  });
}

function onRejection(reason: unknown): void {
  if (given(reason) || process.listenerCount("unhandledRejection") > 1) return;
  stopListening();
  void Promise.reject(reason);
}

/** True when the error was thrown by code of a watched folder, which has then been told. */
function given(thrown: unknown): boolean {
  const stack = stackOf(thrown);
  const culprits = [...watched].filter(({ folder }) => placesIn(folder, stack).length > 0);
  for (const culprit of culprits) culprit.onStray(thrown);
  return culprits.length > 0;
}

function stackOf(thrown: unknown): string {
  try {
    const stack: unknown =
      typeof thrown === "object" && thrown !== null ? Reflect.get(thrown, "stack") : undefined;
    return typeof stack === "string" ? stack : "";
  } catch {
    return "";
  }
}
