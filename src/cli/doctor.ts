import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { examine, type Finding } from "../runtime/doctor.js";
import { SETUP_COMMAND } from "../runtime/packages/find.js";
import type { CommandContext } from "./context.js";
import { EXIT } from "./errors.js";

/** In the order things are needed. */
const GROUPS: readonly Finding["group"][] = [
  "Runtime",
  "Config",
  "Tools",
  "Environments",
  "Journal",
  "Conversations",
  "Storage",
];

export async function doctor(context: CommandContext): Promise<void> {
  const { options } = context;
  const { out, home } = context;
  const mended = options.fix === true ? repairHome(home) : [];
  let findings = await examined(context);
  if (options.fix === true && findings.some(({ fix }) => fix === SETUP_COMMAND)) {
    const { installPackages } = await import("../runtime/packages/install.js");
    const items = await installPackages({ home, onProgress: (text) => out.note(text) });
    mended.push(...items.filter(({ state }) => state === "installed").map(({ what }) => `installed ${what}`));
    findings = await examined(context);
  }
  const healthy = !findings.some((finding) => finding.level === "error");
  if (out.json) out.value({ ok: healthy, findings, mended });
  else {
    for (const done of mended) out.line(`${out.mark("ok")} mended: ${done}`);
    for (const group of GROUPS) {
      const inGroup = findings.filter((finding) => finding.group === group);
      if (inGroup.length > 0) out.line(out.color.bold(group));
      for (const { level, what, fix } of inGroup)
        out.line(`  ${out.mark(level)} ${what}${fix === undefined ? "" : out.color.dim(`  → ${fix}`)}`);
    }
  }
  if (!healthy) process.exitCode = EXIT.unexpected;
}

async function examined(context: CommandContext): Promise<readonly Finding[]> {
  const runtime = await context.runtime({ wait: false, warns: false });
  const findings = await examine(runtime, { onWait: (what) => context.out.note(what) });
  const { examineConversations } = await import("../agent/sessions/doctor.js");
  const conversations = await examineConversations(runtime.config);
  // What could not be opened is among the findings already; closing it says nothing new.
  await runtime.close().catch(() => undefined);
  return [...findings, ...conversations];
}

/** What can be put right without asking: the home folder and who may read it. */
function repairHome(home: string): string[] {
  const done: string[] = [];
  if (!existsSync(home)) {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    done.push(`made ${home}`);
  }
  for (const [path, mode] of [
    [home, 0o700],
    [`${home}/.env`, 0o600],
    [`${home}/server.token`, 0o600],
  ] as const) {
    if (!existsSync(path) || (statSync(path).mode & 0o077) === 0) continue;
    chmodSync(path, mode);
    done.push(`others can no longer read ${path}`);
  }
  return done;
}
