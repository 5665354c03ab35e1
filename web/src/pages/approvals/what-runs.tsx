import { useState } from "react";
import type { ApprovalAnswer } from "../../api/types.js";
import { plural, sentence } from "../../lib/format.js";
import { visibleLine } from "../../lib/visible.js";
import { IconButton } from "../../ui/button.js";
import { Exact } from "../../ui/exact.js";
import { Icon } from "../../ui/icon.js";
import { Status, type Tone } from "../../ui/status.js";
import { type Piece, piecesOf } from "./pieces.js";

const TONES: Readonly<Record<string, Tone>> = { safe: "ok", danger: "asked", hardline: "denied" };

/** The folder, then each part with its verdict. */
export function WhatRuns({ question }: { readonly question: ApprovalAnswer }) {
  const [every, setEvery] = useState(false);
  const [copied, setCopied] = useState(false);
  const pieces = piecesOf(question);
  const copy = async () => {
    await navigator.clipboard.writeText(
      pieces.map((piece) => piece.text + (piece.kind === "segment" ? piece.after : "\n")).join(""),
    );
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <div className="cmd">
      <div className="cap">
        <Icon name="folder" size="s" />
        <span className="mono cut" title={question.cwd}>
          {visibleLine(question.cwd)}
        </span>
        <span className="end">
          {question.segments.length > 0 && <span>{plural(question.segments.length, "command")}</span>}
          <IconButton
            icon="eye"
            label="Show every sign"
            aria-pressed={every}
            onClick={() => setEvery(!every)}
          />
          <IconButton
            icon={copied ? "check" : "copy"}
            label={copied ? "Copied" : "Copy"}
            onClick={() => void copy()}
          />
        </span>
      </div>
      <ol>
        {pieces.map((piece, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
          <PieceRow key={index} piece={piece} every={every} />
        ))}
      </ol>
    </div>
  );
}

function PieceRow({ piece, every }: { readonly piece: Piece; readonly every: boolean }) {
  if (piece.kind === "argument")
    return (
      <li className="segm">
        <span className="arg-name mono cut">{visibleLine(piece.name)}</span>
        <code>
          <Exact text={piece.text} every={every} />
        </code>
      </li>
    );
  const { verdict, reason, rule } = piece.segment;
  const isDanger = verdict !== "safe";
  return (
    <li className={isDanger ? "segm danger" : "segm"} data-st={TONES[verdict]}>
      <Status tone={TONES[verdict] ?? "unknown"} word={verdict} calm />
      <code>
        {isDanger ? (
          <mark>
            <Exact text={piece.text} every={every} />
          </mark>
        ) : (
          <Exact text={piece.text} every={every} />
        )}
        <span className="op">
          <Exact text={piece.after} every={every} />
        </span>
      </code>
      {isDanger && (
        <span className="note">
          <Exact text={sentence(reason)} />
          {rule !== "" && (
            <>
              {" "}
              Rule <code>{visibleLine(rule)}</code>
            </>
          )}
        </span>
      )}
    </li>
  );
}
