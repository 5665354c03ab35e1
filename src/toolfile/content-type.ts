export const JSON_TYPE = "application/json";
export const FORM_TYPE = "application/x-www-form-urlencoded";
export const MULTIPART_TYPE = "multipart/form-data";

export function isJson(type: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(type);
}

export function isForm(type: string): boolean {
  return bare(type) === FORM_TYPE;
}

export function isMultipart(type: string): boolean {
  return bare(type) === MULTIPART_TYPE;
}

/** Without parameters such as a charset. */
export function bare(type: string): string {
  return (type.split(";", 1)[0] ?? "").trim().toLowerCase();
}
