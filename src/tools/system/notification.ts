import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { runDesktopProgram } from "./desktop-program.js";
import { findNotifier } from "./notification/notifiers.js";

const TIMEOUT_MS = 10_000;

interface NotificationAnswer {
  readonly success: true;
  readonly status: "success";
  /** True when a desktop has taken it; nobody can tell whether it was read. */
  readonly delivered: boolean;
  readonly backend: string;
  readonly title: string;
  readonly note?: string | undefined;
}

export default defineTool({
  name: "notification",
  toolset: "notification",
  emoji: "🔔",
  description:
    "Show a short notice on the person's desktop, e.g. when long work is done. delivered: false means nobody saw " +
    "it: say it in your answer, too.",
  parameters: {
    type: "object",
    properties: {
      title: { type: "string", minLength: 1, maxLength: 200 },
      message: { type: "string", maxLength: 4_000 },
      urgency: { type: "string", enum: ["low", "normal", "critical"], default: "normal" },
      timeout: { type: "number", minimum: 0.1, maximum: 3_600, description: "Seconds." },
    },
    required: ["title", "message"],
    additionalProperties: false,
  },
  permissions: ["message:send"],
  effects: () => [{ action: "message:send", resource: "desktop", mode: "write", reversible: false }],
  timeoutMs: TIMEOUT_MS + 5_000,

  async handler(notice, ctx): Promise<NotificationAnswer> {
    const answer = { success: true, status: "success", title: notice.title } as const;
    const { title, message } = notice;
    if (title.includes("\0") || message.includes("\0")) {
      throw new ToolError("A notice cannot hold a NUL character.", {
        code: "invalid_arguments",
        hint: "Send plain text.",
      });
    }
    const notifier = findNotifier({ platform: process.platform, env: process.env });
    let why = "missing" in notifier ? notifier.missing : undefined;
    if (!("missing" in notifier)) {
      const shown = await runDesktopProgram(notifier.show(notice), {
        signal: ctx.signal,
        timeoutMs: TIMEOUT_MS,
      });
      if (ctx.signal.aborted) throw new ToolError("Cancelled.", { code: "cancelled" });
      if (shown.ok) return { ...answer, delivered: true, backend: notifier.backend };
      why = `${notifier.backend} failed${shown.problem === "" ? "" : `: ${shown.problem}`}`;
    }
    ctx.progress({ message: `🔔 ${title}: ${message}` });
    return {
      ...answer,
      delivered: false,
      backend: "log",
      note: `Not shown on a desktop: ${why}. It went to the event stream of the runtime.`,
    };
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),

  examples: [
    {
      title: "Tell the person that long work is done",
      arguments: { title: "Build finished", message: "All 214 tests passed.", urgency: "low" },
      result: { success: true, title: "Build finished" },
    },
  ],
});

function humanText(out: NotificationAnswer): string {
  const line = `🔔 ${mark.strong(out.title)} ${mark.dim(`(${out.backend})`)}`;
  return out.note === undefined ? line : `${line}\n${mark.warning(out.note)}`;
}
