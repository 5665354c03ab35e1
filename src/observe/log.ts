export type LogLevel = "debug" | "info" | "warn" | "error";

export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

const ORDER: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Lines to standard error (stdout belongs to results), or to any sink. */
export function createLogger(
  options: { readonly level?: LogLevel; readonly sink?: (line: string, level: LogLevel) => void } = {},
): Logger {
  const floor = ORDER[options.level ?? "warn"];
  const sink = options.sink ?? ((line: string) => process.stderr.write(`${line}\n`));
  const at = (level: LogLevel) => (message: string) => {
    if (ORDER[level] >= floor) sink(`hermes: ${level}: ${message}`, level);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** A logger whose lines pass through `redact` first. */
export function maskedLogger(log: Logger, redact: (text: string) => string): Logger {
  return {
    debug: (message) => log.debug(redact(message)),
    info: (message) => log.info(redact(message)),
    warn: (message) => log.warn(redact(message)),
    error: (message) => log.error(redact(message)),
  };
}

export const silentLogger: Logger = createLogger({ sink: () => undefined });
