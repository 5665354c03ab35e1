/** Somebody on a platform. Names are what they call themselves: shown, never compared. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

/** A file somebody sent. It is fetched when the message is worked on, by `Gateway.download`. */
export interface Attachment {
  readonly ref: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes?: number | undefined;
}

export interface IncomingMessage {
  /** The platform's own id: the same when it delivers the message a second time. */
  readonly id: string;
  readonly chat: string;
  readonly person: Person;
  readonly text: string;
  /** Milliseconds since 1970, as the platform says. */
  readonly sentAt: number;
  /** Nobody else reads along: only there is a stranger given a pairing code. */
  readonly isPrivate: boolean;
  readonly attachments?: readonly Attachment[] | undefined;
  /** What the gateway needs to answer this very message (a thread, a subject); given back with each part. */
  readonly replyTo?: string | undefined;
}

export interface ButtonPress {
  readonly chat: string;
  readonly person: Person;
  /** Of the button, as it was sent. */
  readonly data: string;
  /** Of the message that has the button. */
  readonly ref: string;
}

export interface Button {
  readonly label: string;
  /** At most 64 bytes. */
  readonly data: string;
}

/** A file that goes out: a copy, so that what arrives is what was there when it was sent. */
export interface OutgoingFile {
  readonly path: string;
  readonly name: string;
  readonly mimeType: string;
}

/** One message as it goes out: no longer than the platform takes. */
export interface OutgoingPart {
  /** The same when it is sent again after an interruption. */
  readonly id: string;
  readonly chat: string;
  /** Markdown, as models write it. */
  readonly text: string;
  /** The platform has refused the rendered form: send the characters as they are. */
  readonly plain: boolean;
  readonly buttons?: readonly Button[] | undefined;
  /** Alone, without a text. */
  readonly file?: OutgoingFile | undefined;
  /** The message whose text and buttons it takes the place of. */
  readonly replaces?: string | undefined;
  readonly replyTo?: string | undefined;
}

/** What became of a part. `later`: nothing is wrong with it; `plain`: its markup is; `never`: nobody will get it. */
export type SendOutcome =
  | { readonly sent: true; readonly ref: string }
  | {
      readonly sent: false;
      readonly retry: "later" | "plain" | "never";
      /** The platform said how long to wait. */
      readonly afterMs?: number | undefined;
      /** It may have arrived all the same. */
      readonly unsure?: boolean | undefined;
      readonly message: string;
    };

export interface GatewayTraits {
  /** Of one message in its rendered form. */
  readonly maxChars: number;
  /** Least time between two messages to one chat. */
  readonly paceMs: number;
  /** Without a good receive for this long it counts as deaf and is started again; Infinity where silence is normal. */
  readonly silenceMs: number;
  /** Messages of one chat that are answered within an hour: two machines that answer each other do not stop. */
  readonly mostPerHour: number;
  /** Of a file that goes out; 0 where none can. */
  readonly maxFileBytes: number;
  readonly buttons: boolean;
  /** A message that was sent can be changed. */
  readonly edits: boolean;
  /** The platform recognises a part that comes a second time and shows it once. */
  readonly knowsRepeats: boolean;
  /** A person sits there who can be asked; else approvals are those of unattended work. */
  readonly attended: boolean;
  /** Messages come to the server, whichever of several machines that is, and are not fetched. */
  readonly isCalled?: boolean | undefined;
  /** Strangers may be given a pairing code. */
  readonly pairs: boolean;
}

/** Where a gateway hands over what it receives. */
export interface Receiver {
  /** The platform has answered, with or without news. */
  alive(): void;
  /** The last message of each chat of late, for platforms that do not deliver what was said while nobody listened. */
  heard(): readonly { readonly chat: string; readonly id: string }[];
  /** On disk when it resolves: only then may the platform be told that it arrived. */
  message(message: IncomingMessage): Promise<"new" | "known">;
  /** What to tell the person who pressed, at once. */
  press(press: ButtonPress): Promise<string>;
}

/**
 * One platform. It only carries: who may talk, what is answered, in which order and how often it is tried again is decided
 * by the hub, the same for all.
 */
export interface Gateway {
  /** `telegram`, `webhook:build`: in the store, in commands, to people. */
  readonly name: string;
  /** Its toolset is `hermes-PLATFORM`. */
  readonly platform: string;
  readonly traits: GatewayTraits;
  /** Until it is aborted. It rejects when the connection is lost, and is called again later. */
  receive(receiver: Receiver, signal: AbortSignal): Promise<void>;
  /** Never rejects for what a platform may answer. */
  send(part: OutgoingPart, signal: AbortSignal): Promise<SendOutcome>;
  /** As the platform will count it. */
  rendered(text: string): string;
  download?(ref: string, signal: AbortSignal): Promise<Uint8Array>;
  /** The private chat with somebody who may not have written yet; left out where it has the id of the person. */
  privateChat?(person: string, signal: AbortSignal): Promise<string>;
}
