import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { post } from "../../api/client.js";
import type { Setting, SettingChanged } from "../../api/types.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { Button } from "../../ui/button.js";
import { Notice } from "../../ui/notice.js";
import { OriginChip } from "./origin.js";
import { choicesOf, kindOf, readValue, shortText, textOf } from "./values.js";

/** One setting: what it is, what it is set to, who set it. Nothing is written before Save. */
export function SettingRow({ setting }: { readonly setting: Setting }) {
  const id = useId();
  const client = useQueryClient();
  const kind = kindOf(setting);
  const now = textOf(kind, setting.value);
  const [draft, setDraft] = useState<string>();
  const text = draft ?? now;
  const isChanged = draft !== undefined && draft !== now;
  const read = readValue(kind, text);
  const problem = isChanged && "problem" in read ? read.problem : undefined;
  const save = useMutation({
    mutationFn: (value: unknown) => post<SettingChanged>("/v1/settings", { key: setting.key, value }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["settings"] });
      void client.invalidateQueries({ queryKey: ["info"] });
      setDraft(undefined);
    },
  });
  const send = () => {
    if (isChanged && "value" in read) save.mutate(read.value);
  };
  const change = (next: string) => {
    save.reset();
    setDraft(next);
  };
  const common = {
    id,
    "aria-describedby": `${id}-about`,
    "aria-invalid": problem !== undefined || undefined,
  } as const;
  const isOneLine = kind !== "list" && kind !== "json";
  const defaultText = textOf(kind, setting.default);
  const isDefault = setting.origin.source === "default";
  return (
    <form
      className={isChanged ? "setting changed" : "setting"}
      aria-label={setting.key}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape" && draft !== undefined) setDraft(undefined);
        if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) send();
      }}
    >
      <div className="about-it">
        <label htmlFor={id}>
          <code>{visibleLine(setting.key)}</code>
        </label>
        <p id={`${id}-about`} className="soft">
          <Prose text={setting.description} />
        </p>
      </div>
      <div className="value">
        {kind === "boolean" ? (
          <select
            {...common}
            className="select"
            value={text}
            onChange={(event) => change(event.target.value)}
          >
            <option value="true">on</option>
            <option value="false">off</option>
          </select>
        ) : kind === "enum" ? (
          <select
            {...common}
            className="select"
            value={text}
            onChange={(event) => change(event.target.value)}
          >
            {!choicesOf(setting).includes(text) && (
              <option value={text}>{text === "" ? "not set" : text}</option>
            )}
            {choicesOf(setting).map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        ) : isOneLine ? (
          <input
            {...common}
            className="in"
            type={kind === "secret" ? "password" : kind === "number" ? "number" : "text"}
            step="any"
            autoComplete="off"
            spellCheck={false}
            placeholder={
              kind === "secret"
                ? setting.set === true
                  ? "set; type to replace it"
                  : "not set"
                : defaultText === ""
                  ? "not set"
                  : defaultText
            }
            value={text}
            onChange={(event) => change(event.target.value)}
          />
        ) : (
          <textarea
            {...common}
            className="in"
            rows={Math.min(12, Math.max(kind === "json" ? 3 : 2, text.split("\n").length))}
            spellCheck={false}
            placeholder={kind === "list" ? "one per line" : "{}"}
            value={text}
            onChange={(event) => change(event.target.value)}
          />
        )}
        <div className="origin">
          <OriginChip origin={setting.origin} />
          {!isDefault && setting.secret !== true && (
            <span className="quiet">default {visibleLine(shortText(setting.default))}</span>
          )}
        </div>
        {problem !== undefined && <Notice error={problem} />}
        {isChanged && (
          <div className="actions">
            <Button look="ink" type="submit" busy={save.isPending} disabledBecause={problem}>
              Save
            </Button>
            <Button look="plain" onClick={() => setDraft(undefined)}>
              Discard
            </Button>
          </div>
        )}
        <Notice error={save.error}>
          {save.data !== undefined &&
            !isChanged &&
            (save.data.note === undefined ? "Saved and in force." : `Saved. ${visibleLine(save.data.note)}`)}
        </Notice>
      </div>
    </form>
  );
}

/** Names in backticks are set as code. */
function Prose({ text }: { readonly text: string }) {
  return visible(text)
    .split("`")
    .map((part, index) =>
      // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
      index % 2 === 1 ? <code key={index}>{part}</code> : part,
    );
}
