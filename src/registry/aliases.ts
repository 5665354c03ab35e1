/**
 * Every other spelling of a built-in tool. Names resolve everywhere a name is typed; records keep the
 * canonical one. The first eight are the book's names, shown to a model when `tools.vocabulary` is "book".
 */
export const TOOL_ALIASES: Readonly<Record<string, string>> = {
  process_manager: "process",
  cron_scheduler: "cronjob",
  html_extract: "web_extract",
  file_read: "read_file",
  file_write: "write_file",
  file_search: "search_files",
  code_execute: "execute_code",
  image_analyze: "vision_analyze",
  transcription: "audio_transcribe",
  transcribe_audio: "audio_transcribe",
  process_manage: "process",
  todo_list: "todo",
  cronjob_manage: "cronjob",
};

const BOOK_SPELLINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(TOOL_ALIASES)
    .slice(0, 8)
    .map(([book, canonical]) => [canonical, book]),
);

export type Vocabulary = "hermes" | "book";

/** The spelling of a tool's name that a model is shown. */
export function shownName(canonical: string, vocabulary: Vocabulary): string {
  return vocabulary === "book" ? (BOOK_SPELLINGS.get(canonical) ?? canonical) : canonical;
}
