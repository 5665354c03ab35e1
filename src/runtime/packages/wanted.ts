/** A library that not everybody needs, with the exact version that was tried. */
export interface OptionalPackage {
  readonly name: string;
  readonly version: string;
  /** What it is for, in the words of somebody who decides whether to install it. */
  readonly about: string;
  /** Of itself and what it brings along, in MB. */
  readonly megabytes: number;
}

/**
 * Not part of the package: `hermes setup tools` puts them into the Hermes home. A checkout has them among its
 * development dependencies, in the same versions.
 */
export const OPTIONAL_PACKAGES: readonly OptionalPackage[] = [
  { name: "playwright-core", version: "1.65.0", about: "drives a browser", megabytes: 14 },
  { name: "sharp", version: "0.35.5", about: "edits and converts pictures", megabytes: 20 },
  { name: "vega", version: "6.4.0", about: "draws charts", megabytes: 15 },
  { name: "vega-lite", version: "6.4.3", about: "describes charts", megabytes: 10 },
  { name: "vega-interpreter", version: "2.3.2", about: "reads formulas in charts", megabytes: 1 },
  { name: "@mermaid-js/tiny", version: "11.17.2", about: "draws Mermaid diagrams", megabytes: 3 },
  { name: "tesseract.js", version: "7.0.0", about: "reads text in pictures", megabytes: 45 },
  { name: "@tesseract.js-data/eng", version: "1.0.0", about: "knows English letters", megabytes: 14 },
  { name: "mysql2", version: "3.24.5", about: "speaks to MySQL and MariaDB", megabytes: 5 },
  { name: "mongodb", version: "7.8.0", about: "speaks to MongoDB", megabytes: 8 },
  { name: "redis", version: "6.3.1", about: "speaks to Redis", megabytes: 16 },
  { name: "@aws-sdk/client-s3", version: "3.1164.0", about: "speaks to S3 storage", megabytes: 22 },
  { name: "imapflow", version: "2.1.2", about: "reads mailboxes", megabytes: 8 },
  { name: "mailparser", version: "3.9.8", about: "takes mails apart", megabytes: 6 },
  { name: "grammy", version: "1.46.0", about: "speaks to Telegram", megabytes: 4 },
  { name: "discord.js", version: "14.27.0", about: "speaks to Discord", megabytes: 28 },
  { name: "@slack/web-api", version: "8.2.0", about: "speaks to Slack", megabytes: 9 },
  { name: "@slack/socket-mode", version: "3.1.0", about: "listens to Slack", megabytes: 10 },
];

/** Large, and only for those who run a model from a file: `hermes setup model --provider gguf` brings it. */
export const GGUF_PACKAGE: OptionalPackage = {
  name: "node-llama-cpp",
  version: "3.22.1",
  about: "runs models from GGUF files",
  megabytes: 725,
};

/** All that may lie in the Hermes home. */
export const KNOWN_PACKAGES: readonly OptionalPackage[] = [...OPTIONAL_PACKAGES, GGUF_PACKAGE];

export function optionalPackage(name: string): OptionalPackage | undefined {
  return KNOWN_PACKAGES.find((one) => one.name === name);
}
