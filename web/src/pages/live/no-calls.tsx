import { setQuery } from "../../router.js";
import { Button } from "../../ui/button.js";
import { Empty } from "../../ui/states.js";
import { FIELDS } from "./filters.js";

export function NoCalls(props: { readonly journal: boolean; readonly isFiltered: boolean }) {
  if (!props.journal)
    return (
      <Empty icon="live" title="Calls are not recorded" command="hermes config set journal.enabled true">
        To see them here, keep a journal and start the server again:
      </Empty>
    );
  if (props.isFiltered)
    return (
      <Empty
        icon="filter"
        title="No call matches"
        action={
          <Button
            onClick={() =>
              setQuery({
                status: undefined,
                q: undefined,
                ...Object.fromEntries(FIELDS.map((name) => [name, undefined])),
              })
            }
          >
            Show all calls
          </Button>
        }
      >
        New ones that match show up here the moment they run.
      </Empty>
    );
  return (
    <Empty icon="live" title="No calls yet" command="npx hermes call system_info">
      They show up here the moment one runs. Try one:
    </Empty>
  );
}
