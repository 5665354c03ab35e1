import { messageOf } from "../../../base/errno.js";
import { openMoonshine } from "./moonshine.js";
import type { SpeechOrder, SpeechPlaces } from "./protocol.js";

/** The program of the process that runs a model for speech. It ends with the process that started it. */
function serve(places: SpeechPlaces): void {
  const opening = open(places);
  // Whoever gives the first order is told.
  opening.catch(() => undefined);
  process.on("message", async (order: SpeechOrder) => {
    try {
      const answer = await opening;
      process.send?.({ id: order.id, ...(await answer(order)) });
    } catch (error) {
      process.send?.({ id: order.id, error: messageOf(error) });
    }
  });
}

async function open(places: SpeechPlaces) {
  if (places.kind === "moonshine") {
    const model = await openMoonshine(places);
    return async (order: SpeechOrder) => ({ text: "wave" in order ? model.transcribe(order.wave) : "" });
  }
  const { openKokoro } = await import("./kokoro.js");
  const model = await openKokoro(places);
  return async (order: SpeechOrder) => ({
    wave: "text" in order ? await model.speak(order.text, order.voice) : new Float32Array(0),
  });
}

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches the whole group; the process that started this one decides when it is no longer needed.
process.on("SIGINT", () => undefined);
serve(JSON.parse(process.argv[2] ?? "{}") as SpeechPlaces);
