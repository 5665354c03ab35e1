import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { get, post } from "../../api/client.js";
import type { ChangesAnswer } from "../../api/types.js";
import { plural } from "../../lib/format.js";
import { Cut } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { Notice } from "../../ui/notice.js";

/** Files that have changed while the server runs and loosen something: they count once a person says so. */
export function WaitingChanges() {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ["changes"],
    queryFn: ({ signal }) => get<ChangesAnswer>("/v1/changes", { signal }),
  });
  const accept = useMutation({
    mutationFn: (changes: ChangesAnswer["changes"]) => post<ChangesAnswer>("/v1/changes", { changes }),
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: ["changes"] });
      await client.invalidateQueries({ queryKey: ["settings"] });
    },
  });
  const changes = data?.changes ?? [];
  if (changes.length === 0 && accept.data === undefined && !accept.isError) return null;
  return (
    <section className="waiting" data-st="asked" aria-label="Waits for your yes">
      {changes.length > 0 && (
        <>
          <div className="row-flex">
            <Icon name="s-asked" />
            <b className="grow">{`${plural(changes.length, "change")} on disk ${changes.length === 1 ? "waits" : "wait"} for your yes`}</b>
            <Button busy={accept.isPending} onClick={() => accept.mutate(changes)}>
              Take up
            </Button>
          </div>
          <p className="soft">
            Read what has changed first. Until then the server works with what it read before.
          </p>
          <ul>
            {changes.map(({ path }) => (
              <li key={path}>
                <Cut mono text={path} />
              </li>
            ))}
          </ul>
        </>
      )}
      <Notice error={accept.error}>
        {accept.data !== undefined && `${plural(accept.data.changes.length, "change")} taken up.`}
      </Notice>
    </section>
  );
}
