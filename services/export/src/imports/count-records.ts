const [QUOTE, NEWLINE] = [0x22, 0x0a];

/** Counts line ends outside quotes: those of records. A quoted quote closes and opens the cell again, which counts nothing. */
export function countRecords(
  data: Uint8Array,
  before: { readonly records: bigint; readonly inQuotes: boolean },
): { readonly records: bigint; readonly inQuotes: boolean } {
  let { inQuotes } = before;
  let ends = 0;
  for (let at = 0; at < data.length; at += 1) {
    if (data[at] === QUOTE) inQuotes = !inQuotes;
    else if (data[at] === NEWLINE && !inQuotes) ends += 1;
  }
  return { records: before.records + BigInt(ends), inQuotes };
}
