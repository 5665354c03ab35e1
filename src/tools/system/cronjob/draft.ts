import type { JobDraft, JobPlace } from "../../../cron/types.js";
import { createDecoder } from "../../../tool/decode.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";

export interface CronArguments {
  readonly action: string;
  readonly job_id?: string | undefined;
  readonly name?: string | undefined;
  readonly schedule?: string | undefined;
  readonly tool_call?:
    | { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> | undefined }
    | undefined;
  readonly script?: string | undefined;
  readonly prompt?: string | undefined;
  readonly no_agent?: boolean | undefined;
  readonly repeat?: number | undefined;
  readonly deliver?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly context_from?: readonly string[] | undefined;
  readonly enabled_toolsets?: readonly string[] | undefined;
  readonly workdir?: string | undefined;
  readonly paused?: boolean | undefined;
}

export async function draftFrom(args: CronArguments, ctx: CallContext): Promise<JobDraft> {
  if (args.schedule === undefined) {
    throw new ToolError("The action create needs a schedule.", {
      code: "invalid_arguments",
      hint: 'Give schedule: "30m", "every 2h", "0 9 * * 1-5" or "2030-01-31T09:00".',
    });
  }
  checkWork(args, ctx);
  return { ...sharedFields(args), schedule: args.schedule, name: args.name, ...(await placeOf(args, ctx)) };
}

/** Whoever changes what a job does, or where, lends it their own authority in place of its maker's. */
export async function changeFrom(args: CronArguments, ctx: CallContext): Promise<Partial<JobDraft>> {
  checkWork(args, ctx);
  const otherWork = [args.tool_call, args.script, args.prompt, args.enabled_toolsets, args.workdir];
  return {
    ...sharedFields(args),
    // Without job_id the name says which job is meant.
    ...(args.job_id !== undefined && { name: args.name }),
    ...(args.schedule !== undefined && { schedule: args.schedule }),
    ...(otherWork.some((field) => field !== undefined) && (await placeOf(args, ctx))),
  };
}

function sharedFields(args: CronArguments): Partial<JobDraft> {
  const { tool_call } = args;
  return {
    ...(tool_call !== undefined && {
      toolCall: { name: tool_call.name, arguments: tool_call.arguments ?? {} },
    }),
    script: args.script,
    prompt: args.prompt,
    noAgent: args.no_agent,
    repeat: args.repeat,
    deliver: args.deliver,
    skills: args.skills,
    contextFrom: args.context_from,
    enabledToolsets: args.enabled_toolsets,
  };
}

/** A run gets what this session has, and no more. */
async function placeOf({ workdir }: CronArguments, ctx: CallContext): Promise<JobPlace> {
  const { session, environment } = ctx;
  const folder = workdir === undefined ? session.cwd : environment.files.resolve(workdir, session.cwd);
  const stat = workdir === undefined ? undefined : await environment.files.stat(folder);
  if (workdir !== undefined && stat?.type !== "directory") {
    throw new ToolError(`The workdir ${folder} is no folder.`, {
      code: "invalid_arguments",
      hint: "Name a folder that exists, or leave workdir out.",
    });
  }
  return {
    workdir: folder,
    workspace: session.workspace,
    environment: environment.name,
    profile: session.profile,
    tools: toolsOf(ctx).map(({ name }) => name),
  };
}

function toolsOf(ctx: CallContext, only?: readonly string[]) {
  const opened = ctx.openTools(only === undefined ? {} : { only });
  opened.close();
  return opened.tools;
}

/** What cannot work is better known now than at the first run. */
function checkWork({ tool_call, script }: CronArguments, ctx: CallContext): void {
  const wanted = tool_call?.name ?? (script === undefined ? undefined : "terminal");
  if (wanted === undefined) return;
  const [tool] = toolsOf(ctx, [wanted]);
  if (tool === undefined) {
    throw new ToolError(
      `This session has no tool ${JSON.stringify(wanted)} that is ready, so a job cannot use it.`,
      {
        code: "not_found",
        hint:
          script === undefined
            ? "Name a tool that you can call yourself."
            : "Scripts run with the tool terminal.",
      },
    );
  }
  if (tool.name === ctx.toolName) {
    throw new ToolError("A job cannot make or change jobs.", {
      code: "invalid_arguments",
      hint: "Schedule the work itself.",
    });
  }
  // Another spelling may bring other arguments with it; those are looked at when it runs.
  if (tool_call === undefined || tool.name !== tool_call.name) return;
  const decoded = createDecoder(tool).decode(tool_call.arguments ?? {});
  if (decoded.ok) return;
  const { message, hint } = decoded.failure;
  throw new ToolError(`The job could not make its call. ${message}`, {
    code: "invalid_arguments",
    hint,
  });
}
