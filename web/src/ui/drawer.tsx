import { type ReactNode, useEffect, useRef } from "react";
import { IconButton } from "./button.js";

/** Beside the list, or over it where there is no room; never modal, so the list stays usable. */
export function Drawer(props: {
  readonly label: string;
  readonly crumbs: ReactNode;
  readonly head: ReactNode;
  readonly onClose: () => void;
  readonly onStep?: (step: 1 | -1) => void;
  readonly children: ReactNode;
  /** Changes with what is shown: the scroll begins anew. */
  readonly of: string;
}) {
  const body = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another thing begins at its top
  useEffect(() => {
    void body.current?.scrollTo({ top: 0 });
  }, [props.of]);
  return (
    <aside className="drawer" aria-label={props.label}>
      <header>
        <div className="crumb">
          {props.crumbs}
          <span className="grow" />
          {props.onStep !== undefined && (
            <>
              <IconButton className="step" icon="up" label="Previous" onClick={() => props.onStep?.(-1)} />
              <IconButton className="step" icon="down" label="Next" onClick={() => props.onStep?.(1)} />
            </>
          )}
          <IconButton icon="close" label="Close" onClick={props.onClose} />
        </div>
        {props.head}
      </header>
      <div className="scroll" ref={body} tabIndex={0} role="group" aria-label="Details">
        {props.children}
      </div>
    </aside>
  );
}

/** One part of a drawer. */
export function Section(props: {
  readonly title: string;
  readonly end?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="sect" aria-label={props.title}>
      <h3>
        {props.title} {props.end !== undefined && <span className="end">{props.end}</span>}
      </h3>
      {props.children}
    </section>
  );
}
