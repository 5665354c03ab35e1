import { EXIT } from "./errors.js";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** npx, `timeout` and others pass a signal on that the whole group has had already: that is one wish. */
const SAME_WISH_MS = 250;

/** The first signal asks for an orderly end, the second one gets it over with. */
export function listenForStop(): { readonly stop: Promise<void>; release(): void } {
  let onSignal = (): void => undefined;
  const stop = new Promise<void>((resolve) => {
    let askedAt: number | undefined;
    onSignal = () => {
      const now = performance.now();
      if (askedAt !== undefined && now - askedAt > SAME_WISH_MS) process.exit(EXIT.interrupted);
      askedAt ??= now;
      resolve();
    };
  });
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  return {
    stop,
    release: () => {
      for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
    },
  };
}
