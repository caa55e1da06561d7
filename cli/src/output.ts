/** `1 row`, `2 rows`. */
export const countOf = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Aligns columns to their widest cell. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): string {
  const lines = [head, ...rows.map((row) => row.map((cell) => cell ?? "–"))];
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The fields of an object, one per line, without absent ones. */
export function formatFields(fields: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${formatValue(value)}`).join("\n");
}

const formatValue = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);
