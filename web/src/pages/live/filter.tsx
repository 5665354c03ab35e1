import { useEffect, useState } from "react";
import { setQuery, usePlace } from "../../router.js";
import { FilterField } from "../../ui/controls.js";
import { FIELDS, parseTyped } from "./filters.js";

const TYPING_MS = 250;

/** What is typed is searched for a moment later; `tool:NAME` becomes a filter of its own. */
export function Filter() {
  const { query } = usePlace();
  const [typed, setTyped] = useState(query.q ?? "");
  // Back and forward change the address; the field follows.
  useEffect(() => setTyped((now) => (now.trim() === (query.q ?? "") ? now : (query.q ?? ""))), [query.q]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const q = typed.trim() === "" ? undefined : typed.trim();
      setQuery({ q });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const tokens = FIELDS.flatMap((name) => {
    const value = query[name];
    return value === undefined
      ? []
      : [{ key: name, text: `${name}: ${value}`, onRemove: () => setQuery({ [name]: undefined }) }];
  });
  return (
    <div className="filters">
      <FilterField
        label="Filter calls"
        placeholder="tool:name, session:id, text …"
        value={typed}
        tokens={tokens}
        onChange={(value) => {
          const { q, fields } = parseTyped(value);
          if (Object.keys(fields).length > 0) setQuery(fields);
          setTyped(q);
        }}
      />
    </div>
  );
}
