/** Formatted as the formatter does it, so that the page passes the format check. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((column, index) =>
    Math.max(3, column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const lines = [columns, widths.map((width) => "-".repeat(width)), ...rows].map((cells) =>
    cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" | "),
  );
  return `${lines.map((line) => `| ${line} |`).join("\n")}\n`;
}

export const count = (value: number): string => Math.round(value).toLocaleString("en-US");

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Whether a figure reaches its target, and by how much it misses it. */
export const atLeast = (value: number, target: number): string =>
  value >= target
    ? `≥ ${target.toLocaleString("en-US")}: met`
    : `≥ ${target.toLocaleString("en-US")}: missed by ${((1 - value / target) * 100).toFixed(0)} %`;

export const atMost = (value: number, target: number): string =>
  value <= target
    ? `≤ ${target}: met`
    : `≤ ${target}: missed by ${((value / target - 1) * 100).toFixed(0)} %`;
