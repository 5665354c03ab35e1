import { Writable } from "node:stream";

/** Standard output for a protocol alone: from now on whatever else a tool or library prints goes to standard error. */
export function takeStandardOutput(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      write(chunk, (error) => done(error));
    },
  });
}
