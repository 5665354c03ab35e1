import { isProvider, PROVIDERS, type ProviderName } from "../../model/providers.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { isInteractive } from "../person.js";

export interface ModelWish {
  readonly provider: ProviderName;
  /** Empty: the provider's usual one. */
  readonly name: string;
  readonly baseUrl?: string | undefined;
  /** A new one; undefined keeps what is set. */
  readonly key?: string | undefined;
}

/** What the flags say; without a provider among them, the person is asked. */
export async function wishedModel({ options }: CommandContext): Promise<ModelWish> {
  const text = (name: string) => (typeof options[name] === "string" ? options[name].trim() : undefined);
  const provider = text("provider");
  if (provider === undefined && !isInteractive())
    throw commandError(
      "bad_request",
      "Nobody is there to ask which model it is to be",
      `Say it: hermes setup model --provider ${Object.keys(PROVIDERS).join("|")} --name NAME [--base-url URL] [--key-stdin]`,
    );
  if (provider === undefined) return askedModel();
  if (!isProvider(provider))
    throw commandError(
      "bad_request",
      `Unknown provider: ${provider}`,
      `One of ${Object.keys(PROVIDERS).join(", ")}.`,
    );
  const key = options.keyStdin === true ? await keyFromStdin() : undefined;
  return { provider, name: text("name") ?? "", baseUrl: text("baseUrl"), key };
}

async function keyFromStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  const key = Buffer.concat(chunks).toString("utf8").trim();
  if (key === "")
    throw commandError(
      "bad_request",
      "No key came on standard input",
      "echo KEY | hermes setup model … --key-stdin",
    );
  return key;
}

async function askedModel(): Promise<ModelWish> {
  const names = Object.keys(PROVIDERS).filter(isProvider);
  const list = names.map((name, at) => `  ${at + 1}. ${PROVIDERS[name].title}`).join("\n");
  const chosen = await ask(`Whose model is to be asked?\n${list}\n> `);
  const provider = names[Number(chosen) - 1] ?? (isProvider(chosen) ? chosen : undefined);
  if (provider === undefined)
    throw commandError("bad_request", `None of them: ${chosen}`, `One of 1 to ${names.length}.`);
  const { keys, model, url } = PROVIDERS[provider];
  const baseUrl = provider === "compatible" ? await ask("Address of the server: ") : undefined;
  const key =
    keys.length === 0 ? "" : await ask(`Key (${url === "" ? "empty: none" : "not shown"}): `, "hidden");
  const name = await ask(provider === "gguf" ? "File: " : `Model${model === "" ? "" : ` [${model}]`}: `);
  return { provider, name, baseUrl, key: key === "" ? undefined : key };
}

/** One line of the person. What is hidden reaches neither the screen nor a history. */
async function ask(question: string, how: "shown" | "hidden" = "shown"): Promise<string> {
  const { createInterface } = await import("node:readline");
  const { Writable } = await import("node:stream");
  const screen = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (how === "shown") process.stderr.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: process.stdin, output: screen, terminal: true, historySize: 0 });
  if (how === "hidden") process.stderr.write(question);
  try {
    return await new Promise<string>((resolve, reject) => {
      reader.once("SIGINT", () => reject(commandError("cancelled", "Nothing was changed")));
      reader.once("close", () => reject(commandError("cancelled", "Nothing was changed")));
      reader.question(how === "shown" ? question : "", (line) => resolve(line.trim()));
    });
  } finally {
    reader.close();
    if (how === "hidden") process.stderr.write("\n");
  }
}
