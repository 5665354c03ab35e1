import { useState } from "react";

export interface Row<Value> {
  readonly id: number;
  readonly value: Value;
}

/** Rows that keep their identity while they are typed in; the form hears of every change. */
export function useRows<Value>(first: readonly Value[], onChange: (values: readonly Value[]) => void) {
  const [rows, setRows] = useState<readonly Row<Value>[]>(() => first.map((value, id) => ({ id, value })));
  const take = (next: readonly Row<Value>[]) => {
    setRows(next);
    onChange(next.map(({ value }) => value));
  };
  return {
    rows,
    add: (value: Value) => take([...rows, { id: 1 + Math.max(-1, ...rows.map(({ id }) => id)), value }]),
    remove: (id: number) => take(rows.filter((row) => row.id !== id)),
    set: (id: number, value: Value) => take(rows.map((row) => (row.id === id ? { id, value } : row))),
  };
}
