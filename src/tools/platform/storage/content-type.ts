const TYPES: Readonly<Record<string, string>> = {
  html: "text/html",
  css: "text/css",
  js: "text/javascript",
  json: "application/json",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  xml: "application/xml",
  pdf: "application/pdf",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  zip: "application/zip",
  gz: "application/gzip",
};

/** By the ending of the name; undefined when it says nothing. */
export function typeOf(path: string): string | undefined {
  const [, extension = ""] = /\.([a-z0-9]+)$/i.exec(path) ?? [];
  return Object.hasOwn(TYPES, extension.toLowerCase()) ? TYPES[extension.toLowerCase()] : undefined;
}
