import { modelContent } from "../protocol/model-text.js";
import type { Session } from "../runtime/session.js";
import type { CallResult } from "../tool/call.js";
import { type Content, textOf } from "../tool/content.js";
import type { ToolSchema } from "../tool/tool.js";

/** A tool of a session as a loop of somebody else needs it: what to tell the model, and how to run one call. */
export interface SessionTool extends Pick<ToolSchema, "name" | "description" | "parameters"> {
  /** Through the whole path, with its rules and approvals. Never rejects. */
  run(given: {
    readonly id?: string | undefined;
    readonly arguments: unknown;
    readonly signal?: AbortSignal | undefined;
  }): Promise<CallResult>;
}

export async function sessionTools(session: Session): Promise<readonly SessionTool[]> {
  const definitions = await session.definitions();
  return definitions.map(({ function: { name, description, parameters } }) => ({
    name,
    description,
    parameters,
    run: ({ id, signal, arguments: given }) =>
      session.call(
        { name, arguments: given, ...(id !== undefined && { id }) },
        signal === undefined ? {} : { signal },
      ),
  }));
}

/** What a model reads of a result: one text, or parts where there is more than text. */
export function toldOf(result: CallResult): string | readonly Content[] {
  const content = modelContent(result);
  return content.every(({ type }) => type === "text") ? textOf(content) : content;
}
