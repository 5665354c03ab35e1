import { visible } from "../../base/visible-text.js";
import type { Proposal } from "../../policy/profiles/propose.js";
import { acceptProposal, proposeProfile as proposeProfileFrom } from "../../runtime/propose.js";
import type { CommandContext } from "../context.js";
import { positiveNumber } from "../input.js";
import type { Output } from "../output.js";
import { assertPerson } from "../person.js";

/** A profile that allows what recorded calls used and no more; `--write` puts it into the permissions of the home. */
export async function proposeProfile({ out, flags, runtime: open, options }: CommandContext): Promise<void> {
  const write = options.write === true;
  if (write) assertPerson("Profiles are written by a person", "Ask the person to look at it and write it.");
  const days = positiveNumber(options.days ?? 30, "--days");
  const name = typeof options.name === "string" ? options.name : "as_used";
  const runtime = await open({ userTools: false });
  try {
    const { profile } = flags;
    const proposal = await proposeProfileFrom(runtime, { name, days, profile });
    const written = write && proposal.calls > 0 ? await acceptProposal(runtime, proposal) : undefined;
    if (out.json) out.value({ days, ...proposal, ...(written && { written: written.file }) });
    else show(out, { proposal, days, file: written?.file });
  } finally {
    await runtime.close();
  }
}

/** A whole file of permissions: what else there is to say stands in its comments. */
function show(
  out: Output,
  shown: { readonly proposal: Proposal; readonly days: number; readonly file: string | undefined },
): void {
  const { proposal, days, file } = shown;
  const { name, yaml, calls, covered, never_used, notes, within } = proposal;
  if (calls === 0) {
    out.line(`# No call of the last ${days} days was let through, so there is nothing to propose.`);
    return;
  }
  out.line(`# ${covered} of the ${calls} calls of the last ${days} days stay as they are.`);
  for (const note of notes) out.line(`# ${visible(note)}`);
  const unused = never_used.map(({ rule, permission }) => permission ?? rule);
  if (unused.length > 0) out.line(`# Never needed of ${within}: ${unused.join(", ")}`);
  out.line(
    file === undefined
      ? `# Nothing was written. To keep it: hermes permissions propose --name ${name} --write`
      : `# Written to ${file}. To work under it: hermes permissions use ${name}`,
  );
  out.line(yaml.trimEnd());
}
