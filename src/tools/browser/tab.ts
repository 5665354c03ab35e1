import type { ConsoleMessage, Dialog, Download, FileChooser, Page } from "playwright-core";
import { type RefNumbers, Refs } from "./refs.js";
import type { BrowserSettings } from "./settings.js";
import type { SnapshotLine } from "./snapshot.js";

const MOST_MESSAGES = 200;
const MESSAGE_CHARS = 2_000;

export interface ConsoleEntry {
  /** log, info, warning, error … */
  readonly type: string;
  readonly text: string;
  readonly location?: string | undefined;
}

export interface OpenDialog {
  readonly type: string;
  readonly message: string;
  readonly default_value?: string | undefined;
}

/** One page of the session's browser with what it did since it was opened. */
export class Tab {
  readonly page: Page;
  readonly refs: Refs;
  readonly messages: ConsoleEntry[] = [];
  readonly errors: ConsoleEntry[] = [];
  /** Finished or not; taken by the call that tells of them. */
  readonly downloads: Download[] = [];
  /** Told with the next result. */
  readonly notes: string[] = [];
  /** What was last shown, to tell what has changed. */
  shown: readonly SnapshotLine[] = [];
  crashed = false;
  /** When the page is again as it was before it was last read; never rejects. */
  restored: Promise<void> = Promise.resolve();
  /** What a dialog interrupted, still running. */
  interrupted: Promise<unknown> | undefined;
  #dialog: Dialog | undefined;
  #dialogTimer: NodeJS.Timeout | undefined;
  #onDialog = new Set<() => void>();
  readonly #settings: BrowserSettings;

  constructor(page: Page, settings: BrowserSettings, numbers: RefNumbers) {
    this.page = page;
    this.refs = new Refs(numbers);
    this.#settings = settings;
    page.setDefaultTimeout(settings.timeoutMs);
    page.on("console", (message) => this.#note(message));
    page.on("pageerror", (error) => keep(this.errors, { type: "error", text: describe(error) }));
    page.on("dialog", (dialog) => this.#meet(dialog));
    page.on("download", (download) => void this.downloads.push(download));
    page.on("filechooser", (chooser) => this.#refuseFiles(chooser));
    page.on("crash", () => {
      this.crashed = true;
      for (const tell of this.#onDialog) tell();
    });
  }

  get dialog(): OpenDialog | undefined {
    if (this.#dialog === undefined) return undefined;
    const value = this.#dialog.defaultValue();
    return {
      type: this.#dialog.type(),
      message: this.#dialog.message().slice(0, MESSAGE_CHARS),
      ...(value !== "" && { default_value: value.slice(0, MESSAGE_CHARS) }),
    };
  }

  /** Resolves when another dialog stops the page, or the page has crashed. */
  stopped(): { readonly promise: Promise<void>; forget(): void } {
    let tell: () => void = () => undefined;
    const promise = new Promise<void>((resolve) => {
      tell = resolve;
    });
    if (this.crashed) tell();
    this.#onDialog.add(tell);
    return { promise, forget: () => void this.#onDialog.delete(tell) };
  }

  async answerDialog(accept: boolean, text?: string): Promise<void> {
    const dialog = this.#dialog;
    this.#dialog = undefined;
    clearTimeout(this.#dialogTimer);
    if (accept) await dialog?.accept(text);
    else await dialog?.dismiss();
  }

  #meet(dialog: Dialog): void {
    const { dialogPolicy, dialogMs } = this.#settings;
    const said = `${dialog.type()} ${JSON.stringify(dialog.message().slice(0, 200))}`;
    // Leaving a page was somebody's wish already.
    const leaving = dialog.type() === "beforeunload";
    if (leaving || dialogPolicy !== "must_respond") {
      const accept = leaving || dialogPolicy === "auto_accept";
      this.notes.push(`dialog ${accept ? "accepted" : "dismissed"}: ${said}`);
      void (accept ? dialog.accept() : dialog.dismiss()).catch(() => undefined);
      return;
    }
    this.#dialog = dialog;
    this.#dialogTimer = setTimeout(() => {
      this.notes.push(`dialog dismissed, nobody answered it: ${said}`);
      void this.answerDialog(false).catch(() => undefined);
    }, dialogMs);
    this.#dialogTimer.unref();
    for (const tell of this.#onDialog) tell();
  }

  #refuseFiles(chooser: FileChooser): void {
    const many = chooser.isMultiple() ? "one or more files" : "a file";
    this.notes.push(`the page asks for ${many}: browser_type its path into the file input`);
  }

  #note(message: ConsoleMessage): void {
    const { url, lineNumber } = message.location();
    // The browser asked for it, not the page.
    if (url.endsWith("/favicon.ico")) return;
    const entry = {
      type: message.type(),
      text: message.text().slice(0, MESSAGE_CHARS),
      ...(url !== "" && { location: `${url.slice(0, 200)}:${lineNumber + 1}` }),
    };
    keep(this.messages, entry);
    if (entry.type === "error") keep(this.errors, entry);
  }
}

function keep(entries: ConsoleEntry[], entry: ConsoleEntry): void {
  entries.push(entry);
  if (entries.length > MOST_MESSAGES) entries.shift();
}

function describe(error: Error): string {
  return (error.stack ?? `${error.name}: ${error.message}`).slice(0, MESSAGE_CHARS);
}
