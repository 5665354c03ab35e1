import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { get, post } from "../../api/client.js";
import type { SourceLogin } from "../../api/types.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { Code, CopyButton } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Field } from "../../ui/controls.js";
import { Icon } from "../../ui/icon.js";
import { Notice } from "../../ui/notice.js";
import type { SourceRow } from "./rows.js";

const LOOK_MS = 1_500;

/** Begins a login at the server and follows it: a page to open, and a way back for browsers that do not find it. */
export function LogIn({ row }: { readonly row: SourceRow }) {
  const queries = useQueryClient();
  const path = `/v1/sources/${encodeURIComponent(row.id)}/login`;
  const begin = useMutation({ mutationFn: () => post<SourceLogin>(path) });
  const isOpen = begin.data?.login === "waiting";
  const look = useQuery({
    queryKey: ["source-login", row.id, begin.submittedAt],
    queryFn: ({ signal }) => get<SourceLogin>(path, { signal }),
    enabled: isOpen,
    refetchInterval: ({ state }) => (state.data?.login === "waiting" ? LOOK_MS : false),
  });
  const state = isOpen ? (look.data ?? begin.data) : begin.data;
  const stands = state?.login;
  useEffect(() => {
    if (stands === "done" || stands === "failed") void queries.invalidateQueries({ queryKey: ["sources"] });
  }, [stands, queries]);
  const [pasted, setPasted] = useState("");
  const answer = useMutation({
    mutationFn: () => post<SourceLogin>(path, { answer: pasted }),
    onSuccess: () => look.refetch(),
  });
  const command = `hermes mcp login ${row.name}`;
  return (
    <section aria-label="Log in">
      <h3>Log in</h3>
      {stands === "waiting" && state?.open !== undefined ? (
        <div className="login-steps">
          <p>
            It asks for a login at <b>{visibleLine(state.at ?? "")}</b>.
          </p>
          <div className="actions">
            <a
              className="btn primary"
              href={safeAddress(state.open)}
              target="_blank"
              rel="noopener noreferrer"
            >
              <Icon name="login" />
              Open the login page
            </a>
            <span className="quiet" role="status">
              Waiting until you have logged in there
            </span>
          </div>
          <form
            className="login-paste"
            onSubmit={(event) => {
              event.preventDefault();
              if (pasted !== "") answer.mutate();
            }}
          >
            <Field
              label="Address the browser ended at"
              description="Only when this browser runs on another machine than Hermes: its last page does not load then."
              value={pasted}
              onChange={(event) => setPasted(event.target.value)}
              spellCheck={false}
            />
            <Button
              type="submit"
              busy={answer.isPending}
              disabledBecause={pasted === "" ? "Paste the address first." : undefined}
            >
              Finish
            </Button>
          </form>
          <Notice error={answer.error} />
        </div>
      ) : (
        <>
          <div className="actions">
            <Button look="ink" icon="login" busy={begin.isPending} onClick={() => begin.mutate()}>
              {stands === "failed" ? "Try again" : "Log in"}
            </Button>
            <span className="quiet">or in a terminal:</span>
            <Code label="Command">{command}</Code>
            <CopyButton look="plain" text={command} />
          </div>
          <Notice
            error={begin.error ?? (stands === "failed" ? visible(state?.why ?? "It failed.") : undefined)}
          >
            {stands === "done" && "Logged in."}
          </Notice>
        </>
      )}
    </section>
  );
}

/** The server has checked it; a page still never follows anything but the web. */
function safeAddress(address: string): string | undefined {
  return /^https?:\/\//.test(address) ? address : undefined;
}
