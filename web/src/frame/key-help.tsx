import { setPreferences, usePreferences } from "../lib/settings.js";
import { PAGES } from "../pages/index.js";
import { IconButton } from "../ui/button.js";
import { Checkbox } from "../ui/controls.js";
import { Modal } from "../ui/modal.js";

const KEYS: readonly (readonly [title: string, keys: readonly (readonly [keys: string, does: string])[]])[] =
  [
    [
      "Everywhere",
      [
        ["Ctrl K", "Search or run"],
        ["/", "Filter"],
        ["?", "This help"],
        ["Esc", "Close"],
      ],
    ],
    [
      "Live",
      [
        ["j k", "Next and previous call"],
        ["Enter", "Open"],
        ["Space", "Pause and go on"],
        ["r", "Run again"],
        ["c", "Copy as command"],
      ],
    ],
    [
      "Approvals",
      [
        ["o", "Once"],
        ["s", "Session"],
        ["a", "Always …"],
        ["d", "Deny"],
        ["j k", "Next and previous question"],
      ],
    ],
  ];

export function KeyHelp(props: { readonly onClose: () => void }) {
  const { singleKeys } = usePreferences();
  const pages = ["Go to", PAGES.map(({ key, title }) => [`g ${key}`, title] as const)] as const;
  return (
    <Modal label="Keys" onClose={props.onClose} className="keys">
      <header className="modal-head">
        <h2>Keys</h2>
        <IconButton icon="close" label="Close" onClick={props.onClose} />
      </header>
      <div className="key-groups">
        {[...KEYS, pages].map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    {key.split(" ").map((one) => (
                      <kbd key={one}>{one}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <footer className="modal-foot">
        <Checkbox checked={singleKeys} onChange={(on) => setPreferences({ singleKeys: on })}>
          Single keys do something. Off: only Ctrl K, Esc and what has focus.
        </Checkbox>
      </footer>
    </Modal>
  );
}
