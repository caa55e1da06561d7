/** The lines that differ, each with its sign: enough to see what changed in a sorted dump. */
export function describeDifference(before: string, after: string): string {
  const old = before.split("\n");
  const fresh = after.split("\n");
  const lengths = commonLengths(old, fresh);
  const lines: string[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      i += 1;
      j += 1;
    } else if (
      j >= fresh.length ||
      (i < old.length && at(lengths, i + 1, j) >= at(lengths, i, j + 1))
    ) {
      lines.push(`- ${old[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${fresh[j]}`);
      j += 1;
    }
  }
  return lines.join("\n");
}

const at = (table: readonly (readonly number[])[], i: number, j: number): number =>
  table[i]?.[j] ?? 0;

/** The number of common lines at the ends of both texts, for each pair of positions. */
function commonLengths(old: readonly string[], fresh: readonly string[]): number[][] {
  const table: number[][] = Array.from({ length: old.length + 1 }, () =>
    Array.from({ length: fresh.length + 1 }, () => 0),
  );
  for (let i = old.length - 1; i >= 0; i -= 1) {
    const row = table[i] ?? [];
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      row[j] =
        old[i] === fresh[j]
          ? at(table, i + 1, j + 1) + 1
          : Math.max(at(table, i + 1, j), at(table, i, j + 1));
    }
  }
  return table;
}
