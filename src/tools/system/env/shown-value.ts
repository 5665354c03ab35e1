import { namesSecret } from "../../../policy/secrets.js";
import type { SecretAccess } from "../../../tool/tool.js";

export const MASKED = "***";
const URL_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)([^\s/]+)(@.*)$/is;

/** A value as it may be shown. What is hidden here is hidden from now on in every other result, too. */
export function shownValue(key: string, value: string, secrets: SecretAccess): string {
  if (value === "") return value;
  if (namesSecret(key)) {
    secrets.add(key, value);
    return MASKED;
  }
  const address = URL_PASSWORD.exec(value);
  if (address === null) return value;
  secrets.add(key, address[2] ?? "");
  return `${address[1]}${MASKED}${address[3]}`;
}
