import { replaceFile } from "../base/atomic-write.js";
import { isForbiddenInDotenv, upsertDotenv } from "./dotenv.js";
import { type EditResult, locked, readOrEmpty, refused } from "./edit-result.js";
import { hermesPaths } from "./paths.js";

/** Secrets live in the home .env, readable by its owner only, never in config.yaml. */
export async function writeSecret(secret: {
  home: string;
  name: string;
  value: unknown;
}): Promise<EditResult> {
  const { name } = secret;
  const file = hermesPaths(secret.home).dotenv;
  if (typeof secret.value !== "string" || secret.value.trim() === "") {
    return refused("invalid_arguments", `${name} must be a text that is not empty`, "nothing was written");
  }
  if (isForbiddenInDotenv(name)) {
    return refused("denied", `${name} may not be set in .env`, "set it in the environment of the process");
  }
  const value = secret.value;
  return locked(file, async () => {
    const text = readOrEmpty(file);
    const next = upsertDotenv(text, name, value);
    if (next === undefined) {
      const hint = "it mixes quotes or line breaks in a way .env cannot hold; nothing was written";
      return refused("invalid_arguments", `the value of ${name} cannot be written to .env`, hint);
    }
    await replaceFile({ path: file, data: next, mode: 0o600 });
    return { ok: true, file, key: name, changed: next !== text };
  });
}

export function looksLikeSecretName(key: string): boolean {
  return /^[A-Z][A-Z0-9_]*_(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|PAT)$/.test(key);
}
