// Changes files through the runtime, says which calls were answered, and goes on until it is killed.
import { closeAtEnd, openSession, options, say } from "./session.mjs";

const { runtime, session, call } = await openSession();
closeAtEnd(runtime);
if (options.task === "edits") {
  say({ ready: true });
  const results = await session.callAll(
    options.slots.map((slot) => ({
      id: `call_${slot}`,
      name: "patch",
      arguments: { path: "shared.txt", old_string: `${slot}=old;`, new_string: `${slot}=${options.mark};` },
    })),
  );
  say({ done: options.slots.filter((_slot, index) => results[index].ok) });
} else {
  // The first call loads what it needs; kills are to fall on the later ones.
  await call("write_file", { path: "warm.txt", content: "warm" });
  say({ ready: true });
  // Each content says by itself whether it is whole: one letter, over and over.
  for (let round = options.round; ; round += 1) {
    for (let number = 0; number < options.files; number += 1) {
      const letter = String.fromCharCode(97 + (round % 26));
      const content = letter.repeat(options.bytes);
      const path = `folder-${number % 5}/file-${number}.txt`;
      if (number % 3 === 0) {
        const old = String.fromCharCode(97 + ((round + 25) % 26)).repeat(options.bytes);
        const name = number % 2 === 0 ? "write_file" : "patch";
        await (name === "patch"
          ? call(name, { path, old_string: old, new_string: content }).catch(() =>
              call("write_file", { path, content }),
            )
          : call(name, { path, content }));
      } else await call("write_file", { path, content });
      say({ number, letter });
    }
  }
}
