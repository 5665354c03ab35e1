import { isRecord } from "../base/record.js";
import { type Failure, failure } from "../tool/errors.js";
import { describeSignature } from "../tool/signature.js";
import { describeThrown } from "../tool/thrown.js";
import type { CallRecord } from "./call-record.js";

const REFINE_MS = 10_000;

/** Raw arguments → arguments the tool's schema accepts, or an error that shows what it expects. */
export function decode(call: CallRecord, raw: unknown): Failure | undefined | Promise<Failure | undefined> {
  const { entry, tool } = call;
  if (entry.decoder === undefined) return failure("internal", `${entry.name} was not loaded before decoding`);
  const decoded = entry.decoder.decode(underAlias(call, raw));
  if (!decoded.ok) return decoded.failure;
  call.args = decoded.args;
  if (decoded.repairs.length > 0) call.repairs = decoded.repairs;
  if (tool.refine === undefined) return undefined;
  return refine(call, tool.refine);
}

type Refine = NonNullable<CallRecord["tool"]["refine"]>;

/** The author's own validation is code like any other: it may throw or never answer. */
function refine(call: CallRecord, check: Refine): Failure | undefined | Promise<Failure | undefined> {
  const broken = (thrown: unknown) =>
    failure("failed", `The argument check of ${call.entry.name} failed: ${describeThrown(thrown).message}`);
  try {
    const refined = check(call.args);
    if (!(refined instanceof Promise)) return adopt(call, refined);
    return new Promise((resolve) => {
      const late = setTimeout(
        () =>
          resolve(
            failure(
              "timeout",
              `The argument check of ${call.entry.name} did not answer within ${REFINE_MS / 1000} s`,
            ),
          ),
        REFINE_MS,
      );
      refined
        .then((value) => adopt(call, value), broken)
        .then((ended) => {
          clearTimeout(late);
          resolve(ended);
        });
    });
  } catch (thrown) {
    return broken(thrown);
  }
}

function adopt(
  call: CallRecord,
  refined: Awaited<ReturnType<NonNullable<CallRecord["tool"]["refine"]>>>,
): Failure | undefined {
  if (refined.ok) {
    call.args = refined.value;
    return undefined;
  }
  const issues = refined.issues
    .map((issue) => `${issue.path === "" ? "/" : issue.path}: ${issue.message}`)
    .join("; ");
  return failure(
    "invalid_arguments",
    `Invalid arguments for ${call.entry.name}: ${issues}`,
    `Signature: ${describeSignature(call.entry.name, call.entry.parameters)}`,
  );
}

/** An alias may spell its parameters differently; only plain objects can be respelled. */
function underAlias(call: CallRecord, raw: unknown): unknown {
  const { aliasArguments } = call.tool;
  const respell =
    aliasArguments !== undefined && Object.hasOwn(aliasArguments, call.spelling)
      ? aliasArguments[call.spelling]
      : undefined;
  if (respell === undefined) return raw;
  let value = raw;
  if (typeof raw === "string") {
    try {
      value = JSON.parse(raw);
    } catch {
      return raw;
    }
  }
  return isRecord(value) ? respell({ ...value }) : raw;
}
