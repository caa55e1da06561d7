const LF = 0x0a;
const QUOTE = 0x22;

/** Counts the rows below the header of a CSV file. Line breaks within quotes end no row. */
export function countRows() {
  let lines = 0;
  let isQuoted = false;
  const rows = (): number => Math.max(0, lines - 1);
  return {
    rows,
    add(chunk: Uint8Array): number {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      if (isQuoted || bytes.includes(QUOTE)) {
        for (const byte of bytes) {
          if (byte === QUOTE) isQuoted = !isQuoted;
          else if (byte === LF && !isQuoted) lines += 1;
        }
      } else {
        for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) lines += 1;
      }
      return rows();
    },
  };
}
