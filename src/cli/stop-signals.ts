import { EXIT } from "./errors.js";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The first signal asks for an orderly end, the second one gets it over with. */
export function listenForStop(): { readonly stop: Promise<void>; release(): void } {
  let onSignal = (): void => undefined;
  const stop = new Promise<void>((resolve) => {
    let asked = false;
    onSignal = () => {
      if (asked) process.exit(EXIT.interrupted);
      asked = true;
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
