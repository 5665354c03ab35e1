import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { approvalsQuery, infoQuery, processesQuery, sourcesQuery } from "../api/queries.js";
import { useKeys } from "../lib/keys.js";
import { switchTheme } from "../lib/settings.js";
import { GROUPS, PAGES, type PageEntry } from "../pages/index.js";
import { rowsOf } from "../pages/sources/rows.js";
import { go, pathTo, usePlace } from "../router.js";
import { Count } from "../ui/bits.js";
import { Button, IconButton } from "../ui/button.js";
import { Icon } from "../ui/icon.js";
import { Link } from "../ui/link.js";
import { Modal } from "../ui/modal.js";
import { useGoKeys } from "./go-keys.js";
import { KeyHelp } from "./key-help.js";
import { Palette } from "./palette.js";

const TABS = ["live", "approvals", "chat", "tools"];
const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

/** Everything around the page: the ways to all pages, the palette, the keys. */
export function Frame(props: { readonly children: ReactNode }) {
  const { page } = usePlace();
  const [shown, setShown] = useState<"palette" | "keys" | "more">();
  const open = useQuery(approvalsQuery).data?.length ?? 0;
  const title = PAGES.find(({ id }) => id === page)?.title ?? "Hermes Tools";
  const close = () => setShown(undefined);
  useGoKeys({ onPalette: () => setShown("palette") });
  useKeys({
    "?": () => setShown("keys"),
    "/": () => document.querySelector<HTMLInputElement>("[data-filter]")?.focus(),
  });
  const link = (entry: PageEntry) => (
    <Link
      key={entry.id}
      href={pathTo(entry.id)}
      aria-current={entry.id === page ? "page" : undefined}
      title={entry.title}
      onClick={close}
    >
      <Icon name={entry.icon} />
      <span>{entry.title}</span>
      {entry.id === "approvals" && open > 0 && <Count value={open} call meaning="need you" />}
      {entry.id === "sources" && <Trouble />}
      {entry.id === "processes" && <Running />}
    </Link>
  );
  return (
    <>
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to content
      </a>
      <div className="app">
        <header className="topbar">
          <Logo />
          <b>{title}</b>
          <span className="end">
            <IconButton icon="search" label="Search and commands" onClick={() => setShown("palette")} />
            <IconButton icon="theme" label="Switch theme" onClick={switchTheme} />
          </span>
        </header>
        <aside className="side" aria-label="Sidebar">
          <div className="brand">
            <Logo />
            <span>Hermes Tools</span>
          </div>
          <button type="button" className="finder" onClick={() => setShown("palette")}>
            <Icon name="search" />
            <span>Search</span>
            <kbd aria-hidden="true">{IS_APPLE ? "⌘K" : "Ctrl K"}</kbd>
          </button>
          <nav className="nav" aria-label="Pages">
            {GROUPS.map((group) => (
              <div key={group}>
                <h2>{group}</h2>
                {PAGES.filter((entry) => entry.group === group).map(link)}
              </div>
            ))}
          </nav>
          <Foot />
        </aside>
        {props.children}
        <nav className="tabbar" aria-label="Main pages">
          {PAGES.filter(({ id }) => TABS.includes(id)).map(link)}
          <button
            type="button"
            aria-current={TABS.includes(page) ? undefined : "page"}
            aria-expanded={shown === "more"}
            onClick={() => setShown("more")}
          >
            <Icon name="more" />
            <span>More</span>
          </button>
        </nav>
      </div>
      {shown === "palette" && <Palette onClose={close} onKeys={() => setShown("keys")} />}
      {shown === "keys" && <KeyHelp onClose={close} />}
      {shown === "more" && (
        <Modal label="All pages" onClose={close} sheet>
          <ul className="more-pages">
            {PAGES.filter(({ id }) => !TABS.includes(id)).map((entry) => (
              <li key={entry.id}>
                <Button
                  look="plain"
                  icon={entry.icon}
                  onClick={() => {
                    close();
                    go(pathTo(entry.id));
                  }}
                >
                  {entry.title}
                </Button>
              </li>
            ))}
          </ul>
        </Modal>
      )}
    </>
  );
}

/** Sources that somebody has to do something about. */
function Trouble() {
  const { data } = useQuery(sourcesQuery);
  const many = data === undefined ? 0 : rowsOf(data).filter((row) => row.needsYou).length;
  return many === 0 ? null : <Count value={many} meaning="in trouble" />;
}

function Running() {
  const many = useQuery(processesQuery).data?.filter(({ status }) => status === "running").length ?? 0;
  return many === 0 ? null : <Count value={many} meaning="in the background" />;
}

function Foot() {
  const { data: info } = useQuery(infoQuery);
  return (
    <div className="foot">
      <dl title={info === undefined ? undefined : `Hermes Tools ${info.version}`}>
        <div>
          <dt>Profile</dt>
          <dd className="cut">{info?.profile ?? "–"}</dd>
        </div>
        <div>
          <dt>Mode</dt>
          <dd className="cut">{info?.mode ?? "–"}</dd>
        </div>
      </dl>
      <IconButton icon="theme" label="Switch theme" onClick={switchTheme} />
    </div>
  );
}

function Logo() {
  return (
    <svg className="logo" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="7" />
      <path d="M7.5 6.5v11M16.5 6.5v11M7.5 13.5c3.6 0 6.8-1 9-3.5" />
    </svg>
  );
}
