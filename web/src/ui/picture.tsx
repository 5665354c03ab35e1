import { useEffect, useState } from "react";
import { bytes } from "../lib/format.js";

const KINDS = /^(?:image|audio)\/[\w.+-]+$/;

/** A picture that came inside an answer. The policy of the page shows blobs only. */
export function Picture(props: {
  readonly data: string;
  readonly mimeType: string;
  readonly label?: string;
}) {
  const { address, size } = useBlob(props);
  const [pixels, setPixels] = useState("");
  if (address === undefined) return <p className="about">This picture could not be read.</p>;
  return (
    <figure className="picture">
      <a href={address} target="_blank" rel="noreferrer" title="Open in its own tab">
        <img
          src={address}
          alt={props.label ?? "Picture from the tool"}
          onLoad={({ currentTarget }) =>
            setPixels(`${currentTarget.naturalWidth} × ${currentTarget.naturalHeight} · `)
          }
        />
      </a>
      <figcaption>
        {pixels}
        {props.mimeType.replace(/^image\//, "")} · {bytes(size)}
      </figcaption>
    </figure>
  );
}

export function Sound(props: { readonly data: string; readonly mimeType: string }) {
  const { address } = useBlob(props);
  return address === undefined ? null : <audio controls src={address} />;
}

function useBlob({ data, mimeType }: { readonly data: string; readonly mimeType: string }) {
  const [made, setMade] = useState<{ readonly address?: string; readonly size: number }>({ size: 0 });
  useEffect(() => {
    const blob = blobOf(data, mimeType);
    if (blob === undefined) return setMade({ size: 0 });
    const address = URL.createObjectURL(blob);
    setMade({ address, size: blob.size });
    return () => URL.revokeObjectURL(address);
  }, [data, mimeType]);
  return made;
}

function blobOf(data: string, mimeType: string): Blob | undefined {
  if (!KINDS.test(mimeType)) return undefined;
  try {
    return new Blob([Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0))], { type: mimeType });
  } catch {
    return undefined;
  }
}
