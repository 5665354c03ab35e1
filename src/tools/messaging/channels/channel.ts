import type { Effect } from "../../../tool/effects.js";
import type { CallContext } from "../../../tool/tool.js";
import type { Attached } from "../attachments.js";

export interface OutgoingMessage {
  /** What stands behind the colon of the target. */
  readonly address: string;
  readonly text: string;
  readonly subject?: string | undefined;
  /** Full paths, before anything is read. */
  readonly files?: readonly string[] | undefined;
  /** The same, read. */
  readonly attachments?: readonly Attached[] | undefined;
}

export interface Delivery {
  /** Whom the message reached, in words a person knows them by. */
  readonly reached: readonly string[];
  readonly message_id: string;
  /** What the other side said when it took the message. */
  readonly receipt: string;
  readonly note?: string | undefined;
}

export interface KnownTarget {
  readonly target: string;
  readonly about: string;
}

/** A way to reach somebody; targets are written `NAME:ADDRESS`. A new way is a file here and an entry in `CHANNELS`. */
export interface Channel {
  readonly name: string;
  /** Pure, before anything is sent. Empty when the address can lead nowhere: then `send` must refuse it. */
  effects(message: OutgoingMessage): readonly Effect[];
  /** Who can be reached with what the operator has configured. */
  targets(ctx: CallContext): readonly KnownTarget[] | Promise<readonly KnownTarget[]>;
  /** Undefined when there is nobody of that address: it is never guessed who else might be meant. */
  send(message: OutgoingMessage, ctx: CallContext): Promise<Delivery | undefined>;
}
