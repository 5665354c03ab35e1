import type { Finding } from "../runtime/doctor.js";
import { SETUP_COMMAND } from "../runtime/packages/find.js";
import { installMissing, repairHome } from "../runtime/repair.js";
import type { CommandContext } from "./context.js";
import { EXIT } from "./errors.js";

/** In the order things are needed. */
const GROUPS: readonly Finding["group"][] = [
  "Runtime",
  "Config",
  "Tools",
  "Environments",
  "Cluster",
  "Journal",
  "Conversations",
  "Storage",
];

export async function doctor(context: CommandContext): Promise<void> {
  const { options } = context;
  const { out, home } = context;
  const mended = options.fix === true ? [...repairHome(home)] : [];
  let findings = await examined(context);
  if (options.fix === true && findings.some(({ fix }) => fix === SETUP_COMMAND)) {
    mended.push(...(await installMissing(home, (text) => out.note(text))));
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
  const { examineAll } = await import("../agent/sessions/doctor.js");
  const { examineCluster } = await import("./cluster/examine.js");
  const findings = [
    ...(await examineAll(runtime, { onWait: (what) => context.out.note(what) })),
    ...(await examineCluster(runtime.config)),
  ];
  // What could not be opened is among the findings already; closing it says nothing new.
  await runtime.close().catch(() => undefined);
  return findings;
}
