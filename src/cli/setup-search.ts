import { checkModel, fetchModel, folderToFill } from "../search/semantic/fetch-model.js";
import { findModel, modelFolders } from "../search/semantic/model-files.js";
import { failure, HermesError } from "../tool/errors.js";
import { showFetching } from "./fetch-progress.js";
import type { CommandContext } from "./globals.js";

/** Fetches the model that finds tools by meaning. */
export async function run(
  context: CommandContext,
  _args: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (options.check === true) return check(context);
  const folder = folderToFill(context);
  const progress = showFetching(context.out);
  const report = await fetchModel({ folder, onProgress: progress.show }).finally(progress.stop);
  if (context.out.json) context.out.value({ ready: true, ...report });
  else if (report.fetched.length === 0)
    context.out.line(`${context.out.mark("ok")} the model is in ${folder}, every file as it should be`);
  else
    context.out.line(
      `${context.out.mark("ok")} ${report.fetched.length} files fetched and checked: ${folder}`,
    );
}

async function check({ home, out }: CommandContext): Promise<void> {
  const found = findModel({ home });
  if (found === undefined)
    throw new HermesError(
      failure(
        "unavailable",
        `no model in ${modelFolders({ home }).join(" or ")}`,
        "Run `hermes setup search`; until then tools are found by words alone.",
      ),
    );
  const folder = modelFolders({ home }).find((path) => found.model.startsWith(path)) ?? "";
  const wrong = await checkModel(folder);
  if (wrong.length > 0)
    throw new HermesError(
      failure("unavailable", `damaged in ${folder}: ${wrong.join(", ")}`, "Run `hermes setup search`."),
    );
  if (out.json) out.value({ ready: true, folder });
  else out.line(`${out.mark("ok")} the model is in ${folder}, every file as it should be`);
}
