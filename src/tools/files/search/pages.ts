import type { FileCount, Page } from "./types.js";

export function totalOf(counts: readonly FileCount[]): number {
  let total = 0;
  for (const { count } of counts) total += count;
  return total;
}

/** The files that hold the matches of a page, and how many matches lie in the files before them. */
export function filesOfPage<File extends FileCount>(
  counts: readonly File[],
  { offset, limit }: Page,
): { readonly files: File[]; readonly skipped: number } {
  const files: File[] = [];
  let seen = 0;
  let skipped = 0;
  for (const file of counts) {
    if (seen >= offset + limit) break;
    if (seen + file.count <= offset) skipped += file.count;
    else files.push(file);
    seen += file.count;
  }
  return { files, skipped };
}
