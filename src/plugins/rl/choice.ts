import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../base/atomic-write.js";
import { isRecord } from "../../base/record.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { environmentNamed, type TrainingEnvironment } from "./environments.js";
import { dataFolder } from "./settings.js";

/** What the next run would be made of. */
export interface CurrentConfig {
  readonly environment: TrainingEnvironment;
  /** Fields that calls have changed. */
  readonly changed: Readonly<Record<string, unknown>>;
  /** All editable fields, changes applied. */
  readonly config: Readonly<Record<string, unknown>>;
}

interface Choice {
  readonly environment?: string | undefined;
  readonly changed: Readonly<Record<string, unknown>>;
}

async function choiceFile(ctx: CallContext): Promise<string> {
  return join(await dataFolder(ctx), "choice.json");
}

async function readChoice(ctx: CallContext): Promise<Choice> {
  try {
    const written: unknown = JSON.parse(await readFile(await choiceFile(ctx), "utf8"));
    if (!isRecord(written)) return { changed: {} };
    return {
      environment: typeof written.environment === "string" ? written.environment : undefined,
      changed: isRecord(written.changed) ? written.changed : {},
    };
  } catch {
    // Not there yet, or broken: then nothing is chosen.
    return { changed: {} };
  }
}

export async function saveChoice(ctx: CallContext, choice: Choice): Promise<void> {
  await replaceFile({
    path: await choiceFile(ctx),
    data: `${JSON.stringify(choice, null, 2)}\n`,
    mode: 0o600,
  });
}

export async function chosenName(ctx: CallContext): Promise<string | undefined> {
  return (await readChoice(ctx)).environment;
}

export async function currentConfig(ctx: CallContext): Promise<CurrentConfig> {
  const { environment: name, changed } = await readChoice(ctx);
  if (name === undefined) {
    throw new ToolError("No training environment is selected.", {
      code: "bad_request",
      hint: "Use rl_list_environments, then rl_select_environment.",
    });
  }
  const environment = await environmentNamed(name, ctx);
  // The operator may have locked or removed a field since.
  const kept = Object.fromEntries(
    Object.entries(changed).filter(([field]) => Object.hasOwn(environment.config, field)),
  );
  return { environment, changed: kept, config: { ...environment.config, ...kept } };
}
