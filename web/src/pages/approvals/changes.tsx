import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { get, post } from "../../api/client.js";
import type { ChangesAnswer } from "../../api/types.js";
import { plural } from "../../lib/format.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { Button } from "../../ui/button.js";
import { Strip } from "../../ui/states.js";

/** Settings and code that changed while the server runs, and are not in force before a person says so. */
export function HeldChanges({ mayNot }: { readonly mayNot: string | undefined }) {
  const queryClient = useQueryClient();
  const held = useQuery({
    queryKey: ["changes"],
    queryFn: ({ signal }) => get<ChangesAnswer>("/v1/changes", { signal }),
  });
  const take = useMutation({
    mutationFn: (changes: ChangesAnswer["changes"]) => post<ChangesAnswer>("/v1/changes", { changes }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["changes"] }),
  });
  const changes = held.data?.changes ?? [];
  if (changes.length === 0) return null;
  return (
    <Strip
      tone="asked"
      icon="s-asked"
      action={
        <Button busy={take.isPending} disabledBecause={mayNot} onClick={() => take.mutate(changes)}>
          Take up
        </Button>
      }
    >
      <b>{plural(changes.length, "file")} changed, and not in force:</b>{" "}
      {changes.map(({ path }) => visibleLine(path)).join(", ")}
      {take.isError && <> {visible(take.error.message)}</>}
    </Strip>
  );
}
