import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { visibleLine } from "../../lib/visible.js";
import { Button, IconButton } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { Picture as Shown } from "../../ui/picture.js";
import type { Conversation, ConversationState } from "./conversation.js";
import type { Picture } from "./items.js";

const TALLEST_PX = 240;

/** Where one writes: Enter sends, and while a turn runs it steers it or waits for its end. */
export function Composer(props: { readonly conversation: Conversation; readonly state: ConversationState }) {
  const { conversation, state } = props;
  const [text, setText] = useState("");
  const [images, setImages] = useState<readonly Picture[]>([]);
  const box = useRef<HTMLTextAreaElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const isRunning = state.running === "here";
  const isEmpty = text.trim() === "" && images.length === 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it grows with what stands in it
  useEffect(() => {
    const area = box.current;
    if (area === null) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(TALLEST_PX, area.scrollHeight)}px`;
  }, [text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation begins with an open field
  useEffect(() => box.current?.focus({ preventScroll: true }), [conversation]);
  const clear = () => {
    setText("");
    setImages([]);
  };
  const send = () => {
    if (isEmpty) return;
    conversation.say({ text: text.trim(), images });
    clear();
  };
  const steer = () => {
    if (text.trim() === "") return;
    void conversation.steer(text.trim());
    clear();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && isRunning) {
      event.preventDefault();
      void conversation.stop();
    }
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (isRunning && !event.altKey) steer();
    else send();
  };
  const take = async (files: Iterable<File>) => {
    const pictures = await Promise.all([...files].filter(({ type }) => type.startsWith("image/")).map(read));
    if (pictures.length > 0) setImages((before) => [...before, ...pictures]);
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    void take(event.clipboardData.files);
  };
  return (
    <div className="compose">
      {state.queued.length > 0 && (
        <ul className="queued" aria-label="Waits for the end of this turn">
          {state.queued.map((said, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: what waits has a place, no name
            <li key={index}>
              <Icon name="s-timeout" size="s" />
              <span className="cut grow">{visibleLine(said.text)}</span>
              <IconButton icon="close" label="Do not send" onClick={() => conversation.unqueue(index)} />
            </li>
          ))}
        </ul>
      )}
      <div className="pad">
        {images.length > 0 && (
          <div className="attached">
            {images.map((image, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a picture is its place
              <div key={index}>
                <Shown {...image} label={`Picture ${index + 1} to send`} />
                <IconButton
                  icon="close"
                  label={`Remove picture ${index + 1}`}
                  onClick={() => setImages(images.filter((_, at) => at !== index))}
                />
              </div>
            ))}
          </div>
        )}
        <textarea
          ref={box}
          rows={1}
          aria-label="Message"
          placeholder={isRunning ? "Steer it, or queue the next message" : "Write a message"}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div className="tools">
          <input
            ref={file}
            type="file"
            accept="image/*"
            multiple
            hidden
            onChange={({ target }) => {
              void take(target.files ?? []);
              target.value = "";
            }}
          />
          <IconButton icon="clip" label="Attach a picture" onClick={() => file.current?.click()} />
          <span className="cut model">{state.model ?? ""}</span>
          <span className="grow" />
          {isRunning ? (
            <>
              {!isEmpty && (
                <>
                  <Button onClick={send} keys="Alt ⏎">
                    Queue
                  </Button>
                  <Button onClick={steer} keys="⏎">
                    Steer
                  </Button>
                </>
              )}
              <Button
                look="ink"
                icon="stop"
                keys="Esc"
                busy={state.stopping}
                onClick={() => void conversation.stop()}
              >
                Stop
              </Button>
            </>
          ) : (
            <Button
              look="ink"
              icon="send"
              disabledBecause={isEmpty ? "Write something first" : undefined}
              onClick={send}
            >
              Send
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}

async function read(file: File): Promise<Picture> {
  const whole = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of whole) text += String.fromCharCode(byte);
  return { data: btoa(text), mimeType: file.type };
}
