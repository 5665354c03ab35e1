import { readFileSync } from "node:fs";

const MAX_BYTES = 262_144;
/** A setting that is a secret or names one: `_authToken`, `//host/:_password`, `npmAuthIdent`, `password`, `key`. */
const SECRET_SETTING =
  /^[\s"'-]*[^=:/\s]*(?:[:/][^=:/\s]*)*?(?:auth|token|passw|secret|credential|username|ident\b|\bkey\b|keyfile|certfile)[\w-]*["']?\s*[=: ]/i;
/** `https://person:password@host/`. */
const IN_ADDRESS = /(\w+:\/\/)[^/\s@"']*@/g;

/**
 * The settings of a package manager without what is secret in them: registry, proxy and certificates stay, so that
 * installing works as before. Undefined where it cannot be read.
 */
export function withoutSecrets(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
  if (text.length > MAX_BYTES) return undefined;
  return text
    .split("\n")
    .filter((line) => !SECRET_SETTING.test(line))
    .map((line) => line.replace(IN_ADDRESS, "$1"))
    .join("\n");
}
