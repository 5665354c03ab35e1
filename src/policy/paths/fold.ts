/**
 * One spelling for all names that some disk takes for the same file: composed Unicode, no case. Going through
 * upper case first also joins letters that only meet there (ſ and s, ß and ss).
 */
export function foldName(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase();
  return name.normalize("NFC").toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}

const PLAIN = /^[\u0000-\u007f]*$/;

/** As `foldName`, and without characters that are invisible: `.g\u200dit` is `.git` on some disks. */
export function foldProtected(name: string): string {
  return foldName(PLAIN.test(name) ? name : name.replace(INVISIBLE, ""));
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
