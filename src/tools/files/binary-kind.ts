import { extname } from "node:path";

const KIND_BY_EXTENSION: ReadonlyMap<string, string> = new Map(
  (
    [
      ["image", "png jpg jpeg gif bmp ico webp tif tiff avif heic psd"],
      ["audio", "mp3 wav ogg oga flac m4a aac opus wma"],
      ["video", "mp4 mkv webm mov avi wmv flv m4v mpeg mpg"],
      ["archive", "zip tar gz tgz bz2 xz 7z rar zst lz4 jar war whl"],
      ["program", "exe dll so dylib o a obj bin class pyc pyo wasm node elf"],
      ["document", "pdf doc xls ppt pptx odt ods odp"],
      ["font", "ttf otf woff woff2 eot"],
      ["database", "sqlite sqlite3 db mdb parquet"],
      ["disk image", "iso dmg img vmdk qcow2"],
    ] as const
  ).flatMap(([kind, extensions]) =>
    extensions.split(" ").map((extension) => [`.${extension}`, kind] as const),
  ),
);

const MAGIC: readonly (readonly [kind: string, bytes: string])[] = [
  ["PNG image", "\x89PNG"],
  ["JPEG image", "\xff\xd8\xff"],
  ["GIF image", "GIF8"],
  ["PDF document", "%PDF-"],
  ["ZIP archive", "PK\x03\x04"],
  ["gzip archive", "\x1f\x8b"],
  ["bzip2 archive", "BZh"],
  ["xz archive", "\xfd7zXZ"],
  ["zstd archive", "\x28\xb5\x2f\xfd"],
  ["7z archive", "7z\xbc\xaf"],
  ["ELF program", "\x7fELF"],
  ["WebAssembly program", "\0asm"],
  ["SQLite database", "SQLite format 3\0"],
  ["Java class", "\xca\xfe\xba\xbe"],
  ["Windows program", "MZ\x90"],
];

/** What kind of binary file a name promises, e.g. "image". */
export function kindByName(path: string): string | undefined {
  return KIND_BY_EXTENSION.get(extname(path).toLowerCase());
}

/** What kind of binary file the first bytes show, e.g. "PNG image". */
export function kindByContent(head: Uint8Array): string | undefined {
  const start = Buffer.from(head.subarray(0, 16)).toString("latin1");
  return MAGIC.find(([, bytes]) => start.startsWith(bytes))?.[0];
}
