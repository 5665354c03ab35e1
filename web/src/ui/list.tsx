import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from "react";

export interface ListColumn<Row> {
  readonly key: string;
  readonly title: string;
  /** `num` stands to the right, `wide` leaves first when the list gets narrow. */
  readonly className?: string;
  readonly cell: (row: Row) => ReactNode;
}

export interface ListHandle {
  scrollToTop(): void;
}

export interface ListProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly ListColumn<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Names the grid of columns in CSS: `.lrow.NAME`. */
  readonly layout: string;
  readonly selected?: string | undefined;
  readonly onOpen: (row: Row) => void;
  readonly levelOf?: (row: Row) => number;
  /** Undefined for rows without children. */
  readonly isOpen?: (row: Row) => boolean | undefined;
  readonly onToggle?: (row: Row) => void;
  readonly toneOf?: (row: Row) => string | undefined;
  /** Called when the end comes near. */
  readonly onEnd?: () => void;
  readonly onScrolledToTop?: (isAtTop: boolean) => void;
  readonly handle?: RefObject<ListHandle | null>;
  readonly end?: ReactNode;
  /** Of rows with two lines also where there is room; 34 px when left out. */
  readonly rowHeight?: number;
}

const NARROW = matchMedia("(max-width: 720px)");
const rowHeightOf = (wide = 34) => (NARROW.matches ? Math.max(58, wide) : wide);
const NEAR_END = 20;

/**
 * A list of any length: only the rows in view exist. One tab stop; arrows move, left and right fold and unfold, Enter
 * opens. Rows keep their place when others come in above, because the list is anchored on keys, not on positions.
 */
export function List<Row>(props: ListProps<Row>) {
  const { rows, columns, keyOf } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string>();
  const rowHeight = () => rowHeightOf(props.rowHeight);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: rowHeight,
    overscan: 12,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
  });
  useEffect(() => {
    const changed = () => virtual.measure();
    NARROW.addEventListener("change", changed);
    return () => NARROW.removeEventListener("change", changed);
  }, [virtual]);
  useImperativeHandle(
    props.handle,
    () => ({ scrollToTop: () => void scroller.current?.scrollTo({ top: 0 }) }),
    [],
  );

  const focusedAt = rows.findIndex((row) => keyOf(row) === (focused ?? props.selected));
  const current = Math.max(0, focusedAt);
  const moveTo = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (row === undefined) return;
    const key = keyOf(row);
    setFocused(key);
    virtual.scrollToIndex(rows.indexOf(row), { align: "auto" });
    // The row may only come to be with the next frames.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        scroller.current
          ?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)
          ?.focus({ preventScroll: true }),
      ),
    );
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.target.getAttribute("role") !== "row") return;
    const row = rows[current];
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 340) / rowHeight()) - 1);
    const steps: Readonly<Record<string, () => void>> = {
      ArrowDown: () => moveTo(current + 1),
      ArrowUp: () => moveTo(current - 1),
      PageDown: () => moveTo(current + page),
      PageUp: () => moveTo(current - page),
      Home: () => moveTo(0),
      End: () => moveTo(rows.length - 1),
      Enter: () => row !== undefined && props.onOpen(row),
      ArrowRight: () => row !== undefined && props.isOpen?.(row) === false && props.onToggle?.(row),
      ArrowLeft: () => row !== undefined && props.isOpen?.(row) === true && props.onToggle?.(row),
    };
    const step = steps[event.key];
    if (step === undefined || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    step();
  };

  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  const { onEnd } = props;
  useEffect(() => {
    if (rows.length > 0 && lastShown >= rows.length - NEAR_END) onEnd?.();
  }, [lastShown, rows.length, onEnd]);

  return (
    <div
      ref={scroller}
      className="grid"
      role="treegrid"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      onKeyDown={onKeyDown}
      onScroll={(event) => props.onScrolledToTop?.(event.currentTarget.scrollTop < 4)}
    >
      <div className={`lrow head ${props.layout}`} role="row" aria-rowindex={1}>
        {columns.map((column) => (
          <span key={column.key} role="columnheader" className={column.className}>
            {column.title}
          </span>
        ))}
      </div>
      <div role="rowgroup" className="virtual" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          const key = keyOf(row);
          const open = props.isOpen?.(row);
          const level = props.levelOf?.(row) ?? 1;
          return (
            <div
              key={key}
              data-key={key}
              data-level={Math.min(level, 4)}
              data-st={props.toneOf?.(row)}
              className={`lrow ${props.layout}`}
              role="row"
              aria-rowindex={item.index + 2}
              aria-level={level}
              aria-expanded={open}
              aria-selected={key === props.selected}
              tabIndex={item.index === current ? 0 : -1}
              style={{ transform: `translateY(${item.start}px)`, height: item.size }}
              onFocus={() => setFocused(key)}
              onClick={() => props.onOpen(row)}
            >
              {columns.map((column) => (
                <span key={column.key} role="gridcell" className={column.className}>
                  {column.cell(row)}
                </span>
              ))}
            </div>
          );
        })}
      </div>
      {props.end}
    </div>
  );
}
