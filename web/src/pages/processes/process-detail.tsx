import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, post } from "../../api/client.js";
import type { CallResult, ProcessAnswer, ProcessKilled } from "../../api/types.js";
import { bytes, plural } from "../../lib/format.js";
import { useNow } from "../../lib/now.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { pathTo } from "../../router.js";
import { Chip, Code, Glyph } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { LiveOutput, lastLines } from "./live-output.js";
import { ProcessStatus, ranFor } from "./page.js";

export function ProcessDetail({ process }: { readonly process: ProcessAnswer }) {
  const now = useNow();
  const isRunning = process.status === "running";
  return (
    <section className="pane proc-pane" aria-label={`Process ${visibleLine(process.id)}`}>
      <Link className="back" href={pathTo("processes")}>
        <Icon name="right" /> All processes
      </Link>
      <header className="proc-head">
        <Glyph icon="t-term" big />
        <div className="grow">
          <Code wrap label="Command">
            {visible(process.command)}
          </Code>
          <div className="chips">
            <ProcessStatus process={process} pill />
            <Chip>{ranFor(process, now)}</Chip>
            {process.pid !== null && <Chip mono>pid {process.pid}</Chip>}
            <Chip>{visibleLine(process.environment)}</Chip>
            <Chip title={visibleLine(process.cwd)} mono>
              {visibleLine(process.cwd)}
            </Chip>
            <Chip>{bytes(process.output_bytes)} printed</Chip>
            {process.pty && <Chip>terminal</Chip>}
            {process.handed_off && <Chip>runs on after the server</Chip>}
          </div>
          {process.lost !== null && <p className="about">{visible(process.lost)}</p>}
        </div>
        <div className="end">
          <CopyOutput id={process.id} />
          {isRunning && <Kill id={process.id} />}
        </div>
      </header>
      <div className="proc-term">
        <LiveOutput process={process} />
      </div>
      {isRunning && <Write process={process} />}
    </section>
  );
}

function Kill({ id }: { readonly id: string }) {
  const queries = useQueryClient();
  const kill = useMutation({
    mutationFn: () => post<ProcessKilled>("/v1/processes/kill", { id }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["processes"] }),
  });
  const survivors = kill.data?.survivors.length ?? 0;
  return (
    <>
      <Button icon="stop" busy={kill.isPending} onClick={() => kill.mutate()}>
        Kill
      </Button>
      {kill.error !== null && (
        <p className="bad-text" role="alert">
          {visible(kill.error.message)}{" "}
          {kill.error instanceof ApiError && kill.error.hint !== undefined && visible(kill.error.hint)}
        </p>
      )}
      {survivors > 0 && (
        <p className="bad-text" role="alert">
          {plural(survivors, "process", "processes")} could not be ended.
        </p>
      )}
    </>
  );
}

function CopyOutput({ id }: { readonly id: string }) {
  const copy = useMutation({
    mutationFn: async () => navigator.clipboard.writeText(await lastLines(id)),
  });
  return (
    <Button
      look="plain"
      icon={copy.isSuccess ? "check" : "copy"}
      busy={copy.isPending}
      onClick={() => copy.mutate()}
    >
      {copy.isSuccess ? "Copied" : "Copy output"}
    </Button>
  );
}

/** A line for the program; it is a call of the tool `process`, so the rules have their say. */
function Write({ process }: { readonly process: ProcessAnswer }) {
  const [text, setText] = useState("");
  const write = useMutation({
    mutationFn: async (given: { readonly data: string; readonly submit: boolean }) => {
      const result = await post<CallResult>("/v1/processes/input", { id: process.id, ...given });
      if (!result.ok) throw new Error(result.error?.message ?? "It was not taken.");
    },
    onSuccess: () => setText(""),
  });
  return (
    <form
      className="write"
      onSubmit={(event) => {
        event.preventDefault();
        write.mutate({ data: text, submit: true });
      }}
    >
      <Icon name="right" />
      <input
        className="in"
        aria-label="Write to the process"
        placeholder="Write a line to it"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" keys="⏎" busy={write.isPending} onClick={() => undefined}>
        Write
      </Button>
      {process.pty && (
        <Button onClick={() => write.mutate({ data: "\u0003", submit: false })} title="Send Ctrl C">
          Ctrl C
        </Button>
      )}
      {write.error !== null && (
        <p className="bad-text" role="alert">
          {visible(write.error.message)}
        </p>
      )}
    </form>
  );
}
