/** Server-sent events of an answer that is read by hand, because it came to a POST or needs a header. */
export async function* serverSentEvents(answer: Response): AsyncGenerator<string> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const whole = rest.split(/\r?\n\r?\n/);
      rest = whole.pop() ?? "";
      for (const one of whole) {
        const data = dataOf(one);
        if (data !== "") yield data;
      }
    }
  } finally {
    // Whoever stops listening closes the connection.
    await reader.cancel().catch(() => undefined);
  }
}

function dataOf(event: string): string {
  return event
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(line.startsWith("data: ") ? 6 : 5))
    .join("\n");
}
