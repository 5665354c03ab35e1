// One subject in a process of its own: peers that switch on async hooks or fill the heap slow only themselves.
// Started with a subject's name and its options as JSON; answers { operation, count } with nanoseconds.
const [subjectName, options] = process.argv.slice(2);

const { open } = await import(new URL(`./subjects/${subjectName}.mjs`, import.meta.url).href);
const subject = await open(JSON.parse(options));

process.on("message", async ({ operation, count }) => {
  try {
    process.send({ nanoseconds: await timed(subject.operations[operation], count) });
  } catch (error) {
    process.send({ error: `${subjectName} ${operation}: ${error?.stack ?? error}` });
  }
});
process.on("disconnect", async () => {
  await subject.close?.();
  process.exit();
});
process.send({ ready: true });

async function timed(operation, count) {
  const started = process.hrtime.bigint();
  const own = await operation(count);
  return own ?? Number(process.hrtime.bigint() - started);
}
