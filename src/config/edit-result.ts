import { readFileSync } from "node:fs";
import { errnoOf, messageOf } from "../base/errno.js";
import { type Failure, failure } from "../tool/errors.js";
import { suggestKey } from "./layer.js";
import { withFileLock } from "./lock.js";
import { CONFIG_KEYS, type ConfigKey, envName } from "./schema.js";

export type EditResult =
  | { readonly ok: true; readonly file: string; readonly key: string; readonly changed: boolean }
  | ({ readonly ok: false } & Failure);

export function unknownKey(path: string): { readonly ok: false } & Failure {
  const variable = (CONFIG_KEYS as readonly ConfigKey[]).find((key) => envName(key) === path);
  const hint = variable ? `the key is called ${variable.path}` : suggestKey(path);
  return refused("not_found", `unknown key ${path}`, hint ?? "see docs/configuration.md for the known keys");
}

export function refused(
  code: Failure["code"],
  message: string,
  hint: string,
): { readonly ok: false } & Failure {
  return { ok: false, ...failure(code, message, hint) };
}

export async function locked(file: string, work: () => Promise<EditResult>): Promise<EditResult> {
  try {
    const outcome = await withFileLock(file, work);
    return "ok" in outcome ? outcome : { ok: false, ...outcome };
  } catch (error) {
    const reason = messageOf(error);
    return refused(
      "failed",
      `${file} could not be written: ${reason}`,
      "check its permissions and free space",
    );
  }
}

export function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}
