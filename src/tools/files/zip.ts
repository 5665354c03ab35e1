import type { Entry } from "yauzl";

const MAX_MEMBERS = 10_000;
/** Documents inflate about tenfold; far more is a bomb. */
const MAX_INFLATED_BYTES = 64 * 1024 * 1024;

export interface Zip {
  /** The text of a member, or undefined when there is none of that name. */
  read(name: string): Promise<string | undefined>;
}

/** The members of a ZIP container. All that is read from one container together stays within a limit. */
export async function openZip(bytes: Uint8Array): Promise<Zip> {
  const { fromBufferPromise } = await import("yauzl");
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const container = await fromBufferPromise(buffer, { lazyEntries: true, autoClose: false });
  const members = new Map<string, Entry>();
  for await (const entry of container.eachEntry()) {
    if (members.size >= MAX_MEMBERS) throw new Error(`it has more than ${MAX_MEMBERS} members`);
    members.set(entry.fileName, entry);
  }
  let budget = MAX_INFLATED_BYTES;
  const spend = (size: number): void => {
    budget -= size;
    if (budget < 0) throw new Error("it inflates to more than is safe");
  };
  return {
    async read(name) {
      const member = members.get(name);
      if (member === undefined) return undefined;
      // The size is only a claim, but the reader fails when a member turns out to be larger.
      spend(member.uncompressedSize);
      const chunks: Buffer[] = [];
      for await (const chunk of await container.openReadStreamPromise(member)) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}
