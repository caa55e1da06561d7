import type { DescMethod } from "@bufbuild/protobuf";

/** A message of gRPC begins with a byte of flags and four bytes of its length. */
export const PREFIX_BYTES = 5;
const UNCOMPRESSED = 0;

export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  framed[0] = UNCOMPRESSED;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, PREFIX_BYTES);
  return framed;
}

/** The only message of a body; undefined if the body is anything else than one uncompressed message. */
export function messageIn(chunks: readonly Buffer[]): Buffer | undefined {
  const [first] = chunks;
  const body = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  if (body.length < PREFIX_BYTES || body[0] !== UNCOMPRESSED) return undefined;
  return body.readUInt32BE(1) === body.length - PREFIX_BYTES
    ? body.subarray(PREFIX_BYTES)
    : undefined;
}

export const pathOf = ({ parent, name }: DescMethod): string => `/${parent.typeName}/${name}`;
