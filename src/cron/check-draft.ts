import { threatIn } from "../places/threats.js";
import { ToolError } from "../tool/errors.js";
import type { JobDraft, JobWork } from "./types.js";

/** Where the outcome of a run can be brought besides a target of send_message; the archive is written in any case. */
const DELIVERY_TARGETS: readonly string[] = ["local", "notification"];
/** As send_message has them: `webhook:NAME`, `email:ADDRESS`, `telegram:CHAT`. */
const MESSAGE_TARGET = /^[a-z][a-z0-9_-]{0,31}:[^\p{C}]{1,500}$/u;

const LONGEST_NAME = 100;
const LONGEST_TEXT = 100_000;
const LONGEST_RUN_S = 7 * 24 * 60 * 60;

/** Everything about a draft that can be told without knowing other jobs. Throws a ToolError. */
export function checkDraft(draft: Omit<JobDraft, "schedule" | "workdir">): void {
  checkWork(draft);
  const { name, deliver = "local" } = draft;
  if (name !== undefined && (name.trim() === "" || name.length > LONGEST_NAME || /\p{Cc}/u.test(name))) {
    throw invalid(
      `The name ${JSON.stringify(name.slice(0, LONGEST_NAME))} cannot be used.`,
      `Give 1 to ${LONGEST_NAME} characters on one line.`,
    );
  }
  if (!DELIVERY_TARGETS.includes(deliver) && !MESSAGE_TARGET.test(deliver)) {
    throw invalid(
      `Nothing can be delivered to ${JSON.stringify(deliver)}.`,
      'There are: "local" (kept in the archive of the job), "notification" (also shown on the desktop) and the targets of send_message ("webhook:NAME", "email:ADDRESS").',
    );
  }
}

function checkWork(draft: JobWork & Pick<JobDraft, "noAgent">): void {
  const { toolCall, script, prompt, noAgent } = draft;
  if (toolCall === undefined && script === undefined && prompt === undefined) {
    throw invalid(
      "The job has nothing to do.",
      "Give tool_call, script or prompt; a script together with a prompt gathers what the prompt works on.",
    );
  }
  if (toolCall !== undefined && (script !== undefined || prompt !== undefined)) {
    throw invalid(
      "A job with a tool call can have no script and no prompt.",
      "Make one job for each, and name the first in context_from of the second.",
    );
  }
  const { timeLimit } = draft;
  if (timeLimit !== undefined && !(timeLimit >= 1 && timeLimit <= LONGEST_RUN_S)) {
    throw invalid(
      `A run cannot be limited to ${timeLimit} seconds.`,
      `Give 1 to ${LONGEST_RUN_S} seconds, or leave it out for what is configured.`,
    );
  }
  if (noAgent === true && script === undefined && toolCall === undefined) {
    throw invalid("A prompt without an agent does nothing.", "Leave out no_agent, or give a script.");
  }
  for (const [what, text] of Object.entries({ script, prompt })) {
    if (text === undefined) continue;
    if (text.trim() === "") throw invalid(`The ${what} is empty.`, `Give the text of the ${what}.`);
    if (text.length > LONGEST_TEXT || text.includes("\0")) {
      throw invalid(
        `The ${what} cannot be kept: it is longer than ${LONGEST_TEXT} characters or holds a NUL character.`,
        "Put long texts into a file and name it.",
      );
    }
  }
  const threat = prompt === undefined ? undefined : threatIn(prompt);
  if (threat !== undefined) {
    throw new ToolError(`The prompt is not scheduled: it holds ${threat}.`, {
      code: "denied",
      hint: "It would run with nobody watching. Say plainly what is to be done, in visible characters.",
    });
  }
}

export function invalid(message: string, hint: string): ToolError {
  return new ToolError(message, { code: "invalid_arguments", hint });
}

/** A name for a job that was given none. */
export function nameFor({ toolCall, script, prompt }: JobWork): string {
  const text = toolCall?.name ?? prompt ?? script ?? "";
  const line =
    text
      .trim()
      .split("\n", 1)[0]
      ?.replace(/\s+/g, " ")
      .replace(/\p{Cc}/gu, "") ?? "";
  return line.length <= 40 ? line : `${line.slice(0, 39).trimEnd()}…`;
}
