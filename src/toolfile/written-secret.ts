import { maskUnmistakable } from "../tool/secret-patterns.js";
import type { Section } from "./section.js";

/** `Idempotency-Key` is none: a word alone does not make a credential of a header. */
const CREDENTIAL_HEADER =
  /(?:^|[-_])(?:api[-_]?key|access[-_]?key|token|secret|passw(?:or)?d|auth|authorization|credentials?|cookie|signature)$/i;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Whether a text that was written into a file is, or contains, a credential beyond doubt. */
export function looksSecret(text: string): boolean {
  return maskUnmistakable(text) !== text;
}

/** Whether a header of this name carries a credential. */
export function isCredentialHeader(name: string): boolean {
  return CREDENTIAL_HEADER.test(name);
}

/** The name of an environment variable. What was written instead may be the secret itself, so it is not repeated. */
export function variableName(section: Section, key: string, required = true): string | undefined {
  const text = section.text(key, { required });
  if (text === undefined) return undefined;
  if (VARIABLE.test(text) && !looksSecret(text)) return text;
  section.wrong(
    section.get(key),
    `"${key}" of ${section.what} must be the name of an environment variable, not a value`,
    `put the value into that variable (or the .env file of the Hermes home) and write its name here, for example ${key}: MY_SERVICE_TOKEN`,
  );
  return undefined;
}
