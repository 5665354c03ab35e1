export interface SentFile {
  readonly name: string;
  readonly content: string;
}

/** The fields of a form; its files under `files`. More forgiving than `Response.formData`, as the platforms are. */
export function multipartFields(body: Buffer, contentType: string): Readonly<Record<string, unknown>> {
  const boundary = /boundary="?([^";]+)/.exec(contentType)?.[1] ?? "";
  const fields: Record<string, unknown> = {};
  const files: SentFile[] = [];
  for (const part of body.toString("latin1").split(`--${boundary}`).slice(1, -1)) {
    const end = part.indexOf("\r\n\r\n");
    const head = part.slice(0, end);
    const content = part.slice(end + 4, -2);
    const filename = /filename="?([^";\r\n]+)/i.exec(head)?.[1];
    const name = /[;\s]name="?([^";\r\n]+)/i.exec(head)?.[1] ?? "";
    if (filename === undefined) fields[name] = Buffer.from(content, "latin1").toString("utf8");
    else files.push({ name: filename, content });
  }
  return { ...fields, files };
}
