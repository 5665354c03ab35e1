import { writeFileSync } from "node:fs";

/**
 * Writes a GGUF file with a llama of one layer and weights from a fixed row of numbers: it says nothing of sense, but it
 * is loaded, read and asked like any other.
 */
export function writeTinyGguf(path: string): void {
  const tokens = ["<unk>", "<s>", "</s>", ...Array.from({ length: 256 }, (_, byte) => byteToken(byte))];
  const types = tokens.map((_, at) => (at === 0 ? 2 : at < 3 ? 3 : 6));
  const width = 64;
  const fields: readonly Buffer[] = [
    field("general.architecture", text("llama")),
    field("general.name", text("tiny")),
    field("llama.context_length", u32(2_048)),
    field("llama.embedding_length", u32(width)),
    field("llama.block_count", u32(1)),
    field("llama.feed_forward_length", u32(width)),
    field("llama.attention.head_count", u32(2)),
    field("llama.attention.head_count_kv", u32(2)),
    field("llama.attention.layer_norm_rms_epsilon", f32(1e-5)),
    field("llama.rope.dimension_count", u32(width / 2)),
    field("tokenizer.ggml.model", text("llama")),
    field("tokenizer.ggml.tokens", list(8, tokens.map(string))),
    field(
      "tokenizer.ggml.scores",
      list(
        6,
        tokens.map(() => f32(0).value),
      ),
    ),
    field(
      "tokenizer.ggml.token_type",
      list(
        5,
        types.map((type) => u32(type).value),
      ),
    ),
    field("tokenizer.ggml.bos_token_id", u32(1)),
    field("tokenizer.ggml.eos_token_id", u32(2)),
    field("tokenizer.ggml.unknown_token_id", u32(0)),
  ];
  const tensors: readonly Tensor[] = [
    { name: "token_embd.weight", shape: [width, tokens.length] },
    { name: "blk.0.attn_norm.weight", shape: [width] },
    ...["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"].map((name) => ({
      name: `blk.0.${name}.weight`,
      shape: [width, width],
    })),
    { name: "blk.0.ffn_norm.weight", shape: [width] },
    { name: "output_norm.weight", shape: [width] },
    { name: "output.weight", shape: [width, tokens.length] },
  ];
  let offset = 0;
  const infos = tensors.map((tensor) => {
    const at = offset;
    offset = aligned(offset + sizeOf(tensor) * 4);
    return Buffer.concat([
      string(tensor.name),
      u32(tensor.shape.length).value,
      ...tensor.shape.map(u64),
      u32(0).value,
      u64(at),
    ]);
  });
  const head = Buffer.concat([
    Buffer.from("GGUF"),
    u32(3).value,
    u64(tensors.length),
    u64(fields.length),
    ...fields,
    ...infos,
  ]);
  const body = Buffer.alloc(offset);
  let at = 0;
  for (const tensor of tensors) {
    const isNorm = tensor.shape.length === 1;
    for (let index = 0; index < sizeOf(tensor); index++)
      body.writeFloatLE(isNorm ? 1 : weight(at + index), at + index * 4);
    at = aligned(at + sizeOf(tensor) * 4);
  }
  writeFileSync(path, Buffer.concat([head, Buffer.alloc(aligned(head.length) - head.length), body]));
}

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
}

interface Value {
  readonly type: number;
  readonly value: Buffer;
}

function byteToken(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
}

/** Spread between -0.1 and 0.1, the same on every machine. */
function weight(at: number): number {
  return (((at * 2_654_435_761) % 1_000) / 1_000 - 0.5) / 5;
}

function sizeOf({ shape }: Tensor): number {
  return shape.reduce((size, side) => size * side, 1);
}

function aligned(size: number): number {
  return Math.ceil(size / 32) * 32;
}

function field(name: string, { type, value }: Value): Buffer {
  return Buffer.concat([string(name), u32(type).value, value]);
}

function list(type: number, items: readonly Buffer[]): Value {
  return { type: 9, value: Buffer.concat([u32(type).value, u64(items.length), ...items]) };
}

function text(value: string): Value {
  return { type: 8, value: string(value) };
}

function string(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function u32(number: number): Value {
  const value = Buffer.alloc(4);
  value.writeUInt32LE(number);
  return { type: 4, value };
}

function f32(number: number): Value {
  const value = Buffer.alloc(4);
  value.writeFloatLE(number);
  return { type: 6, value };
}

function u64(number: number): Buffer {
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(BigInt(number));
  return value;
}
