import { basename, dirname, join } from "node:path/posix";
import { sizeText } from "../../base/human.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark, plainText } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { collectInputs } from "./compress/collect-inputs.js";
import { decompressStream, firstBytes } from "./compress/compression.js";
import { FORMATS, type Format, formatByName, formatOfBytes, withoutEnding } from "./compress/formats.js";
import { MAX_ARCHIVE_BYTES } from "./compress/limits.js";
import { type ListedEntry, listArchive } from "./compress/list-archive.js";
import { pack } from "./compress/pack.js";
import type { Archive } from "./compress/read-entries.js";
import { unpack } from "./compress/unpack.js";
import { statRegularFile } from "./open-text.js";
import { refuseDevice } from "./path-guard.js";
import { absolutePath, type Location, locate } from "./paths.js";
import { writeVerified } from "./write-verified.js";

const TIMEOUT_MS = 600_000;

interface CompressResult {
  readonly success: true;
  readonly status: "success";
  readonly action: "compress" | "decompress" | "list";
  readonly archive: string;
  readonly format: Format;
  readonly environment: string;
  readonly entries: number;
  /** Compressing: of the files, then of the archive. Decompressing and listing: the other way round. */
  readonly bytes_in: number;
  readonly bytes_out: number;
  /** Where it was unpacked to. */
  readonly output?: string;
  readonly replaced?: number;
  readonly members?: readonly ListedEntry[];
  readonly truncated?: true;
  readonly unsafe?: number;
  readonly skipped?: readonly { readonly path: string; readonly why: string }[];
}

export default defineTool({
  name: "file_compress",
  toolset: "files",
  emoji: "🗜️",
  description:
    "Pack files and folders into an archive, unpack one (all or nothing; unsafe ones are refused) or list what is " +
    "in it.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["compress", "decompress", "list"] },
      paths: {
        type: "array",
        items: { type: "string", minLength: 1 },
        maxItems: 1_000,
      },
      archive: { type: "string", minLength: 1 },
      output: {
        type: "string",
        minLength: 1,
        description: "Folder to unpack to (gz, zst: file); default: archive without its ending.",
      },
      format: { type: "string", enum: FORMATS, description: "Default: by the archive's ending, else zip." },
      exclude: {
        type: "array",
        items: { type: "string", minLength: 1 },
        maxItems: 100,
        description: "Globs.",
      },
      overwrite: { type: "boolean", default: false },
      skip_links: { type: "boolean", default: false },
    },
    required: ["action"],
    additionalProperties: false,
  },
  permissions: ["file:read", "file:write"],
  timeoutMs: TIMEOUT_MS,

  effects(args, scope) {
    const at = (path: string) => absolutePath(path, scope);
    const read = (path: string) =>
      ({ action: "file:read", resource: at(path), mode: "read", reversible: true }) as const;
    const write = (path: string) =>
      ({ action: "file:write", resource: at(path), mode: "write", reversible: false }) as const;
    const archive = archiveName(args);
    if (archive === undefined) return [];
    if (args.action === "compress") return [...(args.paths ?? []).map(read), write(archive)];
    if (args.action === "list") return [read(archive)];
    return [read(archive), write(args.output ?? withoutEnding(archive))];
  },

  async handler(args, ctx): Promise<CompressResult> {
    const name = archiveName(args);
    if (name === undefined) {
      throw new ToolError(
        `The action ${args.action} needs ${args.action === "compress" ? "paths" : "archive"}.`,
        {
          code: "invalid_arguments",
          hint: 'For example {"action": "compress", "paths": ["src"], "archive": "src.zip"}.',
        },
      );
    }
    const location = await locate(name, ctx);
    refuseDevice(location);
    if (args.action === "compress") return compress(args, location, ctx);
    if (args.action === "list") return list(location, ctx);
    return decompress({ ...args, output: args.output ?? withoutEnding(name) }, location, ctx);
  },

  present(out) {
    const human = humanText(out);
    // A long list as JSON would be mostly the same few words.
    return { model: [text(out.action === "list" ? plainText(human) : JSON.stringify(out))], human };
  },

  examples: [
    {
      title: "Pack a folder and look at what is in the archive",
      files: { "notes/a.txt": "first\n", "notes/b.txt": "second\n" },
      before: [
        {
          name: "file_compress",
          arguments: { action: "compress", paths: ["notes"], archive: "notes.tar.gz" },
        },
      ],
      arguments: { action: "list", archive: "notes.tar.gz" },
      result: { format: "tar.gz", entries: 3, bytes_out: 13 },
    },
    {
      title: "Unpack an archive to a folder of its own",
      files: { "notes/a.txt": "first\n" },
      before: [
        { name: "file_compress", arguments: { action: "compress", paths: ["notes"], archive: "notes.zip" } },
      ],
      arguments: { action: "decompress", archive: "notes.zip", output: "copy" },
      result: { format: "zip", entries: 1, bytes_out: 6 },
    },
  ],
});

interface Args {
  readonly action: "compress" | "decompress" | "list";
  readonly paths?: readonly string[] | undefined;
  readonly archive?: string | undefined;
  readonly format?: Format | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly overwrite: boolean;
  readonly skip_links: boolean;
}

/** The archive as named, or the name it gets; undefined when nothing says which. */
function archiveName({
  action,
  archive,
  paths,
  format,
}: Pick<Args, "action" | "archive" | "paths" | "format">) {
  const first = paths?.[0];
  if (action === "compress" && first === undefined) return undefined;
  if (archive !== undefined || first === undefined) return archive;
  if (action !== "compress") return first;
  const stem = basename(first.replace(/\/+$/, ""));
  return `${stem === "" || stem === "." || stem === ".." || stem === "~" ? "archive" : stem}.${format ?? "zip"}`;
}

async function compress(args: Args, location: Location, ctx: CallContext): Promise<CompressResult> {
  const format = args.format ?? formatByName(location.path) ?? "zip";
  const existing = await ctx.environment.files.stat(location.real);
  if (existing !== undefined && (existing.type !== "file" || !args.overwrite)) {
    throw new ToolError(`${location.path} exists already.`, {
      hint:
        existing.type === "file" ? "Set overwrite: true to replace it." : "Give the archive another name.",
      details: { path: location.path },
    });
  }
  const inputs = await collectInputs({
    paths: args.paths ?? [],
    exclude: args.exclude ?? [],
    archive: location.real,
    ctx,
  });
  const bytes = await pack({
    members: inputs.members,
    format,
    ctx,
    onPacked: (done) => ctx.progress({ message: "packing", fraction: done / inputs.members.length }),
  });
  await writeVerified({
    real: location.real,
    bytes,
    ctx,
    ...(existing === undefined && { expected: { sha256: undefined } }),
  });
  return {
    ...common({ action: "compress", location, format, ctx }),
    entries: inputs.members.length,
    bytes_in: inputs.bytes,
    bytes_out: bytes.length,
    ...(inputs.skipped.length > 0 && { skipped: inputs.skipped.slice(0, 100) }),
  };
}

async function decompress(
  args: Args & { readonly output: string },
  location: Location,
  ctx: CallContext,
): Promise<CompressResult> {
  const target = await locate(args.output, ctx);
  const opened = await openArchive(location, ctx);
  const isOne = opened.format === "gz" || opened.format === "zst";
  const stat = await ctx.environment.files.stat(target.real);
  const asFile = isOne && stat?.type !== "directory" && !args.output.endsWith("/");
  if (!asFile && stat !== undefined && stat.type !== "directory") {
    throw new ToolError(`${target.path} is not a folder, and the archive needs one.`, {
      code: "invalid_arguments",
      hint: "Name another output.",
      details: { path: target.path },
    });
  }
  const archive: Archive = { ...opened, ...(asFile && { soleName: basename(target.real) }) };
  const unpacked = await unpack({
    archive,
    folder: asFile ? dirname(target.real) : target.real,
    overwrite: args.overwrite,
    skipLinks: args.skip_links,
    ctx,
  });
  return {
    ...common({ action: "decompress", location, format: archive.format, ctx }),
    output: isOne && !asFile ? join(target.path, archive.soleName) : target.path,
    entries: unpacked.entries,
    bytes_in: archive.bytes.length,
    bytes_out: unpacked.bytes,
    ...(unpacked.replaced > 0 && { replaced: unpacked.replaced }),
    ...(unpacked.skipped.length > 0 && { skipped: unpacked.skipped.slice(0, 100) }),
  };
}

async function list(location: Location, ctx: CallContext): Promise<CompressResult> {
  const archive = await openArchive(location, ctx);
  const listed = await listArchive({ archive, ctx });
  return {
    ...common({ action: "list", location, format: archive.format, ctx }),
    entries: listed.entries,
    bytes_in: archive.bytes.length,
    bytes_out: listed.bytes,
    members: listed.members,
    ...(listed.members.length < listed.entries && { truncated: true }),
    ...(listed.unsafe > 0 && { unsafe: listed.unsafe }),
  };
}

async function openArchive(location: Location, ctx: CallContext): Promise<Archive> {
  const stat = await statRegularFile(location, ctx);
  if (stat.size > MAX_ARCHIVE_BYTES) {
    throw new ToolError(`${location.path} is larger than ${MAX_ARCHIVE_BYTES / 1024 ** 2} MiB.`, {
      hint: "Use tar or unzip in the terminal.",
      details: { path: location.path },
    });
  }
  const bytes = await ctx.environment.files.read(location.real);
  const format = await formatOfBytes(bytes, {
    path: location.path,
    inside: (kind, count) =>
      firstBytes(decompressStream(kind, { bytes: [bytes], ctx }), count).catch(() => new Uint8Array()),
  });
  return { path: location.path, bytes, format, soleName: basename(withoutEnding(location.path)) };
}

function common(call: {
  action: CompressResult["action"];
  location: Location;
  format: Format;
  ctx: CallContext;
}) {
  return {
    success: true,
    status: "success",
    action: call.action,
    archive: call.location.path,
    format: call.format,
    environment: call.ctx.environment.name,
  } as const;
}

function humanText(out: CompressResult): string {
  const entries = `${out.entries} ${out.entries === 1 ? "entry" : "entries"}`;
  const sizes = `${sizeText(out.bytes_in, "short")} → ${sizeText(out.bytes_out, "short")}`;
  const notes = (out.skipped ?? []).map(({ path, why }) => mark.warning(`left out: ${path} (${why})`));
  if (out.action === "compress") {
    return [`packed ${entries} into ${mark.path(out.archive)} (${sizes})`, ...notes].join("\n");
  }
  if (out.action === "decompress") {
    return [`unpacked ${entries} to ${mark.path(out.output ?? "")} (${sizes})`, ...notes].join("\n");
  }
  const rows = (out.members ?? []).map((member) => [
    member.mode ?? "",
    member.type === "directory" ? "" : sizeText(member.size, "short"),
    `${member.type === "directory" ? mark.path(member.name) : member.name}${member.target === undefined || member.target === "" ? "" : ` -> ${member.target}`}`,
    member.unsafe === undefined ? "" : mark.bad(`will not be unpacked: ${member.unsafe}`),
  ]);
  return [
    `${mark.path(out.archive)}: ${out.format}, ${entries}, ${sizes}`,
    columns(rows, { right: [1] }),
  ].join("\n");
}
