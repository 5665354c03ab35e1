const BLOCK = 512;
const MAX_NAME = 100;
/** Beyond this a size does not fit eleven octal digits. */
const MAX_OCTAL_SIZE = 8 * 1024 ** 3;

export interface TarMember {
  /** Bytes of the name, relative and without `..`. */
  readonly name: Buffer;
  readonly type: "file" | "directory" | "symlink";
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly target?: Buffer | undefined;
}

const TYPE_LETTERS = { file: "0", directory: "5", symlink: "2" } as const;

/** What stands before a member's bytes; long names come in blocks of their own, as GNU tar and busybox read them. */
export function tarHeader(member: TarMember): Buffer {
  const parts: Buffer[] = [];
  if (member.name.length > MAX_NAME) parts.push(...longText("L", member.name));
  if (member.target !== undefined && member.target.length > MAX_NAME)
    parts.push(...longText("K", member.target));
  parts.push(
    block({
      name: member.name,
      letter: TYPE_LETTERS[member.type],
      size: member.size,
      mode: member.mode & 0o777,
      mtime: Math.max(0, Math.floor(member.mtimeMs / 1000)),
      target: member.target,
    }),
  );
  return Buffer.concat(parts);
}

/** Fills the last block of a member's bytes. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

function longText(letter: string, text: Buffer): readonly Buffer[] {
  const ended = Buffer.concat([text, Buffer.alloc(1)]);
  const name = Buffer.from("././@LongLink");
  return [
    block({ name, letter, size: ended.length, mode: 0o644, mtime: 0 }),
    ended,
    tarPadding(ended.length),
  ];
}

function block(fields: {
  readonly name: Buffer;
  readonly letter: string;
  readonly size: number;
  readonly mode: number;
  readonly mtime: number;
  readonly target?: Buffer | undefined;
}): Buffer {
  const header = Buffer.alloc(BLOCK);
  fields.name.copy(header, 0, 0, MAX_NAME);
  header.write(octal(fields.mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  if (fields.size < MAX_OCTAL_SIZE) header.write(octal(fields.size, 11), 124);
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(fields.size), 128);
  }
  header.write(octal(fields.mtime, 11), 136);
  header.write(" ".repeat(8), 148);
  header.write(fields.letter, 156);
  fields.target?.copy(header, 157, 0, MAX_NAME);
  header.write("ustar  \0", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148, "latin1");
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}
