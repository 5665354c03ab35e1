import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError, address, ask, get } from "../../api/client.js";
import { queryClient } from "../../api/queries.js";
import type { ProcessAnswer, ProcessLogAnswer, ProcessStreamEvent } from "../../api/types.js";
import { serverSentEvents } from "../../lib/sse.js";
import { visible } from "../../lib/visible.js";
import { Terminal, type TerminalHandle } from "../../ui/terminal.js";

const AGAIN_MS = 1_500;

/** What a program has printed, and what it goes on printing. */
export function LiveOutput({ process }: { readonly process: ProcessAnswer }) {
  const [terminal, setTerminal] = useState<TerminalHandle>();
  const [trouble, setTrouble] = useState<string>();
  const ready = useCallback((made: TerminalHandle) => setTerminal(() => made), []);
  const isRunning = useRef(process.status === "running");
  isRunning.current = process.status === "running";
  useEffect(() => {
    if (terminal === undefined) return;
    const stop = new AbortController();
    const follow = async () => {
      while (!stop.signal.aborted) {
        try {
          terminal.clear();
          await streamInto(terminal, process.id, stop.signal);
          setTrouble(undefined);
          if (!isRunning.current) return;
        } catch (error) {
          if (stop.signal.aborted) return;
          if (error instanceof ApiError && error.status === 404) return;
          setTrouble(error instanceof Error ? error.message : String(error));
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    };
    void follow();
    return () => stop.abort();
  }, [terminal, process.id]);
  return (
    <>
      {trouble !== undefined && (
        <p className="about" role="status">
          The output stands still: {visible(trouble)}
        </p>
      )}
      <Terminal label={`Output of ${process.id}`} onReady={ready} />
    </>
  );
}

async function streamInto(terminal: TerminalHandle, id: string, signal: AbortSignal): Promise<void> {
  const answer = await ask(`/v1/processes/${encodeURIComponent(id)}/stream`, { signal });
  for await (const data of serverSentEvents(answer)) {
    const event = JSON.parse(data) as ProcessStreamEvent;
    if (event.type === "output")
      terminal.write(Uint8Array.from(atob(event.data), (sign) => sign.charCodeAt(0)));
    else {
      void queryClient.invalidateQueries({ queryKey: ["processes"] });
      return;
    }
  }
}

/** The last lines, for a copy. */
export async function lastLines(id: string): Promise<string> {
  const log = await get<ProcessLogAnswer>(address("/v1/processes/log", { id, limit: 5_000 }));
  return log.lines.join("\n");
}
